//! The directory for what deputy remembers between runs, the trust list above all. Must never lie where a tool
//! can write.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::private::deputy_in;

/// The directory, made where it is missing; or why there is none. A relative path in a variable counts as none.
pub(crate) fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
    deputy_in("XDG_STATE_HOME", ".local/state", variable)
}

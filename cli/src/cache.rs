//! The directory for compiled components. Code is loaded from it, so it is used only where nobody else can
//! write to it; a workspace never holds it.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::private::deputy_in;

/// The directory, made where it is missing; or why there is none. A relative path in a variable counts as none.
pub(crate) fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
    deputy_in("XDG_CACHE_HOME", ".cache", variable)
}

//! The directory for compiled components. Code is loaded from it, so it is used only where nobody else can
//! write to it; a workspace never holds it.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::private::deputy_in;

/// The directory, made where it is missing; or why there is none. A relative path in a variable counts as none.
pub(crate) fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
    deputy_in("XDG_CACHE_HOME", ".cache", variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_name_the_place_in_order() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        let of = |xdg: Option<PathBuf>, home: Option<PathBuf>| {
            directory(|name| match name {
                "XDG_CACHE_HOME" => xdg.clone().map(Into::into),
                "HOME" => home.clone().map(Into::into),
                _ => None,
            })
        };
        assert_eq!(of(Some(at("xdg")), Some(at("home"))).unwrap(), at("xdg/deputy"));
        assert_eq!(of(None, Some(at("home"))).unwrap(), at("home/.cache/deputy"));
        assert_eq!(of(Some("relative".into()), Some(at("home"))).unwrap(), at("home/.cache/deputy"));
        assert!(of(Some("".into()), None).unwrap_err().contains("XDG_CACHE_HOME"));
    }
}

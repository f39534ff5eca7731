//! Directories outside every workspace that are ours alone: found by the variables, made where they are missing,
//! refused where somebody else can write to them. Must not know what is kept there.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// `deputy` in the directory that `base` names, else in `under_home`; made where it is missing. A relative path
/// in a variable counts as none.
pub(crate) fn deputy_in(
    base: &str,
    under_home: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, String> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let found = absolute(base).or_else(|| absolute("HOME").map(|home| home.join(under_home)));
    let found = found.ok_or_else(|| format!("neither {base} nor HOME names a directory by its full path"))?;
    private(&found.join("deputy"))
}

/// `path` as a directory that is ours alone.
fn private(path: &Path) -> Result<PathBuf, String> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| format!("cannot make {}: {error}", path.display()))?;
    let meta = fs::symlink_metadata(path).map_err(|error: io::Error| error.to_string())?;
    let us = rustix::process::geteuid().as_raw();
    if !meta.is_dir() {
        Err(format!("{} is not a directory", path.display()))
    } else if meta.uid() != us {
        Err(format!("{} belongs to another user", path.display()))
    } else if meta.mode() & 0o022 != 0 {
        Err(format!("{} can be written by others: make it 0700", path.display()))
    } else {
        Ok(path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn only_a_directory_of_our_own_is_taken() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        let made = private(&at("a/b/deputy")).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        assert!(private(&made).is_ok(), "it is taken again");
        symlink(&made, at("link")).unwrap();
        assert!(private(&at("link")).unwrap_err().contains("not a directory"));
        fs::set_permissions(&made, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(private(&made).unwrap_err().contains("written by others"));
        fs::write(at("file"), "").unwrap();
        assert!(private(&at("file")).is_err());
        symlink(at("nowhere"), at("dangling")).unwrap();
        assert!(private(&at("dangling")).is_err());
        assert!(!at("nowhere").exists(), "nothing is made through a link");
    }

    #[test]
    fn the_variables_name_the_place_in_order() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        for (variable, under_home) in [("XDG_CACHE_HOME", ".cache"), ("XDG_STATE_HOME", ".local/state")] {
            let of = |xdg: Option<PathBuf>, home: Option<PathBuf>| {
                deputy_in(variable, under_home, |name| match name {
                    "HOME" => home.clone().map(Into::into),
                    name => xdg.clone().filter(|_| name == variable).map(Into::into),
                })
            };
            let in_home = at("home").join(under_home).join("deputy");
            assert_eq!(of(Some(at("xdg")), Some(at("home"))).unwrap(), at("xdg/deputy"));
            assert_eq!(of(None, Some(at("home"))).unwrap(), in_home);
            assert_eq!(of(Some("relative".into()), Some(at("home"))).unwrap(), in_home);
            assert!(of(Some("".into()), None).unwrap_err().contains(variable));
        }
    }
}

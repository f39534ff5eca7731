//! The private directory of one call: made for it, removed with all that is in it.
//! Must not follow links out of it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A directory that only this user may enter.
pub(super) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Makes the directory; it must not be there yet.
    pub(super) fn make(path: PathBuf) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    /// Removes it.
    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path).or_else(|_| {
            // A command may have closed a directory to its own user.
            open_up(&self.path)?;
            fs::remove_dir_all(&self.path)
        })
    }
}

/// Gives the owner back the use of every directory below `path`.
fn open_up(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

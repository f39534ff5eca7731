//! The directory that a run may touch, held open. Whoever has a [`Workspace`] reaches what is in it and
//! nothing else. Must not open anything by an ambient path after it was made.

mod mode;

use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub use mode::{Left, ModeError, Opened, WorkspaceMode};

/// An open directory: the root of everything that tools of a run can name.
#[derive(Debug)]
pub struct Workspace {
    root: Dir,
    path: PathBuf,
}

/// Why a directory cannot be a workspace.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {} as a workspace: {source}; name an existing directory", path.display())]
pub struct WorkspaceError {
    /// The directory that was named.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl Workspace {
    /// Opens `path`, which may itself be reached through a link.
    ///
    /// # Errors
    /// [`WorkspaceError`] where it is not there or is no directory.
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let failed = |source| WorkspaceError { path: path.to_owned(), source };
        let canonical = path.canonicalize().map_err(failed)?;
        let root = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(failed)?;
        Ok(Self { root, path: canonical })
    }

    /// The open directory.
    #[must_use]
    pub fn root(&self) -> &Dir {
        &self.root
    }

    /// Where it was when it was opened: for messages, and as the working directory of commands.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True where nothing is in it, or nothing but our own state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root
            .entries()
            .is_ok_and(|entries| entries.filter_map(Result::ok).all(|entry| entry.file_name() == ".deputy"))
    }
}

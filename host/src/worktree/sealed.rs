//! A git directory of our own that borrows the repository's objects and nothing else. All that touches the content of
//! files goes through it: no configuration but ours is read, so no filter, driver or hook has a name to be run by.
//! Must not read the repository's configuration.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::GitCall;
use super::repository::Repository;

/// Such a git directory.
#[derive(Debug, Clone)]
pub(super) struct SealedGit {
    program: PathBuf,
    directory: PathBuf,
    /// The repository's objects.
    objects: PathBuf,
    /// The repository's own list of ignored names: data, never a program.
    excludes: PathBuf,
}

impl SealedGit {
    /// The one at `directory`, which may not be made yet, for `repository`.
    pub(super) fn at(directory: PathBuf, repository: &Repository) -> Self {
        Self {
            program: repository.program.clone(),
            directory,
            objects: repository.common_dir.join("objects"),
            excludes: repository.common_dir.join("info").join("exclude"),
        }
    }

    /// Makes it, with `commit` as its HEAD.
    pub(super) fn make(&self, commit: &str) -> Result<(), WorktreeError> {
        let failed = |path: &Path| WorktreeError::io("make", path);
        for part in ["", "objects", "refs"] {
            let path = self.directory.join(part);
            fs::create_dir(&path).map_err(failed(&path))?;
        }
        // A name of 64 digits is a SHA-256.
        let config = if commit.len() == 64 {
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
        } else {
            "[core]\n\trepositoryformatversion = 0\n"
        };
        for (name, text) in [("config", config), ("HEAD", &format!("{commit}\n"))] {
            let path = self.directory.join(name);
            fs::write(&path, text).map_err(failed(&path))?;
        }
        Ok(())
    }

    /// Its own index: the base commit, with the times that the checkout had.
    pub(super) fn index(&self) -> PathBuf {
        self.directory.join("index")
    }

    /// A call upon the files in `work_tree`, by the index of this directory.
    pub(super) fn call(&self, what: &'static str, work_tree: &Path) -> GitCall {
        GitCall::new(what, &self.program, work_tree)
            .variable("GIT_DIR", &self.directory)
            .variable("GIT_WORK_TREE", work_tree)
            .variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&self.objects))
            .setting("core.excludesFile", &self.excludes)
    }

    /// The same, by the index and with new objects in `scratch`: this directory stays as it is.
    pub(super) fn scratch_call(&self, what: &'static str, work_tree: &Path, scratch: &Path) -> GitCall {
        let mut borrowed = quoted(&self.objects);
        borrowed.push(":");
        borrowed.push(quoted(&self.directory.join("objects")));
        self.call(what, work_tree)
            .variable("GIT_INDEX_FILE", scratch.join("index"))
            .variable("GIT_OBJECT_DIRECTORY", scratch.join("objects"))
            .variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", borrowed)
    }
}

/// `path` as git reads one of a list: colons and line ends in it are no separators then.
fn quoted(path: &Path) -> OsString {
    let mut text = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\n' => text.extend(b"\\n"),
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}

//! What of a workspace belongs to the operator and is not written by tools: version control, configuration,
//! Deputy's own state. Must not open anything for writing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;

use super::super::ToolError;
use super::super::open::Identity;
use super::super::path::{WorkspacePath, openable};
use super::identity_of;

/// The names, whatever directory they are in. Compared without regard to case, since file systems may.
const NAMES: [&str; 3] = [".git", ".deputy", "deputy.toml"];
/// Most bytes of a `.git` file that are read to see where it points.
const POINTER_BYTES: usize = 4096;

/// The rule on what belongs to the operator.
pub(super) struct Protected;

impl Protected {
    /// Refuses a path that goes through a protected name.
    pub(super) fn check_words(path: &Path, asked: &WorkspacePath) -> Result<(), ToolError> {
        for part in path.components() {
            let part = part.as_os_str().to_string_lossy();
            if let Some(name) = NAMES.iter().find(|name| part.eq_ignore_ascii_case(name)) {
                return Err(refused(asked, name));
            }
        }
        Ok(())
    }

    /// Refuses a place that is protected under another name: a `.git` that is a link or a file that points
    /// elsewhere, or a spelling that the file system takes for the same. `stack` holds the directories that
    /// the file lies in, `file` is the file itself.
    pub(super) fn check_identity(
        root: &Dir,
        stack: &[(OsString, Dir)],
        file: Option<Identity>,
        asked: &WorkspacePath,
    ) -> Result<(), ToolError> {
        let mut held: Vec<Identity> = file.into_iter().collect();
        let mut path = PathBuf::new();
        let mut protected = Vec::new();
        collect(root, &path, &mut protected);
        for (name, _) in stack {
            path.push(name);
            held.extend(identity_of(root, &path));
            collect(root, &path, &mut protected);
        }
        match protected.iter().find(|(identity, _)| held.contains(identity)) {
            Some((_, name)) => Err(refused(asked, name)),
            None => Ok(()),
        }
    }
}

/// Adds what the protected names in the directory `path` stand for.
fn collect(root: &Dir, path: &Path, protected: &mut Vec<(Identity, &'static str)>) {
    for name in NAMES {
        let at = path.join(name);
        if let Some(identity) = identity_of(root, &at) {
            protected.push((identity, name));
            if name == ".git"
                && let Some(target) = pointer(root, path, &at)
                && let Some(identity) = identity_of(root, &target)
            {
                protected.push((identity, name));
            }
        }
    }
}

/// Where a `.git` file says that the repository is.
fn pointer(root: &Dir, directory: &Path, at: &Path) -> Option<PathBuf> {
    let metadata = root.metadata(openable(at)).ok()?;
    if !metadata.is_file() || metadata.len() > POINTER_BYTES as u64 {
        return None;
    }
    let text = root.read_to_string(at).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    Some(directory.join(target))
}

fn refused(asked: &WorkspacePath, name: &str) -> ToolError {
    ToolError::Failed(format!(
        "`{}` belongs to the operator: `{name}` and what is in it are not written by tools; ask the operator to change it",
        asked.shown()
    ))
}

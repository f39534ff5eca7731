//! Finds the git program. Must not run it.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::error::WorktreeError;

/// The first `git` in `search_path` (as `PATH` is written) that is a program, in an absolute directory, and not
/// under `workspace`: what the repository brings is never run.
pub(super) fn find_git(search_path: &OsStr, workspace: &Path) -> Result<PathBuf, WorktreeError> {
    std::env::split_paths(search_path)
        .filter(|directory| directory.is_absolute())
        .filter_map(|directory| directory.canonicalize().ok())
        .filter(|directory| !directory.starts_with(workspace))
        .map(|directory| directory.join("git"))
        .find(|program| is_program(program, workspace))
        .ok_or(WorktreeError::GitMissing)
}

fn is_program(program: &Path, workspace: &Path) -> bool {
    let inside = program.canonicalize().is_ok_and(|target| target.starts_with(workspace));
    let runs = program.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    runs && !inside
}

//! The ends of a worktree: handed back by its subagent, or discarded by a person. The only place that deletes. Must
//! not delete work unless that was asked for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Worktrees;
use super::create::Worktree;
use super::diff::Diff;
use super::error::WorktreeError;
use super::store::Entry;

/// What became of a worktree when its subagent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finished {
    /// Nothing was done in it: it and its branch are gone.
    Removed,
    /// There is work in it: it stays until it is discarded.
    Kept {
        /// Names it in all other calls.
        id: String,
        /// The root of its files.
        path: PathBuf,
        /// Its branch.
        branch: String,
        /// The commit that it began with.
        base_commit: String,
        /// What was done.
        diff: Diff,
    },
}

impl Worktrees {
    /// Ends the use of `worktree`. An untouched one is removed. One with work in it is kept, and comes back with a diff
    /// of at most `cap_bytes` bytes. Work is any change, any commit, and any new file, also one that git ignores.
    /// Nothing may write to it any more.
    ///
    /// # Errors
    /// [`WorktreeError::Unread`], with its path and branch, where that cannot be told; it is kept then.
    pub async fn finish(&self, worktree: Worktree, cap_bytes: usize) -> Result<Finished, WorktreeError> {
        let ended = async {
            let entry = self.store.entry(&worktree.id)?;
            let diff = self.look_at(&entry, Some(cap_bytes)).await?;
            if diff.is_empty() {
                let _lock = self.lock().await?;
                self.remove(&entry, Some(&worktree.base_commit)).await?;
                return Ok(None);
            }
            Ok(Some(diff))
        };
        let ended: Result<Option<Diff>, WorktreeError> = ended.await;
        let Worktree { id, path, branch, base_commit, .. } = worktree;
        match ended {
            Ok(None) => Ok(Finished::Removed),
            Ok(Some(diff)) => Ok(Finished::Kept { id, path, branch, base_commit, diff }),
            Err(source) => Err(WorktreeError::Unread { path, branch, source: Box::new(source) }),
        }
    }

    /// Removes worktree `id` and its branch, with all work in it.
    ///
    /// # Errors
    /// [`WorktreeError::InUse`] where a living host works in it; [`WorktreeError::Unknown`]; or where a part cannot be
    /// removed: it is broken then, and can be discarded again.
    pub async fn discard(&self, id: &str) -> Result<(), WorktreeError> {
        let _lock = self.lock().await?;
        let entry = self.store.entry(id)?;
        let _in_use = entry.use_it()?.ok_or_else(|| WorktreeError::InUse { id: id.to_owned() })?;
        self.remove(&entry, None).await
    }

    /// Removes all of `entry`; its branch only where that is at `commit`, if one is given. The caller holds both locks.
    pub(super) async fn remove(&self, entry: &Entry, commit: Option<&str>) -> Result<(), WorktreeError> {
        entry.unmake()?;
        remove_all(&entry.path).await?;
        remove_all(&self.repository.admin_dir(&entry.id)).await?;
        self.repository.delete_branch(&entry.branch(), commit).await?;
        remove_all(&entry.state).await
    }
}

/// Removes what is at `path`, if anything is. A link is removed, and not what it leads to.
async fn remove_all(path: &Path) -> Result<(), WorktreeError> {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => tokio::fs::remove_dir_all(path).await,
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(WorktreeError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

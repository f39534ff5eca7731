//! Which worktrees there are and in what state, and the sweep of those that were never handed out. Must not delete
//! one that holds anything but parts of its base commit.

use std::path::PathBuf;

use serde::Serialize;

use super::Worktrees;
use super::diff::ChangeKind;
use super::error::WorktreeError;
use super::snapshot::Snapshot;
use super::store::Entry;

/// One worktree, as it is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorktreeState {
    /// Names it in all other calls.
    pub id: String,
    /// The root of its files.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The commit that it began with; `None` where that was never written down.
    pub base_commit: Option<String>,
    /// How many files differ; 0 where they cannot be compared.
    pub changed_files: usize,
    /// What state it is in.
    pub state: Condition,
}

/// What state a worktree is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// Nobody uses it, and nothing was done in it.
    Clean,
    /// Nobody uses it, and there is work in it.
    HasWork,
    /// Its making or its removal never ended, a part of it is gone, or it cannot be compared.
    Broken,
    /// A living host works in it.
    InUse,
}

impl Worktrees {
    /// All worktrees of the workspace, sorted by id. Nothing is changed.
    ///
    /// # Errors
    /// Where the list itself cannot be read; one that cannot be read is listed as broken.
    pub async fn list(&self) -> Result<Vec<WorktreeState>, WorktreeError> {
        let mut found = Vec::new();
        {
            let _lock = self.lock().await?;
            for entry in self.store.entries()? {
                let free = entry.use_it()?.is_some();
                found.push((entry, free));
            }
        }
        let mut states = Vec::new();
        for (entry, free) in found {
            states.push(self.state_of(entry, free).await);
        }
        Ok(states)
    }

    async fn state_of(&self, entry: Entry, free: bool) -> WorktreeState {
        let seen = self.look_at(&entry, None).await;
        let changed_files = seen.as_ref().map_or(0, |diff| diff.files.len());
        let state = match seen {
            _ if !free => Condition::InUse,
            Ok(diff) if diff.is_empty() => Condition::Clean,
            Ok(_) => Condition::HasWork,
            Err(_) => Condition::Broken,
        };
        let (branch, base_commit) = (entry.branch(), entry.base());
        WorktreeState { id: entry.id, path: entry.path, branch, base_commit, changed_files, state }
    }

    /// Removes worktrees whose making or removal never ended, whose host is dead, and that hold nothing but unchanged
    /// files of their base commit. The caller holds the lock.
    pub(super) async fn sweep(&self) -> Result<(), WorktreeError> {
        for entry in self.store.entries()? {
            if entry.ready().is_some() {
                continue;
            }
            let Some(_in_use) = entry.use_it()? else { continue };
            if self.is_certainly_empty(&entry).await {
                // It stays listed as broken where this fails.
                let _ = self.remove(&entry, entry.base().as_deref()).await;
            }
        }
        Ok(())
    }

    async fn is_certainly_empty(&self, entry: &Entry) -> bool {
        let Some(base) = entry.base() else { return !exists(&entry.path) };
        if exists(&entry.path) {
            let only_lacks_files = async {
                let files = Snapshot::take(self.sealed(entry), entry).await?.files().await?;
                Ok::<_, WorktreeError>(files.iter().all(|file| file.kind == ChangeKind::Deleted))
            };
            if !only_lacks_files.await.unwrap_or(false) {
                return false;
            }
        }
        let has_head = exists(&self.repository.admin_dir(&entry.id).join("HEAD"));
        let moved = self.repository.has_moved(&entry.id, &entry.branch(), &base).await;
        !has_head || matches!(moved, Ok(false))
    }
}

fn exists(path: &std::path::Path) -> bool {
    path.symlink_metadata().is_ok()
}

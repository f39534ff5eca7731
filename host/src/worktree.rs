//! Worktrees: a copy of the repository for each subagent that writes, and its changes as a diff. The repository and
//! what a subagent leaves behind are not trusted: nothing that they name is ever run, and git never looks for a
//! repository from within a worktree. Must not know subagents, sessions or the sandbox.
//!
//! `create` hands out a worktree, `finish` takes it back. What is kept then is for a person: `list`, `diff`, `apply`,
//! `discard`. Worktrees lie in `.deputy/worktrees` of the workspace.

mod apply;
mod create;
mod diff;
mod error;
mod git;
mod list;
mod lock;
mod parse;
mod program;
mod removal;
mod repository;
mod sealed;
mod settings;
mod snapshot;
mod store;

#[cfg(test)]
mod tests;

use std::path::Path;

pub use apply::Applied;
pub use create::Worktree;
pub use diff::{ChangeKind, ChangedFile, Diff};
pub use error::WorktreeError;
pub use list::{Condition, WorktreeState};
pub use removal::Finished;

use lock::Held;
use repository::Repository;
use sealed::SealedGit;
use snapshot::Snapshot;
use store::{Entry, Store};

/// The worktrees of one workspace. Cheap to clone; any number of tasks and processes may work with the same workspace.
#[derive(Debug, Clone)]
pub struct Worktrees {
    repository: Repository,
    store: Store,
}

impl Worktrees {
    /// Those of `workspace`, a directory in a git repository. Nothing is made yet.
    ///
    /// # Errors
    /// [`WorktreeError::NotARepository`] and [`WorktreeError::Bare`] where it is in none with a working tree;
    /// [`WorktreeError::Refused`] where git doubts the repository, or its configuration claims another directory;
    /// [`WorktreeError::GitMissing`] where there is no git.
    pub async fn open(workspace: &Path) -> Result<Self, WorktreeError> {
        let repository = Repository::find(workspace).await?;
        let store = Store::of(&repository.workspace);
        Ok(Self { repository, store })
    }

    /// What was changed in worktree `id`, with a text of at most `cap_bytes` bytes; it may be in use. Nothing is changed.
    ///
    /// # Errors
    /// [`WorktreeError::Unknown`]; [`WorktreeError::Broken`] where it is not whole; [`WorktreeError::Git`] where it
    /// cannot be compared.
    pub async fn diff(&self, id: &str, cap_bytes: usize) -> Result<Diff, WorktreeError> {
        self.look_at(&self.store.entry(id)?, Some(cap_bytes)).await
    }

    /// What was changed in `entry`, with a text where a cap for it is given.
    async fn look_at(&self, entry: &Entry, cap_bytes: Option<usize>) -> Result<Diff, WorktreeError> {
        let base = self.check_whole(entry)?;
        let snapshot = Snapshot::take(self.sealed(entry), entry).await?;
        let files = snapshot.files().await?;
        let (text, cut) = match cap_bytes {
            Some(cap) => snapshot.text(cap).await?,
            None => (String::new(), false),
        };
        let committed = self.repository.has_moved(&entry.id, &entry.branch(), &base).await?;
        Ok(Diff { text, cut, files, committed })
    }

    /// That all parts of `entry` are there; gives the commit that it began with.
    fn check_whole(&self, entry: &Entry) -> Result<String, WorktreeError> {
        let broken =
            |reason| WorktreeError::Broken { id: entry.id.clone(), path: entry.path.clone(), reason };
        entry.ready().ok_or_else(|| broken("its making or its removal never ended"))?;
        if !entry.has_checkout() {
            return Err(broken("its directory is gone"));
        }
        if !self.repository.admin_dir(&entry.id).is_dir() {
            return Err(broken("git has forgotten it"));
        }
        entry.base().ok_or_else(|| broken("its base commit was never written down"))
    }

    fn sealed(&self, entry: &Entry) -> SealedGit {
        SealedGit::at(entry.state.join("git"), &self.repository)
    }

    /// Keeps all other hosts from changing the list of worktrees of this repository, until it is dropped.
    async fn lock(&self) -> Result<Held, WorktreeError> {
        let file = self.repository.lock_file()?;
        lock::lock(file, &self.repository.common_dir, "change the list of worktrees").await
    }
}

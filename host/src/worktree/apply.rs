//! Brings the changes of a worktree into the workspace: all of them or none. Must not merge, stage or commit.

use serde::Serialize;

use super::Worktrees;
use super::diff::ChangedFile;
use super::error::WorktreeError;
use super::parse::in_the_way;
use super::snapshot::Snapshot;

/// What was brought into the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// The files that were written or removed.
    pub files: Vec<ChangedFile>,
    /// Those that stay in the worktree only: what git ignores, and embedded repositories.
    pub left_out: Vec<ChangedFile>,
}

impl Worktrees {
    /// Applies the changes of worktree `id` to the files of the workspace's repository. The index, `HEAD` and the
    /// worktree stay as they are. No link is followed out of the repository, nor within it.
    ///
    /// # Errors
    /// [`WorktreeError::Conflict`] where a file does not fit; the workspace is as it was then.
    /// [`WorktreeError::InUse`], [`WorktreeError::Unknown`] and [`WorktreeError::Broken`] as for the others.
    pub async fn apply(&self, id: &str) -> Result<Applied, WorktreeError> {
        let _lock = self.lock().await?;
        let entry = self.store.entry(id)?;
        let _in_use = entry.use_it()?.ok_or_else(|| WorktreeError::InUse { id: id.to_owned() })?;
        self.check_whole(&entry)?;
        let snapshot = Snapshot::take(self.sealed(&entry), &entry).await?;
        let (files, left_out): (Vec<_>, Vec<_>) =
            snapshot.files().await?.into_iter().partition(ChangedFile::is_in_diff);
        if !files.is_empty() {
            let patch = snapshot.patch().await?;
            let call = |what| {
                let call = self.sealed(&entry).call(what, &self.repository.top);
                call.arguments(&["apply", "--whitespace=nowarn"])
            };
            let check =
                call("check the patch").argument("--check").argument("--").argument(&patch).run().await?;
            if check.status != Some(0) {
                return Err(WorktreeError::Conflict {
                    files: in_the_way(&check.stderr),
                    detail: check.stderr,
                });
            }
            call("apply the patch").argument("--").argument(&patch).succeed().await?;
        }
        Ok(Applied { files, left_out })
    }
}

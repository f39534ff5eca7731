//! Makes a worktree. One that is not whole is removed again, or told apart by the mark that is written last. Must not
//! fall back to the main workspace.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::Worktrees;
use super::error::WorktreeError;
use super::lock::Held;
use super::parse::parts;
use super::sealed::SealedGit;
use super::snapshot::Scratch;
use super::store::Entry;

/// A worktree that this process works in. Others see it as in use until this is dropped or the process ends; dropping
/// it deletes nothing.
#[derive(Debug, Serialize)]
pub struct Worktree {
    /// Names it in all other calls.
    pub id: String,
    /// The root of its files.
    pub path: PathBuf,
    /// The branch that is checked out in it.
    pub branch: String,
    /// The commit that it began with: the one checked out in the workspace.
    pub base_commit: String,
    /// What corresponds to the workspace: `path`, or the same directory below it.
    pub working_directory: PathBuf,
    /// What the parent should know, if anything: changes of the workspace that are not committed are not in it.
    pub note: Option<String>,
    #[serde(skip)]
    _in_use: Held,
}

impl Worktrees {
    /// Makes a worktree of the commit that is checked out in the workspace, with a branch of its own, and marks it as in
    /// use. `name` becomes part of its id. Changes that are not committed are not in it; its `note` tells of them.
    /// Submodules are left empty, and files that a filter would write (as git-lfs does) are left as they are stored.
    ///
    /// # Errors
    /// [`WorktreeError::NoCommit`] where there is nothing to start from; any other where it cannot be made. Nothing is
    /// left of it then.
    pub async fn create(&self, name: &str) -> Result<Worktree, WorktreeError> {
        let base_commit = self.repository.head().await?;
        self.store.make()?;
        let (entry, in_use) = {
            let _lock = self.lock().await?;
            self.sweep().await?;
            let entry = self.store.claim(name)?;
            match self.register(&entry, &base_commit).await {
                Ok(in_use) => (entry, in_use),
                Err(error) => return Err(self.undo(&entry, error).await),
            }
        };
        let made = async {
            let working_directory = self.check_out(&entry, &base_commit).await?;
            let note = self.note(&self.sealed(&entry), &entry).await;
            Ok((working_directory, note))
        };
        let (working_directory, note) = match made.await {
            Ok(made) => made,
            Err(error) => {
                let _lock = self.lock().await?;
                return Err(self.undo(&entry, error).await);
            }
        };
        let branch = entry.branch();
        let Entry { id, path, .. } = entry;
        Ok(Worktree { id, path, branch, base_commit, working_directory, note, _in_use: in_use })
    }

    /// All that must happen while no other host changes the list of worktrees.
    async fn register(&self, entry: &Entry, commit: &str) -> Result<Held, WorktreeError> {
        let in_use = entry.use_it()?.ok_or_else(|| WorktreeError::InUse { id: entry.id.clone() })?;
        entry.write_base(commit)?;
        self.sealed(entry).make(commit)?;
        self.repository.add_worktree(&entry.path, &entry.branch(), commit).await?;
        Ok(in_use)
    }

    /// Writes the files, and then the mark that all is there.
    async fn check_out(&self, entry: &Entry, commit: &str) -> Result<PathBuf, WorktreeError> {
        let sealed = self.sealed(entry);
        sealed
            .call("check out the commit", &entry.path)
            .arguments(&["read-tree", "-m", "-u", commit])
            .succeed()
            .await?;
        let admin_index = self.repository.admin_dir(&entry.id).join("index");
        fs::copy(sealed.index(), &admin_index).map_err(WorktreeError::io("write", &admin_index))?;
        let working_directory = self.working_directory(entry)?;
        let tree = drop_submodules(&sealed, entry).await?;
        entry.write_ready(&tree)?;
        Ok(working_directory)
    }

    /// What corresponds to the workspace, made where the commit has no such directory.
    fn working_directory(&self, entry: &Entry) -> Result<PathBuf, WorktreeError> {
        let directory = entry.path.join(self.repository.prefix());
        fs::create_dir_all(&directory).map_err(WorktreeError::io("make", &directory))?;
        let real = directory.canonicalize().map_err(WorktreeError::io("open", &directory))?;
        if real == directory { Ok(real) } else { Err(WorktreeError::NotADirectory { path: directory }) }
    }

    /// Tells of changes that are in the workspace only.
    async fn note(&self, sealed: &SealedGit, entry: &Entry) -> Option<String> {
        let count = async {
            let scratch = Scratch::new(&entry.state)?;
            scratch.copy_index(&self.repository.git_dir.join("index"))?;
            let call = sealed.scratch_call("compare the workspace", &self.repository.top, scratch.path());
            let listed = call
                .arguments(&["status", "--porcelain=v1", "-z", "--no-renames"])
                .arguments(&["--untracked-files=all", "--ignore-submodules=all"])
                .succeed()
                .await?;
            Ok::<_, WorktreeError>(parts(&listed).count())
        };
        match count.await {
            Ok(0) => None,
            Ok(count) => {
                Some(format!("{count} uncommitted changes of the workspace are not in this worktree"))
            }
            Err(error) => Some(format!(
                "uncommitted changes of the workspace, if any, are not in this worktree; they could not be counted: {error}"
            )),
        }
    }

    /// Removes what was made of `entry`, in which nobody can have worked yet, and gives back why.
    async fn undo(&self, entry: &Entry, why: WorktreeError) -> WorktreeError {
        // Where this fails too it is seen as broken from now on.
        let _ = self.remove(entry, entry.base().as_deref()).await;
        why
    }
}

/// Takes submodules out of the index that is compared with, and gives the tree of what remains. Git would start a
/// process in a directory that it holds for a submodule.
async fn drop_submodules(sealed: &SealedGit, entry: &Entry) -> Result<String, WorktreeError> {
    let call = |what| sealed.call(what, &entry.path);
    let listed = call("list submodules").arguments(&["ls-files", "--stage", "-z"]).capped_at(usize::MAX);
    let mut paths = Vec::new();
    for record in parts(&listed.succeed().await?).filter(|record| record.starts_with(b"160000 ")) {
        let mut columns = record.splitn(2, |byte| *byte == b'\t');
        paths.extend(columns.nth(1).unwrap_or_default());
        paths.push(0);
    }
    if !paths.is_empty() {
        let scratch = Scratch::new(&entry.state)?;
        let call =
            call("leave out submodules").arguments(&["update-index", "--force-remove", "-z", "--stdin"]);
        call.input(scratch.file_of(&paths)?).succeed().await?;
    }
    let tree = call("write the tree").argument("write-tree").succeed().await?;
    Ok(String::from_utf8_lossy(&tree).trim().to_owned())
}

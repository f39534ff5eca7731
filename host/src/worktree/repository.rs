//! The repository that a workspace is in, and the few git calls that must read its configuration: to find it, and to
//! add worktrees and remove branches. Must not look at the content of files: that is `sealed`'s.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::git::GitCall;
use super::program::find_git;
use super::settings::disarmed;

/// Most settings of a repository's own that are looked through.
const SETTINGS_CAP: usize = 4096;

/// A repository with a working tree that a workspace is in.
#[derive(Debug, Clone)]
pub(super) struct Repository {
    /// The git program.
    pub(super) program: PathBuf,
    /// The workspace, canonical.
    pub(super) workspace: PathBuf,
    /// The root of the working tree that the workspace is in.
    pub(super) top: PathBuf,
    /// The git directory of that working tree.
    pub(super) git_dir: PathBuf,
    /// The git directory that all working trees of the repository share.
    pub(super) common_dir: PathBuf,
}

impl Repository {
    /// Finds the repository that `workspace` is in, as git does, and checks that it is one we can use.
    pub(super) async fn find(workspace: &Path) -> Result<Self, WorktreeError> {
        let workspace = workspace.canonicalize().map_err(WorktreeError::io("open", workspace))?;
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        let program = find_git(&search_path, &workspace)?;
        let ask = |question: &str| {
            GitCall::new("find the repository", &program, &workspace)
                // Git doubts a repository of another owner. The workspace is named by the operator; one found above
                // it is not.
                .setting("safe.directory", &workspace)
                .arguments(&["rev-parse", "--path-format=absolute", question])
                .run()
        };
        let bare = ask("--is-bare-repository").await?;
        match (bare.status, bare.stdout.as_slice()) {
            (Some(0), b"true\n") => return Err(WorktreeError::Bare { workspace }),
            (Some(0), _) => {}
            _ if bare.stderr.contains("not a git repository") => {
                return Err(WorktreeError::NotARepository { workspace });
            }
            _ => return Err(WorktreeError::Refused { workspace, reason: bare.stderr }),
        }
        let top = ask("--show-toplevel").await?;
        if top.status != Some(0) {
            return Err(WorktreeError::NotARepository { workspace });
        }
        let top = one_path(top.stdout);
        check_top(&workspace, &top)?;
        let git_dir = one_path(ask("--git-dir").await?.stdout);
        let common_dir = one_path(ask("--git-common-dir").await?.stdout);
        let links = common_dir.join("worktrees");
        if links.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
            return Err(WorktreeError::NotADirectory { path: links });
        }
        Ok(Self { program, workspace, top, git_dir, common_dir })
    }

    /// The workspace, seen from the root of the working tree; empty where it is the root.
    pub(super) fn prefix(&self) -> &Path {
        self.workspace.strip_prefix(&self.top).unwrap_or(Path::new(""))
    }

    /// The commit that is checked out.
    pub(super) async fn head(&self) -> Result<String, WorktreeError> {
        let call = self.call("read HEAD", &self.git_dir).await?;
        let output =
            call.arguments(&["rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"]).run().await?;
        if output.status != Some(0) {
            return Err(WorktreeError::NoCommit { repository: self.top.clone() });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Adds a worktree with nothing checked out at `path`, whose last part is its name, and a new `branch` at `commit`.
    pub(super) async fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        commit: &str,
    ) -> Result<(), WorktreeError> {
        let call = self.call("add a worktree", &self.git_dir).await?;
        call.arguments(&["worktree", "add", "--no-checkout", "--no-track", "-b", branch, "--"])
            .argument(path)
            .argument(commit)
            .succeed()
            .await?;
        Ok(())
    }

    /// Deletes `branch`, only where it is at `commit` if one is given. It is no error where there is none.
    pub(super) async fn delete_branch(
        &self,
        branch: &str,
        commit: Option<&str>,
    ) -> Result<(), WorktreeError> {
        let name = format!("refs/heads/{branch}");
        let call = self.call("look for a branch", &self.git_dir).await?;
        if call.arguments(&["rev-parse", "--verify", "--quiet", &name]).run().await?.status != Some(0) {
            return Ok(());
        }
        let call = self.call("delete a branch", &self.git_dir).await?.arguments(&["update-ref", "-d", &name]);
        commit.into_iter().fold(call, GitCall::argument).succeed().await?;
        Ok(())
    }

    /// True where the worktree called `id`, or its branch, is no longer at `commit`.
    pub(super) async fn has_moved(
        &self,
        id: &str,
        branch: &str,
        commit: &str,
    ) -> Result<bool, WorktreeError> {
        let call = self.call("read the worktree's HEAD", &self.admin_dir(id)).await?;
        let tips = call.arguments(&["rev-parse", "HEAD", &format!("refs/heads/{branch}")]).succeed().await?;
        Ok(String::from_utf8_lossy(&tips).lines().any(|tip| tip != commit))
    }

    /// Where git keeps what it knows of the worktree called `id`.
    pub(super) fn admin_dir(&self, id: &str) -> PathBuf {
        self.common_dir.join("worktrees").join(id)
    }

    /// The directory that all hosts lock while they change the list of worktrees. Git has no lock of this kind on it.
    pub(super) fn lock_file(&self) -> Result<File, WorktreeError> {
        File::open(&self.common_dir).map_err(WorktreeError::io("open", &self.common_dir))
    }

    /// A call that reads the repository's configuration, all that could start a program in it disarmed.
    async fn call(&self, what: &'static str, git_dir: &Path) -> Result<GitCall, WorktreeError> {
        let listing = self.bare_call("list the repository's settings", git_dir);
        let listed = listing.arguments(&["config", "--list", "--name-only", "-z"]).succeed().await?;
        let mut call = self.bare_call(what, git_dir);
        let mut left = SETTINGS_CAP;
        for key in listed.split(|byte| *byte == 0) {
            left = left.checked_sub(1).ok_or_else(|| WorktreeError::Refused {
                workspace: self.workspace.clone(),
                reason: format!("expected at most {SETTINGS_CAP} settings in its configuration, found more"),
            })?;
            for (key, value) in disarmed(&String::from_utf8_lossy(key)) {
                call = call.setting(key, value);
            }
        }
        Ok(call)
    }

    fn bare_call(&self, what: &'static str, git_dir: &Path) -> GitCall {
        let named = |name: &str, path: &Path| {
            let mut argument = OsString::from(name);
            argument.push(path);
            argument
        };
        GitCall::new(what, &self.program, &self.top)
            .argument(named("--git-dir=", git_dir))
            .argument(named("--work-tree=", &self.top))
    }
}

/// That `top` is where a person would look for it: a repository's configuration can claim any directory.
fn check_top(workspace: &Path, top: &Path) -> Result<(), WorktreeError> {
    let nearest = workspace.ancestors().find(|directory| directory.join(".git").symlink_metadata().is_ok());
    if nearest == Some(top) && !top.as_os_str().as_bytes().contains(&b'\n') {
        return Ok(());
    }
    Err(WorktreeError::Refused {
        workspace: workspace.to_owned(),
        reason: format!(
            "expected its working tree to be the directory that holds `.git`, found {}; unset `core.worktree`",
            top.display()
        ),
    })
}

/// The path that git printed on a line of its own.
fn one_path(mut stdout: Vec<u8>) -> PathBuf {
    if stdout.last() == Some(&b'\n') {
        stdout.pop();
    }
    PathBuf::from(OsString::from_vec(stdout))
}

//! What can go wrong with a worktree, each in words a person can act upon. Must not decide anything.

use std::io;
use std::path::PathBuf;

/// Why a worktree could not be made, read, applied or removed. Nothing was deleted where one is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// The workspace is in no git repository.
    #[error(
        "expected {} to be in a git repository, found none; run `git init` and commit there, or use an agent that needs no worktree",
        workspace.display()
    )]
    NotARepository {
        /// The workspace that was opened.
        workspace: PathBuf,
    },
    /// The repository has no working tree.
    #[error("expected {} to be in a repository with a working tree, found a bare one; use a clone of it", workspace.display())]
    Bare {
        /// The workspace that was opened.
        workspace: PathBuf,
    },
    /// The repository is laid out in a way that cannot be trusted.
    #[error("cannot use the repository of {}: {reason}", workspace.display())]
    Refused {
        /// The workspace that was opened.
        workspace: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// There is no commit to start from.
    #[error("expected a commit checked out in {}, found none; make a first commit", repository.display())]
    NoCommit {
        /// The root of the repository's working tree.
        repository: PathBuf,
    },
    /// No `git` on `PATH`.
    #[error(
        "expected a `git` program in an absolute directory of PATH, outside the workspace, found none; install git"
    )]
    GitMissing,
    /// Git ended with an error.
    #[error("git failed to {what} ({}): {stderr}", status.map_or("killed".to_owned(), |code| format!("status {code}")))]
    Git {
        /// What it was asked for.
        what: &'static str,
        /// Its exit status; `None` where a signal ended it.
        status: Option<i32>,
        /// What it said, bounded.
        stderr: String,
    },
    /// Git said more than can be taken in.
    #[error(
        "git said more than {cap} bytes when asked to {what}; there are too many files for a worktree of this kind"
    )]
    TooMuch {
        /// What it was asked for.
        what: &'static str,
        /// The cap that was passed.
        cap: usize,
    },
    /// Git, or a wait for another host, took too long.
    #[error("gave up after {seconds} s waiting to {what}; is the disk slow, or another host stuck?")]
    TimedOut {
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: u64,
    },
    /// A directory that must be ours is a link or a file.
    #[error("expected {} to be a directory and no link; remove what is there", path.display())]
    NotADirectory {
        /// What is in the way.
        path: PathBuf,
    },
    /// No worktree of that id.
    #[error("expected the id of a worktree, came `{id}`; `deputy worktrees list` names them")]
    Unknown {
        /// The id that came.
        id: String,
    },
    /// A running subagent works in it.
    #[error("worktree `{id}` is in use by a running subagent; wait for its end or stop it")]
    InUse {
        /// Its id.
        id: String,
    },
    /// It was never finished, or parts of it are gone.
    #[error("worktree `{id}` is broken ({reason}); look at {}, then discard it", path.display())]
    Broken {
        /// Its id.
        id: String,
        /// Where its files are, if any.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Its changes do not fit the workspace. The workspace is as it was.
    #[error("the changes do not fit the workspace, nothing was applied; in the way: {}: {detail}", files.join(", "))]
    Conflict {
        /// The files that do not fit, as git names them.
        files: Vec<String>,
        /// What git said, bounded.
        detail: String,
    },
    /// The work of a finished subagent is kept, and could not be read.
    #[error("the worktree at {} (branch {branch}) is kept, and its changes could not be read: {source}", path.display())]
    Unread {
        /// Where the work is.
        path: PathBuf,
        /// Its branch.
        branch: String,
        /// Why it could not be read or removed.
        source: Box<WorktreeError>,
    },
    /// The system refused.
    #[error("failed to {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl WorktreeError {
    /// A closure that names what was tried on `path` when the system refuses it.
    pub(super) fn io(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

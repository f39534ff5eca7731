//! What a subagent changed, as it is handed on. Must not find it out.

use serde::Serialize;

/// The changes in a worktree against the commit that it began with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The changes as a unified diff, up to the cap, ended at a line. Binary files are named in it, not dumped; bytes
    /// that are no UTF-8 are replaced.
    pub text: String,
    /// True where `text` was cut at the cap. `files` is whole nevertheless.
    pub cut: bool,
    /// Every file that differs, what git ignores and embedded repositories last.
    pub files: Vec<ChangedFile>,
    /// True where commits were made: the branch or `HEAD` is no longer at the base commit.
    pub committed: bool,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// Its path, seen from the root of the worktree; ends with `/` for a directory. Bytes that are no UTF-8 are
    /// replaced.
    pub path: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// True where git takes its content for binary.
    pub binary: bool,
    /// Lines added; 0 for a binary file.
    pub added: u64,
    /// Lines removed; 0 for a binary file.
    pub removed: u64,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name, and perhaps another content.
    Renamed {
        /// Its name before.
        from: String,
    },
    /// It became a link, or was one.
    TypeChanged,
    /// It is new and git ignores it: work that is kept, and that is in no diff.
    Ignored,
    /// A repository in the worktree: work that is kept, and that is in no diff.
    EmbeddedRepository,
}

impl Diff {
    /// True where nothing at all was done: no change, no new file, not even an ignored one, no commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.committed
    }
}

impl ChangedFile {
    /// One that is named and not compared.
    pub(super) fn named(path: String, kind: ChangeKind) -> Self {
        Self { path, kind, binary: false, added: 0, removed: 0 }
    }

    /// True where the diff says what changed in it.
    #[must_use]
    pub fn is_in_diff(&self) -> bool {
        !matches!(self.kind, ChangeKind::Ignored | ChangeKind::EmbeddedRepository)
    }
}

//! The states of a task and the words they are stored as. Must not decide who may change them.

use std::fmt;

use serde::Serialize;

/// Where a task is in its life.
///
/// ```text
/// pending ─▶ running ─▶ completed | failed | cancelled
///    │  ▲        │
///    │  └────────┘ only by a sweep, and only when declared safe to run again
///    └─▶ cancelled | failed | lost
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Acknowledged, and waits for a place to run.
    Pending,
    /// An owner with a lease is at work on it.
    Running,
    /// Ended with a result.
    Completed,
    /// Ended without a result: it failed, or its process died while it ran.
    Failed,
    /// Stopped by request. Stays so whatever comes later.
    Cancelled,
    /// Never begun in its (last) attempt: the host that held it died first, or nobody took
    /// it up. No work is half done, which is what sets it apart from [`TaskStatus::Failed`].
    Lost,
}

impl TaskStatus {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Running, Self::Completed, Self::Failed, Self::Cancelled, Self::Lost];

    /// Whether nothing can change any more.
    #[must_use]
    pub fn is_ended(self) -> bool {
        match self {
            Self::Pending | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled | Self::Lost => true,
        }
    }

    /// The word for it, as stored and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }

    /// The state a word stands for.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

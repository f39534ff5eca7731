//! What a run is asked to do, for whom, and in which conversation. Must not start it.

use crate::ids::{SessionId, UserId};

/// One task for a host. A plain text is a task of its own for the local user.
#[derive(Clone, Debug)]
pub struct RunRequest {
    pub(super) task: String,
    pub(super) user: UserId,
    pub(super) resume: Option<Continue>,
}

/// Which conversation a run goes on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continue {
    /// The user's newest one of a parent agent; never a subagent's.
    Newest,
    /// This one.
    Session(SessionId),
}

impl RunRequest {
    /// A task of its own for the local user.
    pub fn new(task: impl Into<String>) -> Self {
        Self { task: task.into(), user: UserId::default(), resume: None }
    }

    /// Whom the run works for: subagents that reuse their conversation have one for each user.
    #[must_use]
    pub fn user(mut self, user: impl Into<UserId>) -> Self {
        self.user = user.into();
        self
    }

    /// Goes on with an earlier conversation; needs a store of them.
    #[must_use]
    pub fn resume(mut self, conversation: Continue) -> Self {
        self.resume = Some(conversation);
        self
    }
}

impl<T: Into<String>> From<T> for RunRequest {
    fn from(task: T) -> Self {
        Self::new(task)
    }
}

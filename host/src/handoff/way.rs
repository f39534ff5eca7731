//! In which conversation a delegation speaks and who can stop it: as its subagent declares, or as a task that was
//! spawned. Must not run it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::ids::SessionId;
use crate::run::RunScope;
use crate::session::SessionKey;
use crate::task::TaskHandle;

/// How a delegation goes on beside what its subagent declares.
#[derive(Debug)]
pub(super) struct Way {
    /// The conversation of a spawned agent; none leaves it to the declaration.
    pub(super) session: Option<(SessionKey, SessionId)>,
    /// The task that it is, if it is one.
    pub(super) task: Option<TaskHandle>,
    /// Stops it.
    pub(super) cancel: CancellationToken,
}

impl Way {
    /// A call whose result its parent waits for.
    pub(super) fn in_turn(parent: &RunScope) -> Self {
        Self { session: None, task: None, cancel: parent.cancel.clone() }
    }

    /// A task of a spawned agent.
    pub(super) fn spawned(session: (SessionKey, SessionId), task: TaskHandle) -> Self {
        Self { session: Some(session), cancel: task.cancel.clone(), task: Some(task) }
    }

    pub(super) fn task_id(&self) -> Option<Arc<str>> {
        self.task.as_ref().map(|task| task.id.as_str().into())
    }
}

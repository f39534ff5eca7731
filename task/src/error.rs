//! What a store answers when it refuses or cannot. Must not hold the reasons a file is not opened.

use std::sync::Arc;

use super::{TaskId, TaskStatus};

/// A change or a question that came to nothing. The store is as it was before.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No record has this id.
    #[error("there is no task `{id}`")]
    NotFound {
        /// The id asked for.
        id: TaskId,
    },
    /// The id is taken.
    #[error("a task `{id}` exists already")]
    Exists {
        /// The id asked for.
        id: TaskId,
    },
    /// The states do not allow it.
    #[error("task `{id}` is {from} and cannot become {to}")]
    Illegal {
        /// The task.
        id: TaskId,
        /// Its state.
        from: TaskStatus,
        /// The state that was asked for.
        to: TaskStatus,
    },
    /// Somebody else holds it, or nobody does any more.
    #[error("task `{id}` is not held by this host")]
    NotOwner {
        /// The task.
        id: TaskId,
    },
    /// Nothing may be spawned below a task that has ended or is being stopped.
    #[error("task `{parent}` is {status} or being stopped, so nothing can be started below it")]
    ParentStopped {
        /// The task above.
        parent: TaskId,
        /// Its state.
        status: TaskStatus,
    },
    /// Another process held the store for too long. Nothing was written.
    #[error("the task store is busy")]
    Busy,
    /// The store was closed, or its runtime has ended.
    #[error("the task store is closed")]
    Closed,
    /// The storage failed, or holds what this program never writes.
    #[error("failed to {doing} in the task store: {source}")]
    Storage {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

//! The seam between the life of tasks and where their records are kept. Must not know a store.

use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use super::{Changes, End, NewTask, Owner, SessionId, TaskError, TaskFilter, TaskId, TaskRecord, TaskStatus};

/// Where the records of tasks are the truth.
///
/// A change that answers `Ok` is durable, as far as the store can make it so. One that answers
/// an error has changed nothing. A future dropped before its answer may have changed the store.
#[async_trait]
pub trait TaskStore: Send + Sync + Debug {
    /// Takes up a task; with the answer it is acknowledged.
    async fn create(&self, new: NewTask) -> Result<TaskRecord, TaskError>;

    /// Begins a pending task that is this owner's, nobody's, or whose holder's lease is over.
    async fn start(&self, id: &TaskId, owner: Owner, lease_until_ms: i64) -> Result<TaskRecord, TaskError>;

    /// Begins the oldest pending task that nobody holds, if there is one.
    async fn claim(&self, owner: Owner, lease_until_ms: i64) -> Result<Option<TaskRecord>, TaskError>;

    /// Prolongs the lease of all tasks of this owner that have not ended; says how many.
    async fn heartbeat(&self, owner: Owner, lease_until_ms: i64) -> Result<u64, TaskError>;

    /// The running tasks of this owner whose end somebody asked for, in this process or another.
    async fn cancels(&self, owner: Owner) -> Result<Vec<TaskId>, TaskError>;

    /// Keeps text of a running task, for the case that no result follows.
    async fn keep_partial(&self, id: &TaskId, owner: Owner, text: String) -> Result<(), TaskError>;

    /// Ends a task with its outcome and answers the state it came to: cancelled, whatever the
    /// end, where a cancel was asked for. Refused to one who does not hold the task (any more).
    ///
    /// A holder whose lease is over but whose task nobody swept may still report its end.
    async fn finish(&self, id: &TaskId, owner: Owner, end: End) -> Result<TaskStatus, TaskError>;

    /// Stops a task and everything below it, and lists what this call stopped: what was pending
    /// is cancelled at once, what runs is asked to end. A second call finds nothing to stop.
    async fn cancel(&self, id: &TaskId) -> Result<Vec<TaskId>, TaskError>;

    /// What has ended and was not acknowledged, in order of ending.
    async fn ended_undelivered(&self, session: &SessionId) -> Result<Vec<TaskRecord>, TaskError>;

    /// Notes that the history holds these outcomes, and lists those not noted before. Ids of
    /// tasks that are unknown or have not ended are passed over.
    async fn acknowledge(&self, ids: &[TaskId]) -> Result<Vec<TaskId>, TaskError>;

    /// One record.
    async fn get(&self, id: &TaskId) -> Result<TaskRecord, TaskError>;

    /// The newest records that fit, newest first.
    async fn list(&self, filter: &TaskFilter) -> Result<Vec<TaskRecord>, TaskError>;

    /// How many tasks this session waits for: the pending ones and the running ones.
    async fn running_count(&self, session: &SessionId) -> Result<u64, TaskError>;

    /// Ends what nobody holds any more, and lists what it changed.
    ///
    /// A running task whose lease is over ends as cancelled where that was asked for, else as
    /// failed with the text kept of it. One declared safe to run again goes back to pending, held
    /// by nobody, once. A pending task whose lease is over ends as lost.
    async fn sweep(&self, now_ms: i64) -> Result<Vec<TaskId>, TaskError>;

    /// A subscription that notes every change from now on.
    fn changes(&self) -> Changes;
}

/// The wall clock in milliseconds since 1970, as leases and records use it.
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

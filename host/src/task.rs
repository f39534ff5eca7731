//! Work that goes on while the run that asked for it goes on as well: the tasks of each run, over the host's one store
//! of records. Must not know what a task does.

mod desk;
mod frame;
mod group;
mod inbox;

use std::sync::Arc;

use async_trait::async_trait;

pub use deputy_task::{
    Changes, End, MemoryTaskStore, NewTask, Owner, Placement, TaskError, TaskFilter, TaskId, TaskRecord,
    TaskStatus, TaskStore, now_ms,
};
pub(crate) use desk::TaskDesk;
pub(crate) use frame::framed;
pub use group::RunTasks;
pub(crate) use group::{SpawnedAgent, TaskHandle, TaskOrder};
pub(crate) use inbox::KeepHistory;

/// Where a host's task records are, once they are needed: most runs start none.
#[async_trait]
pub trait TaskStoreSource: Send + Sync + std::fmt::Debug {
    /// True where there may be records from before.
    fn is_there(&self) -> bool;

    /// Opens the store, and makes it where there is none.
    ///
    /// # Errors
    /// Why there is none to be had, for people and models.
    async fn open(&self) -> Result<Arc<dyn TaskStore>, String>;
}

/// A store that is open already.
#[derive(Debug)]
pub(crate) struct Ready(pub(crate) Arc<dyn TaskStore>);

#[async_trait]
impl TaskStoreSource for Ready {
    fn is_there(&self) -> bool {
        true
    }

    async fn open(&self) -> Result<Arc<dyn TaskStore>, String> {
        Ok(self.0.clone())
    }
}

//! Background tasks as records that outlive the process: states, rules, stores. Must not run a task.
//!
//! A task is acknowledged to its parent only when its record is durable, and every later
//! change is durable before it is reported. [`TaskStore`] is the seam; [`SqliteTaskStore`]
//! keeps records in a workspace, [`MemoryTaskStore`] in a host that has none. Both apply the
//! same rules, and one suite of tests runs over both.
//!
//! # Delivery
//! What has ended is drained into the parent's history in order of ending and acknowledged
//! once the history holds it. A process that dies in between finds the same records again,
//! so a history keeps the task id with the result, and what it already holds is only
//! acknowledged, not added again. That, with [`TaskStore::acknowledge`], makes each result
//! arrive exactly once.

mod changes;
mod error;
mod ids;
mod memory;
mod record;
mod rules;
#[cfg(feature = "sqlite")]
mod sqlite;
mod status;
mod store;
#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;

pub use changes::Changes;
pub use error::TaskError;
pub use ids::{SessionId, TaskId};
pub use memory::MemoryTaskStore;
pub use record::{End, NewTask, Owner, Placement, TaskFilter, TaskRecord};
pub use rules::MAX_LEASE_MS;
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteTaskStore};
pub use status::TaskStatus;
pub use store::{TaskStore, now_ms};

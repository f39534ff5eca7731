//! What is kept of a task and what goes into a store. Must not change a record.

use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::{SessionId, TaskId, TaskStatus};

/// One host process. Two lives of a host differ in `host`, so a reused pid is no danger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Owner {
    /// Drawn anew by each host when it starts.
    #[serde(serialize_with = "as_text")]
    pub host: Uuid,
    /// The process, for people who look; nothing is decided by it.
    pub pid: u32,
}

impl Owner {
    /// This process, as a host that starts now.
    #[must_use]
    pub fn this_process() -> Self {
        Self { host: Uuid::now_v7(), pid: std::process::id() }
    }
}

fn as_text<S: Serializer>(host: &Uuid, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(host)
}

/// One task as the store knows it. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskRecord {
    /// Its name.
    pub id: TaskId,
    /// The session that is to be told: it drains the result.
    pub parent_session: SessionId,
    /// The task whose run spawned it, if that was one.
    pub parent_task: Option<TaskId>,
    /// The topmost task above it; itself when nothing is above.
    pub root: TaskId,
    /// The agent, as its declaration names it.
    pub agent_id: String,
    /// The spawn's key for the agent's session.
    pub agent_key: String,
    /// A short name for people.
    pub label: Option<String>,
    /// What is to be done.
    pub task: String,
    /// Where it is in its life.
    pub status: TaskStatus,
    /// The answer; there exactly when it is completed.
    pub result: Option<String>,
    /// Text kept on the way, shown when there is no result.
    pub partial: Option<String>,
    /// Why there is no result.
    pub error: Option<String>,
    /// On whose behalf it runs.
    pub user: Option<String>,
    /// Who runs it, is to run it, or ran it last.
    pub owner: Option<Owner>,
    /// Until when its owner is taken to be alive; none once it has ended.
    pub lease_until_ms: Option<i64>,
    /// When it was acknowledged.
    pub created_ms: i64,
    /// When its latest attempt began.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// Its place in the order of ending, over the whole store; there exactly when it has ended.
    pub ended_sequence: Option<i64>,
    /// Whether the parent's history holds the outcome.
    pub delivered: bool,
    /// Whether somebody asked for its end.
    pub cancel_requested: bool,
    /// Whether it may run again after its process died.
    pub restart_safe: bool,
    /// How often it was begun.
    pub attempts: u32,
}

/// Where a new task begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Waits for any host that claims it.
    Queued,
    /// Waits for a place in this host.
    Held(Owner),
    /// Runs in this host from the start, which saves the commit of [`super::TaskStore::start`].
    Running(Owner),
}

/// A task to be acknowledged.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its name; a second task of the same name is refused.
    pub id: TaskId,
    /// The session that is to be told.
    pub parent_session: SessionId,
    /// The task whose run spawns it, if that is one.
    pub parent_task: Option<TaskId>,
    /// The agent, as its declaration names it.
    pub agent_id: String,
    /// The spawn's key for the agent's session.
    pub agent_key: String,
    /// A short name for people.
    pub label: Option<String>,
    /// What is to be done.
    pub task: String,
    /// On whose behalf.
    pub user: Option<String>,
    /// Where it begins.
    pub placement: Placement,
    /// Until when somebody must have taken it up or shown a sign of life.
    pub lease_until_ms: i64,
    /// Whether it may run again after its process died.
    pub restart_safe: bool,
}

/// How a task ends, as its owner reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With an answer.
    Completed(String),
    /// Without one.
    Failed {
        /// Why.
        error: String,
        /// What there was; none leaves the text kept before.
        partial: Option<String>,
    },
    /// Stopped by request.
    Cancelled {
        /// What there was; none leaves the text kept before.
        partial: Option<String>,
    },
}

impl End {
    /// The state it leads to, where no cancel was asked for.
    #[must_use]
    pub fn status(&self) -> TaskStatus {
        match self {
            Self::Completed(_) => TaskStatus::Completed,
            Self::Failed { .. } => TaskStatus::Failed,
            Self::Cancelled { .. } => TaskStatus::Cancelled,
        }
    }
}

/// Which records to list. Every condition that is set must hold.
#[derive(Debug, Clone)]
pub struct TaskFilter {
    /// Only those this session is told of.
    pub session: Option<SessionId>,
    /// Only those at or below this topmost task.
    pub root: Option<TaskId>,
    /// Only those in one of these states; empty means any.
    pub statuses: Vec<TaskStatus>,
    /// At most so many, the newest.
    pub limit: u32,
}

impl Default for TaskFilter {
    /// The newest 200 of all.
    fn default() -> Self {
        Self { session: None, root: None, statuses: Vec::new(), limit: 200 }
    }
}

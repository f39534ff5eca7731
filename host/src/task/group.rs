//! The tasks of one run: begun for it, stopped with it, never outliving it. Must not know what a task does, and must not
//! touch the run's conversation.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::{
    End, KeepHistory, NewTask, Placement, TaskDesk, TaskError, TaskFilter, TaskId, TaskRecord, TaskStatus,
    TaskStore,
};
use crate::ids::{AgentName, SessionId, UserId};

/// How long a cancel waits for what it stopped.
const JOIN: Duration = Duration::from_secs(20);
/// Most records of one list.
const LISTED: u32 = 1000;

/// The background tasks of one run.
#[derive(Debug)]
pub struct RunTasks {
    pub(super) desk: Arc<TaskDesk>,
    /// The conversation that is told how they end.
    pub(super) session: SessionId,
    /// The task that the run works for, if that is one.
    above: Option<TaskId>,
    /// True where the run itself is that task, so that its texts are the task's.
    is_the_task: bool,
    /// True once there may be a record for the conversation: until then nothing is looked up.
    in_use: AtomicBool,
    /// True while a task has begun that the conversation, as it is kept, does not know of.
    pub(super) begun: AtomicBool,
    works: TaskTracker,
    mine: Mutex<BTreeMap<TaskId, CancellationToken>>,
    agents: Mutex<BTreeMap<String, SpawnedAgent>>,
    pub(super) keeper: Option<Arc<dyn KeepHistory>>,
}

/// An agent that a run has spawned and can send more to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpawnedAgent {
    /// Which declaration it is.
    pub(crate) agent: AgentName,
    /// Its conversation.
    pub(crate) session: SessionId,
    /// A short name.
    pub(crate) label: Option<String>,
}

/// A task about to begin.
#[derive(Clone, Debug)]
pub(crate) struct TaskOrder {
    pub(crate) agent: AgentName,
    pub(crate) agent_key: String,
    pub(crate) label: Option<String>,
    pub(crate) task: String,
    pub(crate) user: UserId,
    /// Stops it; set where the run is stopped.
    pub(crate) cancel: CancellationToken,
    /// True where it begins at once, and need not wait for a place.
    pub(crate) at_once: bool,
}

/// What the work of a task knows of it.
#[derive(Clone, Debug)]
pub(crate) struct TaskHandle {
    pub(crate) id: TaskId,
    pub(crate) cancel: CancellationToken,
    desk: Arc<TaskDesk>,
    waits: bool,
}

impl TaskHandle {
    /// It has its place and begins.
    ///
    /// # Errors
    /// [`TaskError`] where it may not: it was cancelled meanwhile, say.
    pub(crate) async fn begins(&self) -> Result<(), TaskError> {
        match self.desk.opened() {
            Some(store) if self.waits => {
                store.start(&self.id, self.desk.owner(), TaskDesk::lease()).await.map(drop)
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl RunTasks {
    /// Of a run at the top. Where it goes on with a conversation, there may be tasks that it was not told of.
    pub(crate) fn of_parent(
        desk: Arc<TaskDesk>,
        session: SessionId,
        resumed: bool,
        keeper: Option<Arc<dyn KeepHistory>>,
    ) -> Self {
        let in_use = resumed && desk.may_hold_records();
        Self {
            desk,
            session,
            above: None,
            is_the_task: false,
            in_use: AtomicBool::new(in_use),
            begun: AtomicBool::new(false),
            works: TaskTracker::new(),
            mine: Mutex::default(),
            agents: Mutex::default(),
            keeper,
        }
    }

    /// Of a run that this one delegates to, as a task or within its own.
    pub(crate) fn below(&self, session: SessionId, task: Option<&TaskHandle>, resumed: bool) -> Self {
        let mut tasks = Self::of_parent(self.desk.clone(), session, resumed, None);
        tasks.above = task.map_or_else(|| self.above.clone(), |task| Some(task.id.clone()));
        tasks.is_the_task = task.is_some();
        tasks
    }

    /// Begins a task. Once this returns it is recorded.
    ///
    /// # Errors
    /// Why it was not.
    pub(crate) async fn begin<F>(
        &self,
        order: TaskOrder,
        work: impl FnOnce(TaskHandle) -> F,
    ) -> Result<TaskId, String>
    where
        F: Future<Output = End> + Send + 'static,
    {
        let store = self.desk.store().await?;
        self.in_use.store(true, Ordering::Release);
        let owner = self.desk.owner();
        let id = TaskId::fresh();
        let new = NewTask {
            id: id.clone(),
            parent_session: deputy_task::SessionId::new(self.session.as_str()),
            parent_task: self.above.clone(),
            agent_id: order.agent.to_string(),
            agent_key: order.agent_key,
            label: order.label,
            task: order.task,
            user: Some(order.user.to_string()),
            placement: if order.at_once { Placement::Running(owner) } else { Placement::Held(owner) },
            lease_until_ms: TaskDesk::lease(),
            restart_safe: false,
        };
        store.create(new).await.map_err(|error| error.to_string())?;
        self.begun.store(true, Ordering::Release);
        let handle = TaskHandle {
            id: id.clone(),
            cancel: order.cancel.clone(),
            desk: self.desk.clone(),
            waits: !order.at_once,
        };
        self.desk.enlist(id.clone(), order.cancel.clone());
        self.lock_mine().insert(id.clone(), order.cancel);
        let (desk, task, work) = (self.desk.clone(), id.clone(), work(handle));
        let watched = async move {
            let end = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| End::Failed {
                error: "the host's own code panicked in this task; this is a fault of the host".to_owned(),
                partial: None,
            });
            desk.finish(&task, end).await;
        };
        self.works.spawn(watched.in_current_span());
        Ok(id)
    }

    /// Stops every task of the run and waits for it: none outlives the run. Says how many there were to stop.
    pub(crate) async fn end(&self) -> usize {
        self.works.close();
        let stopped = self.works.len();
        self.lock_mine().values().for_each(CancellationToken::cancel);
        self.works.wait().await;
        stopped
    }

    /// Waits until a task has ended, at most until `deadline`.
    ///
    /// # Errors
    /// Why its record cannot be read.
    pub(crate) async fn wait(&self, id: &TaskId, deadline: Instant) -> Result<TaskRecord, String> {
        let store = self.desk.store().await?;
        let mut changes = store.changes();
        loop {
            let record = store.get(id).await.map_err(|error| error.to_string())?;
            if record.status.is_ended() || !changes.wait(deadline).await {
                // The deadline may have passed together with the end.
                return store.get(id).await.map_err(|error| error.to_string());
            }
        }
    }

    /// The record of a task that the run may see: its own, or one below them.
    ///
    /// # Errors
    /// That there is none.
    pub(crate) async fn record(&self, id: &TaskId) -> Result<TaskRecord, String> {
        let unknown = || {
            format!(
                "there is no task `{id}` of yours; `task_list` names those that there are, with whole ids"
            )
        };
        if !self.is_in_use() {
            return Err(unknown());
        }
        let store = self.desk.store().await?;
        let record = store.get(id).await.map_err(|_| unknown())?;
        let mut above = record.clone();
        while above.parent_session.as_str() != self.session.as_str() {
            let parent = above.parent_task.ok_or_else(unknown)?;
            above = store.get(&parent).await.map_err(|_| unknown())?;
        }
        Ok(record)
    }

    /// The run's tasks, newest first, each followed by those below it that have not ended.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub(crate) async fn list(&self) -> Result<Vec<TaskRecord>, String> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        let store = self.desk.store().await?;
        let own = self.newest(store, LISTED).await?;
        let mut listed = Vec::with_capacity(own.len());
        for record in own {
            // What has ended has nothing below it that has not.
            let may_have_more = record.status == TaskStatus::Running;
            let (id, root) = (record.id.clone(), record.root.clone());
            listed.push(record);
            if may_have_more {
                let filter = TaskFilter { root: Some(root), limit: LISTED, ..TaskFilter::default() };
                let tree = store.list(&filter).await.map_err(|error| error.to_string())?;
                listed.extend(below(&id, &tree));
            }
        }
        Ok(listed)
    }

    /// The run's own tasks, newest first.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub(crate) async fn own(&self) -> Result<Vec<TaskRecord>, String> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        let store = self.desk.store().await?;
        self.newest(store, LISTED).await
    }

    pub(super) async fn newest(
        &self,
        store: &Arc<dyn TaskStore>,
        limit: u32,
    ) -> Result<Vec<TaskRecord>, String> {
        let session = Some(deputy_task::SessionId::new(self.session.as_str()));
        let filter = TaskFilter { session, limit, ..TaskFilter::default() };
        store.list(&filter).await.map_err(|error| error.to_string())
    }

    /// Stops a task and everything below it, and waits until it has ended. Says what was stopped: nothing, where it had
    /// ended or was being stopped already.
    ///
    /// # Errors
    /// Why it was not stopped.
    pub(crate) async fn cancel(&self, id: &TaskId) -> Result<(Vec<TaskId>, TaskRecord), String> {
        self.record(id).await?;
        let store = self.desk.store().await?;
        let stopped = store.cancel(id).await.map_err(|error| error.to_string())?;
        self.desk.stop(&stopped);
        let record = self.wait(id, Instant::now() + JOIN).await?;
        Ok((stopped, record))
    }

    /// Keeps text of the task that the run is, for the case that it gives no answer.
    pub(crate) async fn keep_partial(&self, text: &str) {
        let (true, Some(id), Some(store)) = (self.is_the_task, &self.above, self.desk.opened()) else {
            return;
        };
        if !text.trim().is_empty() {
            // What cannot be kept is only worse off after a crash.
            let _ = store.keep_partial(id, self.desk.owner(), text.to_owned()).await;
        }
    }

    /// Remembers an agent under its key.
    pub(crate) fn remember(&self, key: String, agent: SpawnedAgent) {
        self.lock_agents().insert(key, agent);
    }

    /// The agents that were spawned, each with its key.
    pub(crate) fn agents(&self) -> BTreeMap<String, SpawnedAgent> {
        self.lock_agents().clone()
    }

    /// True where there may be something to look up.
    pub(crate) fn is_in_use(&self) -> bool {
        self.in_use.load(Ordering::Acquire)
    }

    fn lock_mine(&self) -> MutexGuard<'_, BTreeMap<TaskId, CancellationToken>> {
        self.mine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_agents(&self) -> MutexGuard<'_, BTreeMap<String, SpawnedAgent>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands below a task in its tree, parents before children.
fn below(id: &TaskId, tree: &[TaskRecord]) -> Vec<TaskRecord> {
    let children = tree.iter().filter(|record| record.parent_task.as_ref() == Some(id));
    children.flat_map(|child| std::iter::once(child.clone()).chain(below(&child.id, tree))).collect()
}

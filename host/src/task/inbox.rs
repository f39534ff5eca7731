//! From the ends of tasks to the conversation of the run that began them: each once, in the order of their ends, noted as
//! delivered only when the conversation holds it. Must not begin or stop a task.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{RunTasks, TaskId, TaskRecord, TaskStatus, TaskStore, frame};
use crate::history::{History, Message, ResultCap, as_data};

/// Most tasks that are summed up before a turn.
const SUMMED_UP: u32 = 10;
/// Most characters of a task's text in a summary.
const TASK_CHARS: usize = 120;

/// Keeps a conversation where it outlives the process.
#[async_trait]
pub(crate) trait KeepHistory: Send + Sync + std::fmt::Debug {
    /// Keeps it as it is now.
    ///
    /// # Errors
    /// Why it is not kept.
    async fn keep(&self, history: &History) -> Result<(), String>;
}

/// What a run still has to hear of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outstanding {
    /// Tasks that have not ended.
    pub(crate) running: u64,
    /// Tasks that have ended, and that the conversation does not hold.
    pub(crate) ended: usize,
}

impl Outstanding {
    pub(crate) fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl RunTasks {
    /// Adds the results of all tasks that have ended to the conversation, and notes them as delivered once it is kept.
    ///
    /// # Errors
    /// Why some stay for the next time.
    pub(crate) async fn drain(&self, history: &mut History, cap: ResultCap) -> Result<(), String> {
        if !self.is_in_use() {
            return Ok(());
        }
        let store = self.desk.store().await?;
        let ended = self.ended(store).await?;
        if ended.is_empty() {
            return self.keep_what_began(history).await;
        }
        let ids: Vec<TaskId> = ended.iter().map(|record| record.id.clone()).collect();
        let new: Vec<TaskRecord> =
            ended.into_iter().filter(|record| !frame::holds(history, &record.id)).collect();
        if !new.is_empty() {
            history.push(Message::user(frame::results(&new, cap.0)));
        }
        // What a crash would take from the conversation must not count as delivered.
        self.begun.store(true, Ordering::Release);
        self.keep_what_began(history).await?;
        store.acknowledge(&ids).await.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Keeps the conversation where tasks began in it that it would not know of after a crash.
    async fn keep_what_began(&self, history: &History) -> Result<(), String> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        if !self.begun.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let kept = keeper.keep(history).await;
        if kept.is_err() {
            self.begun.store(true, Ordering::Release);
        }
        kept
    }

    /// What is still to come.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub(crate) async fn outstanding(&self, history: &History) -> Result<Outstanding, String> {
        if !self.is_in_use() {
            return Ok(Outstanding::default());
        }
        let store = self.desk.store().await?;
        let session = deputy_task::SessionId::new(self.session.as_str());
        let running = store.running_count(&session).await.map_err(|error| error.to_string())?;
        let ended = self.ended(store).await?;
        let ended = ended.iter().filter(|record| !frame::holds(history, &record.id)).count();
        Ok(Outstanding { running, ended })
    }

    /// Waits until a task has ended that was not delivered yet, or none is running; false where `deadline` came first.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub(crate) async fn wait_for_an_end(&self, deadline: Instant) -> Result<bool, String> {
        let store = self.desk.store().await?;
        let session = deputy_task::SessionId::new(self.session.as_str());
        let mut changes = store.changes();
        loop {
            let running = store.running_count(&session).await.map_err(|error| error.to_string())?;
            if running == 0 || !self.ended(store).await?.is_empty() {
                return Ok(true);
            }
            if !changes.wait(deadline).await {
                return Ok(!self.ended(store).await?.is_empty());
            }
        }
    }

    /// What a model is told of the tasks before each turn: the newest ten. None where there are none.
    pub(crate) async fn summary(&self) -> Option<String> {
        if !self.is_in_use() {
            return None;
        }
        let store = self.desk.store().await.ok()?;
        let newest = self.newest(store, SUMMED_UP).await.ok()?;
        let session = deputy_task::SessionId::new(self.session.as_str());
        let running = store.running_count(&session).await.ok()?;
        if newest.is_empty() {
            return None;
        }
        let mut text = format!("\nYour background tasks, newest first ({running} not ended):\n");
        newest.iter().for_each(|record| text.push_str(&line(record)));
        Some(text)
    }

    async fn ended(&self, store: &Arc<dyn TaskStore>) -> Result<Vec<TaskRecord>, String> {
        let session = deputy_task::SessionId::new(self.session.as_str());
        store.ended_undelivered(&session).await.map_err(|error| error.to_string())
    }
}

/// One task in one line.
pub(super) fn line(record: &TaskRecord) -> String {
    let label = record.label.as_ref().map_or_else(String::new, |label| format!(" ({})", on_one_line(label)));
    let stopping =
        if record.cancel_requested && record.status == TaskStatus::Running { ", being stopped" } else { "" };
    format!(
        "- {} {}{label}: {}{stopping}: {}\n",
        record.id,
        on_one_line(&record.agent_id),
        record.status,
        on_one_line(&record.task)
    )
}

fn on_one_line(text: &str) -> String {
    let line = as_data(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TASK_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

//! Each change as it is applied to the tables. Must not decide what is allowed, nor begin or commit.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnection;

use super::rows;
use super::writer::Change;
use crate::store::now_ms;
use crate::{End, NewTask, Owner, TaskError, TaskId, TaskRecord, TaskStatus, rules};

pub(super) struct Create {
    pub(super) new: NewTask,
}

#[async_trait]
impl Change for Create {
    type Answer = TaskRecord;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<TaskRecord, TaskError> {
        let parent = match &self.new.parent_task {
            Some(parent) => Some(rows::get(&mut *connection, parent).await?),
            None => None,
        };
        let record = rules::created(self.new, parent.as_ref(), now_ms())?;
        rows::insert(connection, &record).await?;
        Ok(record)
    }
}

pub(super) struct Start {
    pub(super) id: TaskId,
    pub(super) owner: Owner,
    pub(super) until: i64,
}

#[async_trait]
impl Change for Start {
    type Answer = TaskRecord;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<TaskRecord, TaskError> {
        alter(connection, &self.id, |record| rules::start(record, self.owner, self.until, now_ms())).await
    }
}

pub(super) struct Claim {
    pub(super) owner: Owner,
    pub(super) until: i64,
}

#[async_trait]
impl Change for Claim {
    type Answer = Option<TaskRecord>;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<Self::Answer, TaskError> {
        let Some(id) = rows::next_unheld(&mut *connection).await? else { return Ok(None) };
        Start { id, owner: self.owner, until: self.until }.apply(connection).await.map(Some)
    }
}

pub(super) struct Heartbeat {
    pub(super) owner: Owner,
    pub(super) until: i64,
}

#[async_trait]
impl Change for Heartbeat {
    type Answer = u64;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<u64, TaskError> {
        rows::prolong(connection, self.owner, rules::lease(self.until, now_ms())).await
    }
}

pub(super) struct KeepPartial {
    pub(super) id: TaskId,
    pub(super) owner: Owner,
    pub(super) text: String,
}

#[async_trait]
impl Change for KeepPartial {
    type Answer = ();

    async fn apply(self, connection: &mut SqliteConnection) -> Result<(), TaskError> {
        alter(connection, &self.id, |record| rules::keep_partial(record, self.owner, self.text))
            .await
            .map(drop)
    }
}

pub(super) struct Finish {
    pub(super) id: TaskId,
    pub(super) owner: Owner,
    pub(super) end: End,
}

#[async_trait]
impl Change for Finish {
    type Answer = TaskStatus;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<TaskStatus, TaskError> {
        let ended =
            alter(connection, &self.id, |record| rules::finish(record, self.owner, self.end, now_ms()))
                .await?;
        Ok(ended.status)
    }
}

pub(super) struct Cancel {
    pub(super) id: TaskId,
}

#[async_trait]
impl Change for Cancel {
    type Answer = Vec<TaskId>;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<Vec<TaskId>, TaskError> {
        rows::get(&mut *connection, &self.id).await?;
        let alive = rows::alive_below(connection, &self.id).await?;
        each(connection, alive, |record| rules::cancel(record, now_ms())).await
    }
}

pub(super) struct Acknowledge {
    pub(super) ids: Arc<[TaskId]>,
}

#[async_trait]
impl Change for Acknowledge {
    type Answer = Vec<TaskId>;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<Vec<TaskId>, TaskError> {
        let mut noted = Vec::new();
        for id in &*self.ids {
            if rows::deliver(connection, id).await? {
                noted.push(id.clone());
            }
        }
        Ok(noted)
    }
}

pub(super) struct Sweep {
    pub(super) now: i64,
}

#[async_trait]
impl Change for Sweep {
    type Answer = Vec<TaskId>;

    async fn apply(self, connection: &mut SqliteConnection) -> Result<Vec<TaskId>, TaskError> {
        let overdue = rows::overdue(&mut *connection, self.now).await?;
        each(connection, overdue, |record| rules::sweep(record, self.now)).await
    }
}

/// Applies a rule to one record.
async fn alter(
    connection: &mut SqliteConnection,
    id: &TaskId,
    rule: impl FnOnce(&mut TaskRecord) -> Result<(), TaskError> + Send,
) -> Result<TaskRecord, TaskError> {
    let mut record = rows::get(&mut *connection, id).await?;
    let before = record.status;
    rule(&mut record)?;
    rows::save(connection, before, &mut record).await?;
    Ok(record)
}

/// Applies a rule to many; lists those it changed.
async fn each(
    connection: &mut SqliteConnection,
    records: Vec<TaskRecord>,
    rule: impl Fn(&mut TaskRecord) -> bool + Send + Sync,
) -> Result<Vec<TaskId>, TaskError> {
    let mut changed = Vec::new();
    for mut record in records {
        let before = record.status;
        if rule(&mut record) {
            rows::save(connection, before, &mut record).await?;
            changed.push(record.id);
        }
    }
    Ok(changed)
}

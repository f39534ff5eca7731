//! Records as rows: every statement on the tables. Must not decide what is allowed, nor begin or commit.

use sqlx::sqlite::{Sqlite, SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, SqliteExecutor};
use uuid::Uuid;

use crate::{MAX_LEASE_MS, Owner, SessionId, TaskError, TaskFilter, TaskId, TaskRecord, TaskStatus};

/// A query of whole records; numbered parameters are understood by PostgreSQL too.
macro_rules! records {
    ($($rest:literal)?) => {
        concat!(
            "SELECT t.id, t.parent_session, t.parent_task, t.root, t.agent_id, t.agent_key, t.label, \
             t.task, t.status, t.result, t.partial, t.error, t.for_user, t.owner_host, t.owner_pid, \
             t.lease_until_ms, t.created_ms, t.started_ms, t.ended_ms, t.ended_sequence, t.delivered, \
             t.cancel_requested, t.restart_safe, t.attempts FROM tasks t"
            $(, " ", $rest)?
        )
    };
}

pub(super) async fn get(on: impl SqliteExecutor<'_>, id: &TaskId) -> Result<TaskRecord, TaskError> {
    let row = sqlx::query(records!("WHERE t.id = $1")).bind(id.as_str()).fetch_optional(on).await;
    let row = row.map_err(TaskError::storage("read a task"))?;
    row.map_or_else(|| Err(TaskError::NotFound { id: id.clone() }), |row| record(&row))
}

pub(super) async fn ended_undelivered(
    on: impl SqliteExecutor<'_>,
    session: &SessionId,
) -> Result<Vec<TaskRecord>, TaskError> {
    let query = sqlx::query(records!(
        "WHERE t.parent_session = $1 AND NOT t.delivered AND t.ended_sequence IS NOT NULL \
         ORDER BY t.ended_sequence"
    ));
    all(query.bind(session.as_str()).fetch_all(on).await)
}

/// What lives at or below a task; also below what has ended.
pub(super) async fn alive_below(
    on: &mut SqliteConnection,
    id: &TaskId,
) -> Result<Vec<TaskRecord>, TaskError> {
    // `UNION` ends even on a cycle, which nothing here can write.
    let query = sqlx::query(concat!(
        "WITH RECURSIVE below (id) AS (\
         SELECT id FROM tasks WHERE id = $1 \
         UNION SELECT c.id FROM tasks c JOIN below b ON c.parent_task = b.id) ",
        records!("JOIN below ON below.id = t.id WHERE t.ended_sequence IS NULL ORDER BY t.created_ms, t.id")
    ));
    all(query.bind(id.as_str()).fetch_all(on).await)
}

/// What has a lease that is over, or one that no clock of today could have written.
pub(super) async fn overdue(on: impl SqliteExecutor<'_>, now: i64) -> Result<Vec<TaskRecord>, TaskError> {
    let query = sqlx::query(records!(
        "WHERE t.ended_sequence IS NULL AND (t.lease_until_ms <= $1 OR t.lease_until_ms > $2) \
         ORDER BY t.created_ms, t.id"
    ));
    all(query.bind(now).bind(now.saturating_add(MAX_LEASE_MS)).fetch_all(on).await)
}

/// The oldest pending task that nobody holds. PostgreSQL would add `FOR UPDATE SKIP LOCKED`.
pub(super) async fn next_unheld(on: impl SqliteExecutor<'_>) -> Result<Option<TaskId>, TaskError> {
    let id: Option<String> = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE owner_host IS NULL AND ended_sequence IS NULL \
         AND status = 'pending' ORDER BY created_ms, id LIMIT 1",
    )
    .fetch_optional(on)
    .await
    .map_err(TaskError::storage("look for a task"))?;
    Ok(id.map(TaskId::from))
}

pub(super) async fn cancels(on: impl SqliteExecutor<'_>, owner: Owner) -> Result<Vec<TaskId>, TaskError> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE owner_host = $1 AND ended_sequence IS NULL \
         AND status = 'running' AND cancel_requested ORDER BY created_ms, id",
    )
    .bind(owner.host.to_string())
    .fetch_all(on)
    .await
    .map_err(TaskError::storage("look for cancels"))?;
    Ok(ids.into_iter().map(TaskId::from).collect())
}

pub(super) async fn running_count(
    on: impl SqliteExecutor<'_>,
    session: &SessionId,
) -> Result<u64, TaskError> {
    let count: i64 =
        sqlx::query_scalar("SELECT count(*) FROM tasks WHERE parent_session = $1 AND ended_sequence IS NULL")
            .bind(session.as_str())
            .fetch_one(on)
            .await
            .map_err(TaskError::storage("count tasks"))?;
    Ok(u64::try_from(count).unwrap_or_default())
}

pub(super) async fn list(
    on: impl SqliteExecutor<'_>,
    filter: &TaskFilter,
) -> Result<Vec<TaskRecord>, TaskError> {
    let mut query = QueryBuilder::<Sqlite>::new(records!("WHERE TRUE"));
    if let Some(session) = &filter.session {
        query.push(" AND t.parent_session = ").push_bind(session.as_str());
    }
    if let Some(root) = &filter.root {
        query.push(" AND t.root = ").push_bind(root.as_str());
    }
    if !filter.statuses.is_empty() {
        query.push(" AND t.status IN (");
        let mut words = query.separated(", ");
        for status in &filter.statuses {
            words.push_bind(status.as_str());
        }
        query.push(")");
    }
    query.push(" ORDER BY t.created_ms DESC, t.id DESC LIMIT ").push_bind(i64::from(filter.limit));
    all(query.build().fetch_all(on).await)
}

pub(super) async fn insert(on: &mut SqliteConnection, record: &TaskRecord) -> Result<(), TaskError> {
    let done = sqlx::query(
        "INSERT INTO tasks (id, parent_session, parent_task, root, agent_id, agent_key, label, task, \
         status, for_user, owner_host, owner_pid, lease_until_ms, created_ms, started_ms, restart_safe, \
         attempts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(record.id.as_str())
    .bind(record.parent_session.as_str())
    .bind(record.parent_task.as_ref().map(TaskId::as_str))
    .bind(record.root.as_str())
    .bind(&record.agent_id)
    .bind(&record.agent_key)
    .bind(&record.label)
    .bind(&record.task)
    .bind(record.status.as_str())
    .bind(&record.user)
    .bind(record.owner.map(|owner| owner.host.to_string()))
    .bind(record.owner.map(|owner| i64::from(owner.pid)))
    .bind(record.lease_until_ms)
    .bind(record.created_ms)
    .bind(record.started_ms)
    .bind(record.restart_safe)
    .bind(i64::from(record.attempts))
    .execute(on)
    .await
    .map_err(TaskError::storage("create a task"))?;
    if done.rows_affected() == 1 { Ok(()) } else { Err(TaskError::Exists { id: record.id.clone() }) }
}

/// Writes what a rule changed, with the outcome and the state in one statement, and gives an
/// ended record its place in the order. The conditions keep the step legal even where the
/// state was changed since it was read, which SQLite's write lock already excludes.
pub(super) async fn save(
    on: &mut SqliteConnection,
    before: TaskStatus,
    record: &mut TaskRecord,
) -> Result<(), TaskError> {
    if record.status.is_ended() && record.ended_sequence.is_none() {
        record.ended_sequence = Some(next_sequence(on).await?);
    }
    let done = sqlx::query(
        "UPDATE tasks SET status = $3, result = $4, partial = $5, error = $6, owner_host = $7, \
         owner_pid = $8, lease_until_ms = $9, started_ms = $10, ended_ms = $11, ended_sequence = $12, \
         cancel_requested = $13, attempts = $14 \
         WHERE id = $1 AND status = $2 AND status IN ('pending', 'running') \
         AND (NOT cancel_requested OR $13)",
    )
    .bind(record.id.as_str())
    .bind(before.as_str())
    .bind(record.status.as_str())
    .bind(&record.result)
    .bind(&record.partial)
    .bind(&record.error)
    .bind(record.owner.map(|owner| owner.host.to_string()))
    .bind(record.owner.map(|owner| i64::from(owner.pid)))
    .bind(record.lease_until_ms)
    .bind(record.started_ms)
    .bind(record.ended_ms)
    .bind(record.ended_sequence)
    .bind(record.cancel_requested)
    .bind(i64::from(record.attempts))
    .execute(on)
    .await
    .map_err(TaskError::storage("change a task"))?;
    if done.rows_affected() == 1 {
        return Ok(());
    }
    Err(TaskError::Illegal { id: record.id.clone(), from: before, to: record.status })
}

pub(super) async fn prolong(on: &mut SqliteConnection, owner: Owner, until: i64) -> Result<u64, TaskError> {
    let done = sqlx::query(
        "UPDATE tasks SET lease_until_ms = $1 WHERE owner_host = $2 AND ended_sequence IS NULL \
         AND status IN ('pending', 'running')",
    )
    .bind(until)
    .bind(owner.host.to_string())
    .execute(on)
    .await
    .map_err(TaskError::storage("prolong a lease"))?;
    Ok(done.rows_affected())
}

/// Notes a delivery; whether it was not noted before.
pub(super) async fn deliver(on: &mut SqliteConnection, id: &TaskId) -> Result<bool, TaskError> {
    let done = sqlx::query(
        "UPDATE tasks SET delivered = TRUE WHERE id = $1 AND NOT delivered AND ended_sequence IS NOT NULL",
    )
    .bind(id.as_str())
    .execute(on)
    .await
    .map_err(TaskError::storage("acknowledge a task"))?;
    Ok(done.rows_affected() == 1)
}

async fn next_sequence(on: &mut SqliteConnection) -> Result<i64, TaskError> {
    sqlx::query_scalar("UPDATE counters SET value = value + 1 WHERE name = 'ended' RETURNING value")
        .fetch_one(on)
        .await
        .map_err(TaskError::storage("count an ending"))
}

fn all(rows: Result<Vec<SqliteRow>, sqlx::Error>) -> Result<Vec<TaskRecord>, TaskError> {
    rows.map_err(TaskError::storage("read tasks"))?.iter().map(record).collect()
}

fn record(row: &SqliteRow) -> Result<TaskRecord, TaskError> {
    decode(row).map_err(TaskError::storage("decode a task"))
}

fn decode(row: &SqliteRow) -> Result<TaskRecord, sqlx::Error> {
    let text = |column: &'static str| row.try_get::<String, _>(column);
    let status = text("status")?;
    let owner = match row.try_get::<Option<String>, _>("owner_host")? {
        Some(host) => Some(Owner {
            host: Uuid::parse_str(&host).map_err(odd)?,
            pid: u32::try_from(row.try_get::<i64, _>("owner_pid")?).map_err(odd)?,
        }),
        None => None,
    };
    Ok(TaskRecord {
        id: text("id")?.into(),
        parent_session: text("parent_session")?.into(),
        parent_task: row.try_get::<Option<String>, _>("parent_task")?.map(TaskId::from),
        root: text("root")?.into(),
        agent_id: text("agent_id")?,
        agent_key: text("agent_key")?,
        label: row.try_get("label")?,
        task: text("task")?,
        status: TaskStatus::parse(&status).ok_or_else(|| odd(format!("state `{status}`")))?,
        result: row.try_get("result")?,
        partial: row.try_get("partial")?,
        error: row.try_get("error")?,
        user: row.try_get("for_user")?,
        owner,
        lease_until_ms: row.try_get("lease_until_ms")?,
        created_ms: row.try_get("created_ms")?,
        started_ms: row.try_get("started_ms")?,
        ended_ms: row.try_get("ended_ms")?,
        ended_sequence: row.try_get("ended_sequence")?,
        delivered: row.try_get("delivered")?,
        cancel_requested: row.try_get("cancel_requested")?,
        restart_safe: row.try_get("restart_safe")?,
        attempts: u32::try_from(row.try_get::<i64, _>("attempts")?).map_err(odd)?,
    })
}

fn odd(fault: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> sqlx::Error {
    sqlx::Error::Decode(fault.into())
}

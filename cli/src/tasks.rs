//! `deputy tasks`: the background tasks of a workspace, looked at and stopped from another process while a run goes
//! on. Must not run a task, and must not make a store where there is none.

mod find;
mod list;
mod show;

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use deputy_task::{
    SessionId, SqliteTaskStore, TaskFilter, TaskId, TaskRecord, TaskStatus, TaskStore, now_ms,
};
use serde_json::json;
use tokio::time::Instant;

use crate::arguments::{StateFilter, TasksArguments, TasksCommand};
use crate::ending::{Ending, ends};
use crate::render;

/// The directory below the workspace in which a run keeps its records.
const DIRECTORY: &str = ".deputy";

/// Most tasks of one list.
const SHOWN: u32 = 1000;

/// How often a waiting command looks whether the process that runs the task is alive.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

pub(crate) fn run(arguments: &TasksArguments) -> anyhow::Result<Ending> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let Some(store) = open(&arguments.workspace).await? else {
            return without_store(arguments);
        };
        // Nothing that a dead process left is shown as running beyond its lease.
        store.sweep(now_ms()).await?;
        let ending = act(&store, arguments).await;
        store.close().await;
        ending
    })
}

/// The store of a workspace, if there is one.
async fn open(workspace: &Path) -> anyhow::Result<Option<SqliteTaskStore>> {
    let workspace =
        workspace.canonicalize().with_context(|| format!("cannot find {}", workspace.display()))?;
    let directory = workspace.join(DIRECTORY);
    match std::fs::symlink_metadata(directory.join("tasks.db")) {
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => Ok(None),
        // Whatever else is in the way, opening says it better.
        _ => Ok(Some(SqliteTaskStore::open(directory).await?)),
    }
}

fn without_store(arguments: &TasksArguments) -> anyhow::Result<Ending> {
    match &arguments.command {
        None | Some(TasksCommand::List { .. }) => {
            list::print(&[], arguments.json);
            Ok(Ending::Answered)
        }
        Some(TasksCommand::Show { id } | TasksCommand::Wait { id, .. } | TasksCommand::Cancel { id }) => {
            Err(ends(
                Ending::Failed,
                &format!(
                    "there is no task `{}`: none was ever recorded in the workspace {}",
                    render::line(id),
                    render::line(&arguments.workspace.display().to_string())
                ),
            ))
        }
    }
}

async fn act(store: &SqliteTaskStore, arguments: &TasksArguments) -> anyhow::Result<Ending> {
    match &arguments.command {
        None => list(store, StateFilter::All, None, arguments.json).await,
        Some(TasksCommand::List { status, session }) => {
            list(store, *status, session.as_deref(), arguments.json).await
        }
        Some(TasksCommand::Show { id }) => {
            show::print(&find::find(store, id).await?, arguments.json)?;
            Ok(Ending::Answered)
        }
        Some(TasksCommand::Wait { id, timeout }) => {
            let id = find::find(store, id).await?.id;
            wait(store, &id, *timeout, arguments.json).await
        }
        Some(TasksCommand::Cancel { id }) => {
            let id = find::find(store, id).await?.id;
            cancel(store, &id, arguments.json).await
        }
    }
}

async fn list(
    store: &SqliteTaskStore,
    status: StateFilter,
    session: Option<&str>,
    as_json: bool,
) -> anyhow::Result<Ending> {
    let session = session.map(SessionId::from);
    let filter = TaskFilter { session, root: None, statuses: states(status), limit: SHOWN };
    let records = store.list(&filter).await?;
    list::print(&records, as_json);
    if records.len() >= SHOWN as usize {
        render::warning(&format!(
            "only the newest {SHOWN} tasks are listed; `--status` and `--session` narrow it"
        ));
    }
    Ok(Ending::Answered)
}

/// The states that a word of the command line stands for; none for all.
fn states(filter: StateFilter) -> Vec<TaskStatus> {
    match filter {
        StateFilter::Pending => vec![TaskStatus::Pending],
        StateFilter::Running => vec![TaskStatus::Running],
        StateFilter::Completed => vec![TaskStatus::Completed],
        StateFilter::Failed => vec![TaskStatus::Failed],
        StateFilter::Cancelled => vec![TaskStatus::Cancelled],
        StateFilter::Lost => vec![TaskStatus::Lost],
        StateFilter::All => Vec::new(),
    }
}

async fn wait(
    store: &SqliteTaskStore,
    id: &TaskId,
    timeout: Option<Duration>,
    as_json: bool,
) -> anyhow::Result<Ending> {
    // A time beyond what the clock can hold is no limit.
    let deadline = timeout.and_then(|time| Instant::now().checked_add(time));
    let mut changes = store.changes();
    loop {
        let record = store.get(id).await?;
        if record.status.is_ended() {
            return ended(&record, as_json);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            if as_json {
                render::json(&serde_json::to_value(&record)?);
            }
            let text =
                format!("the time ran out: task {} is still {}", render::line(id.as_str()), record.status);
            return Err(ends(Ending::Partial, &text));
        }
        let glance = Instant::now() + SWEEP_EVERY;
        changes.wait(deadline.map_or(glance, |deadline| deadline.min(glance))).await;
        store.sweep(now_ms()).await?;
    }
}

/// Prints what came of a task that was waited for.
fn ended(record: &TaskRecord, as_json: bool) -> anyhow::Result<Ending> {
    if as_json {
        render::json(&serde_json::to_value(record)?);
    } else if let Some(text) = record.result.as_deref().map(show::output).or(record.partial.clone()) {
        render::answer(&text);
    }
    if record.status == TaskStatus::Completed {
        return Ok(Ending::Answered);
    }
    let why = record.error.as_deref().map(|error| format!(": {}", render::line(error))).unwrap_or_default();
    let text = format!("task {} is {}{why}", render::line(record.id.as_str()), record.status);
    Err(ends(Ending::Failed, &text))
}

async fn cancel(store: &SqliteTaskStore, id: &TaskId, as_json: bool) -> anyhow::Result<Ending> {
    let stopped = store.cancel(id).await?;
    let record = store.get(id).await?;
    if as_json {
        render::json(&json!({"id": id, "stopped": stopped, "status": record.status}));
        return Ok(Ending::Answered);
    }
    for one in &stopped {
        let what = match store.get(one).await?.status {
            TaskStatus::Pending | TaskStatus::Running => "is asked to stop",
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Lost => {
                "is stopped"
            }
        };
        render::out(&format!("{} {what}\n", render::line(one.as_str())));
    }
    if stopped.is_empty() {
        let already = if record.status.is_ended() { "" } else { " and asked to stop already" };
        render::out(&format!(
            "nothing to stop: {} is {}{already}\n",
            render::line(id.as_str()),
            record.status
        ));
    }
    Ok(Ending::Answered)
}

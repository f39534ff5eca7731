//! The tasks of a run: looked at, waited for, stopped and listed. Must not begin one.

use tokio::time::Instant;

use super::arguments::Given;
use super::background::told;
use crate::history::as_data;
use crate::run::RunScope;
use crate::task::{TaskId, TaskRecord, TaskStatus};
use crate::tools::ToolError;

/// Most tasks of one list.
const LISTED: usize = 200;
/// Most characters of a task's text in a list.
const TASK_CHARS: usize = 120;

/// `task_output`
pub(super) async fn output(scope: &RunScope, given: &Given) -> Result<String, ToolError> {
    let (id, wait) = (TaskId::from(given.required("task_id")?.trim()), given.wait_for_task()?);
    let mut record = scope.tasks.record(&id).await.map_err(ToolError::NotFound)?;
    if !record.status.is_ended() && !wait.is_zero() {
        let ended = scope.while_waiting(scope.tasks.wait(&id, Instant::now() + wait));
        record = tokio::select! {
            biased;
            () = scope.cancel.cancelled() => return Err(ToolError::Cancelled),
            ended = ended => ended.map_err(ToolError::Failed)?,
        };
    }
    if record.status.is_ended() {
        return told(&record, scope.result_cap.0);
    }
    let waited =
        if wait.is_zero() { String::new() } else { format!(" after {} ms of waiting", wait.as_millis()) };
    Ok(format!(
        "task_id: {id}\nagent_id: {}\nstatus: {}\nThe task has not ended{waited}. Its result comes to you by itself; `task_output` with `block` waits on.",
        as_data(&record.agent_id),
        record.status,
    ))
}

/// `task_cancel`
pub(super) async fn cancel(scope: &RunScope, given: &Given) -> Result<String, ToolError> {
    let id = TaskId::from(given.required("task_id")?.trim());
    let (stopped, record) = scope
        .while_waiting(scope.tasks.cancel(&id))
        .await
        .map_err(|error| ToolError::Failed(format!("nothing was stopped: {error}")))?;
    if stopped.is_empty() {
        let already = if record.cancel_requested && !record.status.is_ended() {
            " and being stopped already"
        } else {
            ""
        };
        return Ok(format!("There is nothing to stop: task {id} is {}{already}.", record.status));
    }
    let ids: Vec<String> = stopped.iter().map(ToString::to_string).collect();
    Ok(format!("Stopped: {}. Task {id} is {} now.", ids.join(", "), record.status))
}

/// `task_list`
pub(super) async fn list(scope: &RunScope, given: &Given) -> Result<String, ToolError> {
    let filter = match given.optional("status_filter")? {
        None | Some("all") => None,
        Some(word) => Some(status(word).ok_or_else(|| {
            given.invalid(&format!(
                "`status_filter` is pending, running, completed, failed, cancelled, lost or all, not `{}`",
                as_data(word)
            ))
        })?),
    };
    let mut records = scope.tasks.list().await.map_err(ToolError::Failed)?;
    records.retain(|record| filter.is_none_or(|status| record.status == status));
    if records.is_empty() {
        return Ok("There are no such tasks.".to_owned());
    }
    let left_out = records.len().saturating_sub(LISTED);
    let mut text: String = records.iter().take(LISTED).map(line).collect();
    if left_out > 0 {
        text.push_str(&format!("and {left_out} older ones\n"));
    }
    Ok(text)
}

fn line(record: &TaskRecord) -> String {
    let label =
        record.label.as_ref().map_or_else(String::new, |label| format!(", label: {}", on_one_line(label)));
    let parent =
        record.parent_task.as_ref().map_or_else(String::new, |parent| format!(", below task {parent}"));
    format!(
        "- task_id: {}, status: {}, agent_id: {}, agent_key: {}{label}{parent}, task: {}\n",
        record.id,
        record.status,
        on_one_line(&record.agent_id),
        record.agent_key,
        on_one_line(&record.task),
    )
}

fn on_one_line(text: &str) -> String {
    let line = as_data(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TASK_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

fn status(word: &str) -> Option<TaskStatus> {
    use TaskStatus::{Cancelled, Completed, Failed, Lost, Pending, Running};
    [Pending, Running, Completed, Failed, Cancelled, Lost]
        .into_iter()
        .find(|status| status.to_string() == word)
}

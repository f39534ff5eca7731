//! From an agent and a message to a task that is recorded and runs, and to what its parent reads of it. Must not choose
//! the agent.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::super::record::Handoff;
use super::super::way::Way;
use super::super::{Concluded, HandoffExecutor};
use crate::calls::Fault;
use crate::event::{HandoffEnd, HandoffStatus};
use crate::governance::Verdict;
use crate::history::{Arguments, ToolCall, as_data};
use crate::ids::SessionId;
use crate::run::RunScope;
use crate::session::SessionKey;
use crate::subagent::Subagent;
use crate::task::{End, SpawnedAgent, TaskHandle, TaskId, TaskOrder, TaskRecord, TaskStatus, framed};
use crate::tools::ToolError;

/// What a spawned agent's conversations are stored under: no tool can be called so.
const SPAWNED: &str = "spawned:";

/// A spawned agent, found and ready for a message.
#[derive(Debug)]
pub(super) struct Recipient {
    pub(super) key: String,
    pub(super) agent: SpawnedAgent,
    pub(super) subagent: Arc<Subagent>,
}

impl HandoffExecutor {
    /// Gives an agent a message as a task, and waits for its end at most this long.
    pub(super) async fn give(
        self: &Arc<Self>,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        to: Recipient,
        message: &str,
        wait: Duration,
    ) -> Result<String, ToolError> {
        // What no rule lets run is refused before there is a task of it.
        if let Verdict::Deny(denial) = scope.governance.verdict(&scope.rights, to.subagent.tool()) {
            return Err(denial.into());
        }
        scope.purse.room_for_a_run().map_err(|spent| ToolError::BudgetSpent(spent.to_string()))?;
        let order = TaskOrder {
            agent: to.agent.agent.clone(),
            agent_key: to.key.clone(),
            label: to.agent.label.clone(),
            task: message.to_owned(),
            user: scope.user.clone(),
            cancel: scope.cancel.child_token(),
            at_once: scope.purse.slots().has_room(),
        };
        let delegation = ToolCall {
            id: call.id.clone(),
            name: to.subagent.tool().clone(),
            arguments: Arguments::from(json!({"task": message}).to_string()),
        };
        let work = self.clone().task(scope.clone(), delegation, &to);
        let id = scope.tasks.begin(order, work).await.map_err(|error| {
            ToolError::Failed(format!("no task was started, since it could not be recorded: {error}"))
        })?;
        if wait.is_zero() {
            return Ok(started(&to, &id, "The task runs in the background."));
        }
        let ended = scope.while_waiting(scope.tasks.wait(&id, Instant::now() + wait));
        let record = tokio::select! {
            biased;
            () = scope.cancel.cancelled() => return Err(ToolError::Cancelled),
            ended = ended => ended.map_err(ToolError::Failed)?,
        };
        if record.status.is_ended() {
            return told(&record, scope.result_cap.0);
        }
        let note = format!(
            "The task has not ended within {} seconds, and goes on in the background.",
            wait.as_secs()
        );
        Ok(started(&to, &id, &note))
    }

    /// The work of a task: a delegation like any other, in the agent's own conversation.
    fn task(
        self: Arc<Self>,
        scope: Arc<RunScope>,
        call: ToolCall,
        to: &Recipient,
    ) -> impl FnOnce(TaskHandle) -> std::pin::Pin<Box<dyn Future<Output = End> + Send>> + use<> {
        let (subagent, session) = (to.subagent.clone(), to.agent.session.clone());
        let key = SessionKey { tool: format!("{SPAWNED}{}", to.key).into(), user: scope.user.clone() };
        move |handle| {
            let span = tracing::info_span!(
                "handoff",
                tool = %call.name,
                subagent = %subagent.name(),
                depth = scope.rights.depth().saturating_add(1),
                task_id = %handle.id,
                handoff_id = tracing::field::Empty,
                status = tracing::field::Empty,
                attempts = tracing::field::Empty,
            );
            let work = async move {
                let way = Way::spawned((key, session), handle);
                let mut handoff = Handoff::begin(&scope, &call, &subagent, way);
                let ended = self.carry_out(&mut handoff).await;
                let (concluded, end) = self.conclude(handoff, ended).await;
                end_of(concluded, end)
            };
            Box::pin(work.instrument(span))
        }
    }
}

/// What is recorded of a delegation's end.
fn end_of(concluded: Concluded, end: HandoffEnd) -> End {
    let HandoffEnd { status, output, error, worktree, .. } = end;
    match concluded {
        Ok(Ok(text)) => End::Completed(text),
        Ok(Err(_)) | Err(Fault::HandoffDenied { .. } | Fault::HandoffFailed { .. })
            if status == HandoffStatus::Cancelled =>
        {
            End::Cancelled { partial: output }
        }
        Ok(Err(error_text)) => {
            let cause = error.unwrap_or_else(|| error_text.to_string());
            let kept = worktree.map_or_else(String::new, |id| {
                format!("; what it did is kept in the worktree {id} (`deputy worktrees diff {id}`)")
            });
            End::Failed { error: format!("{cause}{kept}"), partial: output }
        }
        Err(fault) => End::Failed { error: fault.to_string(), partial: output },
    }
}

/// What a parent reads of a task that goes on.
fn started(to: &Recipient, id: &TaskId, note: &str) -> String {
    format!(
        "agent_key: {}\nagent_id: {}\nsession_id: {}\ntask_id: {id}\nstatus: running\n{note} Its result comes to you by itself before a later turn: go on with other work, and do not poll. `task_output` waits for it, `task_cancel` stops it.",
        to.key,
        as_data(to.agent.agent.as_str()),
        to.agent.session,
    )
}

/// What a parent reads of a task that has ended.
pub(super) fn told(record: &TaskRecord, cap: usize) -> Result<String, ToolError> {
    let text = framed(record, cap);
    match record.status {
        TaskStatus::Completed => Ok(text),
        _ => Err(ToolError::Failed(text)),
    }
}

/// What a parent reads of an agent that has no task yet.
pub(super) fn idle(to: &Recipient) -> String {
    format!(
        "agent_key: {}\nagent_id: {}\nsession_id: {}\nstatus: idle\nThe agent waits for a message: send it one with `agent_send`.",
        to.key,
        as_data(to.agent.agent.as_str()),
        to.agent.session,
    )
}

impl Recipient {
    /// A new agent of this declaration.
    pub(super) fn fresh(subagent: Arc<Subagent>, label: Option<&str>) -> Self {
        let session = SessionId::fresh_sub();
        let key = format!("agent:{}:{}", subagent.name(), session.as_str().trim_start_matches("sub-"));
        let agent = SpawnedAgent {
            agent: subagent.name().clone(),
            session,
            label: label.map(|label| label.trim().to_owned()),
        };
        Self { key, agent, subagent }
    }
}

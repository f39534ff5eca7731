//! The tools by which a run sets subagents to work beside itself and watches them: their names, how they read, and who
//! answers which. What they start is reviewed and run as every delegation is; must not run anything past that.

mod agents;
mod arguments;
mod background;
mod system_part;
mod tasks;

use std::sync::Arc;

use super::HandoffExecutor;
use crate::calls::{CallRecord, Fault};
use crate::history::ToolCall;
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::run::RunScope;
use crate::tools::ToolError;

pub(super) use system_part::system_part;

/// How deep a spawned agent may stand: the parent's own are at 1, whatever the handoff policy says.
const MAX_SPAWN_DEPTH: u32 = 3;

/// One of the tools that spawn and watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpawnTool {
    /// Makes an agent, and gives it its first task.
    Spawn,
    /// Sends an agent a further message.
    Send,
    /// Lists the agents.
    Agents,
    /// Shows how a task stands, and waits for it.
    Output,
    /// Stops a task.
    Cancel,
    /// Lists the tasks.
    Tasks,
}

impl SpawnTool {
    /// All of them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Spawn, Self::Send, Self::Agents, Self::Output, Self::Cancel, Self::Tasks];

    /// The name that models call it by.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spawn => "agent_spawn",
            Self::Send => "agent_send",
            Self::Agents => "agent_list",
            Self::Output => "task_output",
            Self::Cancel => "task_cancel",
            Self::Tasks => "task_list",
        }
    }

    /// The tool of exactly this name.
    pub(crate) fn of(name: &ToolName) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name.as_str())
    }

    /// How a model reads it.
    pub(super) fn description(self) -> ToolDescription {
        let (description, parameters) = match self {
            Self::Spawn => (
                "Makes an agent of its own conversation and gives it a task. Waits `timeout_seconds` for the answer; an agent that takes longer goes on in the background, and its result comes to you by itself. With 0 it starts in the background at once. Without `task` the agent waits for `agent_send`.",
                r#"{"type":"object","properties":{"agent_id":{"type":"string","description":"Which agent, by its id from the list of agents."},"task":{"type":"string","description":"What to do, whole: the agent sees nothing of this conversation."},"label":{"type":"string","description":"A short name of your own for the agent."},"timeout_seconds":{"type":"integer","minimum":0,"maximum":600,"default":30,"description":"How long to wait for the answer; 0 does not wait."}},"required":["agent_id"],"additionalProperties":false}"#,
            ),
            Self::Send => (
                "Sends a further message to an agent that `agent_spawn` made; it knows what was said before. Give either `agent_key`, whole as `agent_spawn` returned it, or `label`.",
                r#"{"type":"object","properties":{"agent_key":{"type":"string","description":"The key that `agent_spawn` returned; no agent id, session id or task id."},"label":{"type":"string","description":"The label that the agent was given."},"message":{"type":"string","description":"What to say."},"timeout_seconds":{"type":"integer","minimum":0,"maximum":600,"default":30,"description":"How long to wait for the answer; 0 does not wait."}},"required":["message"],"additionalProperties":false}"#,
            ),
            Self::Agents => (
                "Lists the agents that you have made, each with its key, its label and whether it is at work.",
                r#"{"type":"object","properties":{},"additionalProperties":false}"#,
            ),
            Self::Output => (
                "Shows the result of a background task, or how it stands. Waits for its end unless `block` is false. Results come to you by themselves: do not poll.",
                r#"{"type":"object","properties":{"task_id":{"type":"string","description":"The task, by its whole id."},"block":{"type":"boolean","default":true,"description":"Whether to wait for the end; false only looks."},"timeout":{"type":"integer","minimum":0,"maximum":600000,"default":30000,"description":"Milliseconds to wait at most."}},"required":["task_id"],"additionalProperties":false}"#,
            ),
            Self::Cancel => (
                "Stops a background task and everything that it started.",
                r#"{"type":"object","properties":{"task_id":{"type":"string","description":"The task, by its whole id."}},"required":["task_id"],"additionalProperties":false}"#,
            ),
            Self::Tasks => (
                "Lists your background tasks, newest first, each followed by those below it.",
                r#"{"type":"object","properties":{"status_filter":{"type":"string","enum":["pending","running","completed","failed","cancelled","lost","all"],"default":"all","description":"Only tasks in this state."}},"additionalProperties":false}"#,
            ),
        };
        ToolDescription {
            name: self.name().to_owned(),
            description: description.to_owned(),
            parameters: parameters.to_owned(),
        }
    }
}

impl HandoffExecutor {
    /// Answers a call of one of these tools, after a review as of every other call.
    pub(super) async fn manage(
        self: &Arc<Self>,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        tool: SpawnTool,
    ) -> Result<Result<String, ToolError>, Fault> {
        let record = CallRecord::begin(scope, call.id.clone(), call.name.clone(), || {
            call.arguments.as_str().to_owned()
        });
        let result = async {
            let permit = scope.review(&call.name, call.arguments.clone()).await?;
            let given = arguments::Given::read(tool, &permit.into_arguments())?;
            match tool {
                SpawnTool::Spawn => self.spawn(scope, call, &given).await,
                SpawnTool::Send => self.send(scope, call, &given).await,
                SpawnTool::Agents => agents::list(scope).await,
                SpawnTool::Output => tasks::output(scope, &given).await,
                SpawnTool::Cancel => tasks::cancel(scope, &given).await,
                SpawnTool::Tasks => tasks::list(scope, &given).await,
            }
        };
        let result = result.await;
        record.end(result.as_ref().err());
        Ok(result)
    }
}

//! `run_command` as the host's own agents have it: in the foreground the built-in tool, in the background a command
//! that `check_command` looks after. Must not run or shut in anything in a way of its own.

use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::{Arguments as _, RunCommand, ToolSpec, parse_arguments};
use serde::Deserialize;

use super::run_command::wanted;
use super::{
    CHECK_COMMAND, CallContext, Operation as _, OperationTool, RunCommandTool, Tool, ToolError, process,
};
use crate::governance::{Effect, Permit, Rights};
use crate::history::Arguments;
use crate::model::ToolDescription;

/// The built-in tool with one more argument, for runs that can check on what they start.
const SPEC: ToolSpec = ToolSpec {
    name: RunCommand::SPEC.name,
    description: "Runs a command line by /bin/sh in the workspace, confined to it, without network, terminal or input. Answers the exit code and the output; nothing that it starts outlives the call. With background true it answers at once with an id for check_command, and the command goes on until it ends, is stopped, or your run ends.",
    parameters: r#"{"type":"object","properties":{"command":{"type":"string","description":"Command line for /bin/sh."},"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit in milliseconds. Default 120000; in the background the most that is allowed."},"background":{"type":"boolean","description":"True: start it and go on, for servers, watchers and long builds. Default false."}},"required":["command"],"additionalProperties":false}"#,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaybeBackground {
    command: String,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    background: bool,
}

/// `run_command` with its argument `background`.
#[derive(Debug)]
pub struct BackgroundCommandTool {
    foreground: Arc<OperationTool<RunCommandTool>>,
    description: ToolDescription,
}

impl BackgroundCommandTool {
    /// Runs commands as `foreground` does.
    #[must_use]
    pub fn new(foreground: Arc<OperationTool<RunCommandTool>>) -> Self {
        Self { foreground, description: (&SPEC).into() }
    }
}

/// True where a run can look after what it starts in the background.
fn can_check(rights: &Rights) -> bool {
    rights.holds(CHECK_COMMAND)
}

#[async_trait]
impl Tool for BackgroundCommandTool {
    fn description(&self) -> &ToolDescription {
        &self.description
    }

    fn description_under(&self, rights: &Rights) -> &ToolDescription {
        if can_check(rights) { &self.description } else { self.foreground.description() }
    }

    fn effect(&self) -> Effect {
        self.foreground.effect()
    }

    async fn call(&self, permit: Permit<Arguments>, context: &CallContext) -> Result<String, ToolError> {
        // Whoever cannot check a command has the built-in tool, which knows no background.
        if !can_check(permit.rights()) {
            return self.foreground.call(permit, context).await;
        }
        let mut background = false;
        let permit = permit.try_map(|text| {
            let sent: MaybeBackground = parse_arguments(&SPEC, text.as_str())?;
            background = sent.background;
            Ok::<_, ToolError>(RunCommand { command: sent.command, timeout_ms: sent.timeout_ms })
        })?;
        let tool = self.foreground.operation();
        if !background {
            return Ok(tool.render(tool.run(permit, context).await?));
        }
        let mut context = context.clone();
        // All the time that a call may ask for: who waits in the background waits for nothing.
        context.limits.command_time = context.limits.command_time_max;
        let confinement = tool.confinement().clone();
        let prepared = process::prepare(&confinement, wanted(permit), &context)?;
        let longest = prepared.time_limit().as_secs_f64();
        let commands = context.background.clone();
        let command = commands.start(|command| async move {
            context.cancel = command.stop().clone();
            process::follow(&confinement, prepared, &context, &mut |live| command.said(live)).await
        })?;
        Ok(format!(
            "started in the background as `{id}`, for at most {longest} s; it ends with your run at the latest. Look after it with `{CHECK_COMMAND}`.",
            id = command.id()
        ))
    }
}

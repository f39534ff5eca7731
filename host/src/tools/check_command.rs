//! `check_command`: how a command in the background goes, what it wrote since, and its end. Must not start one.

use std::fmt::Write as _;
use std::time::Duration;

use async_trait::async_trait;
use deputy_contract::{ToolSpec, parse_arguments};
use serde::Deserialize;

use super::background::{BackgroundCommand, Ended};
use super::{CallContext, Tool, ToolError};
use crate::governance::{Effect, Permit};
use crate::history::Arguments;
use crate::model::ToolDescription;

/// The tool's name.
pub(crate) const CHECK_COMMAND: &str = "check_command";

/// The longest wait of one call.
const WAIT_SECONDS: u64 = 60;

/// Room for what stands beside the output.
const FRAME_BYTES: usize = 1024;

const SPEC: ToolSpec = ToolSpec {
    name: CHECK_COMMAND,
    description: "Looks after a command that run_command started in the background: says whether it runs or how it ended, and gives its output since the last check. Can wait for its end, and can stop it with all that it started.",
    parameters: r#"{"type":"object","properties":{"command_id":{"type":"string","description":"The id that run_command answered."},"wait_seconds":{"type":"integer","minimum":0,"maximum":60,"description":"How long to wait for its end. Default 0."},"stop":{"type":"boolean","description":"True: stop it. Default false."}},"required":["command_id"],"additionalProperties":false}"#,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckCommand {
    command_id: String,
    #[serde(default)]
    wait_seconds: u64,
    #[serde(default)]
    stop: bool,
}

/// The tool.
#[derive(Debug)]
pub struct CheckCommandTool {
    description: ToolDescription,
}

impl Default for CheckCommandTool {
    fn default() -> Self {
        Self { description: (&SPEC).into() }
    }
}

#[async_trait]
impl Tool for CheckCommandTool {
    fn description(&self) -> &ToolDescription {
        &self.description
    }

    fn effect(&self) -> Effect {
        Effect::Manage
    }

    async fn call(&self, permit: Permit<Arguments>, context: &CallContext) -> Result<String, ToolError> {
        let asked: CheckCommand = parse_arguments(&SPEC, permit.into_arguments().as_str())?;
        if asked.wait_seconds > WAIT_SECONDS {
            return Err(ToolError::InvalidArguments(format!(
                "`wait_seconds` is {}, expected 0 to {WAIT_SECONDS}: check again for more",
                asked.wait_seconds
            )));
        }
        let command = context.background.get(&asked.command_id)?;
        let ended_before = command.ended().is_some();
        if asked.stop {
            command.stop().cancel();
        }
        let end = async {
            if asked.stop {
                // Dead means that nothing of it is left, which takes no longer than ending it does.
                command.wait().await;
            } else {
                let _ = tokio::time::timeout(Duration::from_secs(asked.wait_seconds), command.wait()).await;
            }
        };
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled),
            () = end => {}
        }
        let mut text = render(&command, context.limits.result_bytes.saturating_sub(FRAME_BYTES));
        if asked.stop && ended_before {
            text.push_str("\n[there was nothing to stop]");
        }
        Ok(text)
    }
}

/// The state, the output since, and what else is to be said.
fn render(command: &BackgroundCommand, most: usize) -> String {
    // The end first: what was written until then is all there by now.
    let ended = command.ended();
    let output = command.take(most);
    let mut text = match &ended {
        None => format!("`{}` has been running for {} s\n", command.id(), command.running_for().as_secs()),
        Some(ended) => {
            format!("`{}` ended after {} s: {}\n", command.id(), ended.after.as_secs(), how(ended))
        }
    };
    if output.left_out > 0 {
        // Writing to a string does not fail.
        let _ = writeln!(text, "[{} bytes of output left out here]", output.left_out);
    }
    match (output.text.is_empty(), output.left_out) {
        (true, 0) => text.push_str("(no new output)"),
        _ => text.push_str(&output.text),
    }
    let note = ended.and_then(|ended| ended.how.ok()).map(|finished| finished.note).unwrap_or_default();
    if !note.is_empty() {
        let _ = write!(text, "\n[{note}]");
    }
    if output.waiting > 0 {
        let _ = write!(text, "\n[{} bytes of output more: check again]", output.waiting);
    }
    text
}

fn how(ended: &Ended) -> String {
    match &ended.how {
        Ok(finished) => match finished.exit_code {
            Some(code) => format!("exit code: {code}"),
            None => "exit code: none".to_owned(),
        },
        Err(ToolError::Cancelled) => "it was stopped".to_owned(),
        Err(error) => error.to_string(),
    }
}

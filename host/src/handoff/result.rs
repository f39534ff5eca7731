//! What the parent reads of a delegation: a JSON object whose `output` is data, never speech of the host's.
//! Must not decide what a failure leads to.

use serde_json::{Map, Value, json};

use super::input::TaskInput;
use crate::event::RunStatus;
use crate::history::as_data;
use crate::sandbox::{EndCause, Outcome};
use crate::subagent::Subagent;
use crate::tools::ToolError;

/// The result of a delegation, as the parent's model reads it.
///
/// # Errors
/// A [`ToolError`] where there is no answer; its text carries what there was of one.
pub fn result_for_parent(
    subagent: &Subagent,
    outcome: &Outcome,
    turns: u32,
    input: &TaskInput,
) -> Result<String, ToolError> {
    match outcome {
        Outcome::Answered { text } => Ok(answer(subagent, "completed", &as_data(text), turns, input)),
        Outcome::Stopped { cause: cause @ EndCause::AtLimit { .. }, partial: Some(partial) } => {
            let output = format!("[partial result: {cause}]\n{}", as_data(partial));
            Ok(answer(subagent, "partial", &output, turns, input))
        }
        Outcome::Stopped { cause: EndCause::Cancelled, .. } => Err(ToolError::Cancelled),
        Outcome::Stopped { cause, partial } => {
            let mut text =
                format!("subagent `{}` gave no answer: {}", subagent.name, as_data(&cause.to_string()));
            if let Some(partial) = partial {
                text.push_str("\n[partial result, from before it ended]\n");
                text.push_str(&as_data(partial));
            }
            Err(if outcome.status() == RunStatus::TimedOut {
                ToolError::TimedOut(text)
            } else {
                ToolError::Failed(text)
            })
        }
    }
}

fn answer(subagent: &Subagent, status: &str, output: &str, turns: u32, input: &TaskInput) -> String {
    let mut object = Map::new();
    object.insert("subagent".to_owned(), json!(subagent.name.as_str()));
    object.insert("tool_name".to_owned(), json!(subagent.tool_name.as_str()));
    object.insert("status".to_owned(), json!(status));
    object.insert("output".to_owned(), json!(output));
    object.insert("steps".to_owned(), json!(turns));
    if let Some(note) = input.note() {
        object.insert("note".to_owned(), json!(note));
    }
    Value::Object(object).to_string()
}

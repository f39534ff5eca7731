//! A model that follows a script: the same words to the same questions, without a network or a key.
//! `docs/scripted-model.md` describes the script. Must not know what tools there are.

mod fill;
mod script;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

pub use script::ScriptError;

use self::script::{Script, Step};
use super::{Model, ModelError, StopReason, Turn, TurnRequest};
use crate::history::{AssistantMessage, History, Message, Part, ToolCall};
use crate::ids::CallId;
use crate::usage::Usage;

/// Most characters of what was said that an error repeats.
const SHOWN: usize = 300;

/// A model that answers from a script.
#[derive(Debug)]
pub struct ScriptedModel {
    script: Script,
    used: Mutex<Vec<bool>>,
}

impl ScriptedModel {
    /// Reads the script in `file`.
    ///
    /// # Errors
    /// [`ScriptError`] where the file cannot be read or is no script; it names the step.
    pub fn load(file: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| ScriptError::Unreadable { file: file.to_owned(), source })?;
        Self::parse(file, &text)
    }

    /// Reads the script in `text`; errors name it `file`.
    ///
    /// # Errors
    /// [`ScriptError`] where the text is no script; it names the step.
    pub fn parse(file: &Path, text: &str) -> Result<Self, ScriptError> {
        let script = Script::parse(file, text)?;
        let used = Mutex::new(vec![false; script.steps.len()]);
        Ok(Self { script, used })
    }

    /// The next step for that speaker whose `said` fits, used up from now on unless it repeats.
    fn next(&self, speaker: &str, said: &str) -> Result<&Step, ModelError> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = None;
        for (step, used) in self.script.steps.iter().zip(used.iter_mut()) {
            if *used || step.speaker != speaker {
                continue;
            }
            if step.said.iter().all(|part| said.contains(part.as_str())) {
                *used = !step.repeat;
                return Ok(step);
            }
            first = first.or(Some(step));
        }
        let file = self.script.file.display();
        Err(ModelError::Script(match first {
            Some(step) => format!(
                "no step of script {file} fits what was said to `{speaker}`: step {} expects {}, but what \
                 was said is `{}`",
                step.number,
                missing(&step.said, said),
                shortened(said),
            ),
            None if self.script.steps.iter().any(|step| step.speaker == speaker) => format!(
                "script {file} has no more steps for `{speaker}`, but was told `{}`; add a step, or \
                 `\"repeat\": true` to the last one",
                shortened(said),
            ),
            None => format!(
                "script {file} has no step for `{speaker}`, only for {}; what was said is `{}`",
                self.script.speakers(),
                shortened(said),
            ),
        }))
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn name(&self) -> String {
        format!("scripted:{}", self.script.file.display())
    }

    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        if request.cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let said = said_last(request.history);
        let step = self.next(request.speaker, &said)?;
        tokio::select! {
            biased;
            () = request.cancel.cancelled() => return Err(ModelError::Cancelled),
            () = tokio::time::sleep(step.delay) => {}
        }
        if let Some(message) = &step.fail {
            return Err(ModelError::Reported { message: message.clone(), transient: false });
        }
        let turn = self.answer(step, &said)?;
        let text = turn.message.text();
        if !text.is_empty() {
            request.observer.text(&text);
        }
        Ok(turn)
    }
}

impl ScriptedModel {
    fn answer(&self, step: &Step, said: &str) -> Result<Turn, ModelError> {
        let at_step = |reason: String| {
            ModelError::Script(format!(
                "step {} of script {}: {reason}",
                step.number,
                self.script.file.display()
            ))
        };
        let taken = fill::take(&step.take, said)
            .map_err(|reason| at_step(format!("{reason}, but what was said is `{}`", shortened(said))))?;
        let mut parts = Vec::new();
        if let Some(answer) = &step.answer {
            parts.push(Part::Text(fill::text(answer, &taken).map_err(at_step)?));
        }
        for call in &step.calls {
            parts.push(Part::Call(ToolCall {
                id: call.id.as_deref().map_or_else(CallId::made_up, CallId::new),
                name: call.tool.as_str().into(),
                arguments: fill::arguments(&call.arguments, &taken).map_err(at_step)?.into(),
            }));
        }
        let message = AssistantMessage { parts };
        let written: usize = message.calls().map(|call| call.arguments.as_str().len()).sum();
        let estimate = Usage::estimate(said.len(), written + message.text().len());
        let stop = if step.calls.is_empty() { StopReason::End } else { StopReason::ToolCalls };
        Ok(Turn { message, stop, usage: step.usage.unwrap_or(estimate) })
    }
}

/// Everything after the last assistant message, one text a line.
fn said_last(history: &History) -> String {
    let texts: Vec<&str> = history
        .entries()
        .iter()
        .rev()
        .map_while(|entry| match entry.message() {
            Message::User { text } => Some(text.as_str()),
            Message::Tool(result) => Some(result.text.as_str()),
            Message::Assistant(_) => None,
        })
        .collect();
    texts.into_iter().rev().collect::<Vec<_>>().join("\n")
}

fn missing(expected: &[String], said: &str) -> String {
    let missing: Vec<String> = expected
        .iter()
        .filter(|part| !said.contains(part.as_str()))
        .map(|part| format!("`{part}`"))
        .collect();
    missing.join(" and ")
}

fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}... ({count} characters)")
}

#[cfg(test)]
mod tests;

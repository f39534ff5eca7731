//! A model whose turns come from a closure over who speaks and what was said last.

use std::fmt;
use std::sync::Arc;

use deputy::history::{AssistantMessage, Message, Part, ToolCall};
use deputy::model::{Model, ModelError, StopReason, Turn, TurnRequest};
use deputy::usage::Usage;

type Answer = dyn Fn(&TurnRequest<'_>, &str) -> Result<Turn, ModelError> + Send + Sync;

/// A model made of a closure.
pub(crate) struct FnModel(Box<Answer>);

impl FnModel {
    pub(crate) fn new(
        answer: impl Fn(&TurnRequest<'_>, &str) -> Result<Turn, ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self(Box::new(answer)))
    }
}

impl fmt::Debug for FnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnModel")
    }
}

#[async_trait::async_trait]
impl Model for FnModel {
    fn name(&self) -> String {
        "closure".to_owned()
    }

    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        let last = request.history.entries().last().expect("something was said");
        let text = match last.message() {
            Message::User { text } => text.clone(),
            Message::Tool(result) => result.text.clone(),
            Message::Assistant(_) => panic!("a turn follows a user message or results"),
        };
        (self.0)(&request, &text)
    }
}

fn turn(parts: Vec<Part>, stop: StopReason) -> Turn {
    let usage = Usage { input_tokens: 10, output_tokens: 1, ..Usage::default() };
    Turn { message: AssistantMessage { parts }, stop, usage }
}

/// A turn of text.
pub(crate) fn says(text: &str) -> Result<Turn, ModelError> {
    Ok(turn(vec![Part::Text(text.to_owned())], StopReason::End))
}

/// A turn of calls: tool and arguments.
pub(crate) fn calls(calls: &[(&str, serde_json::Value)]) -> Result<Turn, ModelError> {
    let parts = calls.iter().enumerate().map(|(at, (tool, arguments))| {
        Part::Call(ToolCall {
            id: format!("call_{at}").into(),
            name: (*tool).into(),
            arguments: arguments.to_string().into(),
        })
    });
    Ok(turn(parts.collect(), StopReason::ToolCalls))
}

/// A turn of text and calls.
pub(crate) fn calls_after(text: &str, asked: &[(&str, serde_json::Value)]) -> Result<Turn, ModelError> {
    let mut turn = calls(asked)?;
    turn.message.parts.insert(0, Part::Text(text.to_owned()));
    Ok(turn)
}

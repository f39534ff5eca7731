//! The OpenAI chat-completions wire: request bodies, and where answers are read. Does no IO.

use serde::Serialize;
use serde_json::json as value;
use serde_json::value::RawValue;

use super::assemble::{Assembler, OpenAiAssembler, openai_body};
use super::transport::Protocol;
use super::wire::{json, parameters, replayed_arguments, replayed_name};
use super::{ModelError, Turn, TurnRequest};
use crate::history::{AssistantMessage, Message, WireFormat};

/// Chat completions of one model.
#[derive(Clone, Debug)]
pub(super) struct OpenAi {
    /// The model's name.
    pub model: String,
    /// Whether the answer comes as a stream.
    pub stream: bool,
    /// Most tokens of an answer, and the field that says so: servers differ in its name.
    pub max_tokens: Option<(&'static str, u32)>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Box<RawValue>,
}

impl Protocol for OpenAi {
    fn body(&self, request: &TurnRequest<'_>) -> Result<String, ModelError> {
        let mut body = format!(r#"{{"model":{},"messages":["#, json(&self.model));
        let mut first = true;
        let mut push = |message: &str| {
            if !std::mem::take(&mut first) {
                body.push(',');
            }
            body.push_str(message);
        };
        if !request.system.trim().is_empty() {
            push(&value!({"role": "system", "content": request.system}).to_string());
        }
        for entry in request.history.entries() {
            push(&entry.wire(WireFormat::ChatCompletions, message));
        }
        body.push(']');
        if !request.tools.is_empty() {
            let tools = request
                .tools
                .iter()
                .map(|tool| {
                    let function = Function {
                        name: &tool.name,
                        description: &tool.description,
                        parameters: parameters(tool)?,
                    };
                    Ok(Tool { r#type: "function", function })
                })
                .collect::<Result<Vec<_>, ModelError>>()?;
            body.push_str(&format!(
                r#","tools":{},"parallel_tool_calls":{}"#,
                json(&tools),
                request.parallel_tool_calls
            ));
        }
        if let Some((field, tokens)) = self.max_tokens {
            body.push_str(&format!(r#","{field}":{tokens}"#));
        }
        body.push_str(if self.stream {
            r#","stream":true,"stream_options":{"include_usage":true}}"#
        } else {
            r#","stream":false}"#
        });
        Ok(body)
    }

    fn streams(&self) -> bool {
        self.stream
    }

    fn assembler(&self, turn_cap: usize) -> Box<dyn Assembler> {
        Box::new(OpenAiAssembler::new(turn_cap))
    }

    fn whole(&self, body: &str, turn_cap: usize, request_bytes: usize) -> Result<Turn, ModelError> {
        openai_body(body, turn_cap, request_bytes)
    }
}

/// One message of the history.
fn message(message: &Message) -> String {
    match message {
        Message::User { text } => value!({"role": "user", "content": text}),
        Message::Assistant(turn) => assistant(turn),
        Message::Tool(result) => {
            let text = if result.is_error { format!("error: {}", result.text) } else { result.text.clone() };
            value!({"role": "tool", "tool_call_id": result.call_id, "content": text})
        }
    }
    .to_string()
}

fn assistant(turn: &AssistantMessage) -> serde_json::Value {
    let calls: Vec<_> = turn
        .calls()
        .map(|call| {
            value!({
                "id": call.id,
                "type": "function",
                "function": {
                    "name": replayed_name(call.name.as_str()),
                    "arguments": replayed_arguments(&call.arguments),
                },
            })
        })
        .collect();
    let text = turn.text();
    if calls.is_empty() {
        // A message with neither is refused where its content is null.
        return value!({"role": "assistant", "content": text});
    }
    let content = Some(text).filter(|text| !text.is_empty());
    value!({"role": "assistant", "content": content, "tool_calls": calls})
}

//! The Anthropic messages wire: request bodies, and where answers are read. Does no IO.

use serde::Serialize;
use serde_json::json as value;
use serde_json::value::RawValue;

use super::assemble::{AnthropicAssembler, Assembler, anthropic_body};
use super::transport::Protocol;
use super::wire::{json, parameters, replayed_arguments, replayed_name};
use super::{ModelError, Turn, TurnRequest};
use crate::history::{Entry, History, Message, Part, WireFormat};

/// Where the provider may cut what it caches.
const BREAKPOINT: &str = r#""cache_control":{"type":"ephemeral"}"#;

/// Messages of one model.
#[derive(Clone, Debug)]
pub(super) struct Anthropic {
    /// The model's name.
    pub model: String,
    /// Whether the answer comes as a stream.
    pub stream: bool,
    /// Most tokens of an answer.
    pub max_tokens: u32,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Box<RawValue>,
}

impl Protocol for Anthropic {
    fn body(&self, request: &TurnRequest<'_>) -> Result<String, ModelError> {
        let mut body = format!(r#"{{"model":{},"max_tokens":{}"#, json(&self.model), self.max_tokens);
        if !request.system.trim().is_empty() {
            body.push_str(&format!(
                r#","system":[{{"type":"text","text":{},{BREAKPOINT}}}]"#,
                json(&request.system)
            ));
        }
        body.push_str(&format!(r#","messages":[{}]"#, messages(request.history)));
        if !request.tools.is_empty() {
            let tools = request
                .tools
                .iter()
                .map(|tool| {
                    Ok(Tool {
                        name: &tool.name,
                        description: &tool.description,
                        input_schema: parameters(tool)?,
                    })
                })
                .collect::<Result<Vec<_>, ModelError>>()?;
            body.push_str(&format!(r#","tools":{}"#, json(&tools)));
            if !request.parallel_tool_calls {
                body.push_str(r#","tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#);
            }
        }
        body.push_str(&format!(r#","stream":{}}}"#, self.stream));
        Ok(body)
    }

    fn streams(&self) -> bool {
        self.stream
    }

    fn assembler(&self, turn_cap: usize) -> Box<dyn Assembler> {
        Box::new(AnthropicAssembler::new(turn_cap))
    }

    fn whole(&self, body: &str, turn_cap: usize, request_bytes: usize) -> Result<Turn, ModelError> {
        anthropic_body(body, turn_cap, request_bytes)
    }
}

/// The messages, joined by commas. Users and assistants take turns: what follows one another on one
/// side becomes one message, results first.
fn messages(history: &History) -> String {
    let mut sides: Vec<Side> = Vec::new();
    for entry in history.entries() {
        let blocks = entry.wire(WireFormat::AnthropicMessages, blocks);
        // A turn without content would be refused.
        if blocks.is_empty() {
            continue;
        }
        let role = role(entry);
        match sides.last_mut() {
            Some(side) if side.role == role => side.add(entry, &blocks),
            _ => {
                let mut side = Side { role, results: String::new(), others: String::new() };
                side.add(entry, &blocks);
                sides.push(side);
            }
        }
    }
    let last = sides.len().saturating_sub(1);
    let messages: Vec<String> =
        sides.into_iter().enumerate().map(|(at, side)| side.message(at == last)).collect();
    messages.join(",")
}

/// What one side says before the other one speaks.
struct Side {
    role: &'static str,
    results: String,
    others: String,
}

impl Side {
    fn add(&mut self, entry: &Entry, blocks: &str) {
        let to = match entry.message() {
            Message::Tool(_) => &mut self.results,
            Message::User { .. } | Message::Assistant(_) => &mut self.others,
        };
        if !to.is_empty() {
            to.push(',');
        }
        to.push_str(blocks);
    }

    fn message(self, last: bool) -> String {
        let comma = if self.results.is_empty() || self.others.is_empty() { "" } else { "," };
        let mut blocks = [self.results, self.others].join(comma);
        // Only texts and results may carry a breakpoint, and what the assistant said last may be neither.
        if last && self.role == "user" && blocks.pop() == Some('}') {
            blocks.push_str(&format!(",{BREAKPOINT}}}"));
        }
        format!(r#"{{"role":"{}","content":[{blocks}]}}"#, self.role)
    }
}

fn role(entry: &Entry) -> &'static str {
    match entry.message() {
        Message::User { .. } | Message::Tool(_) => "user",
        Message::Assistant(_) => "assistant",
    }
}

/// The content blocks of one message, joined by commas.
fn blocks(message: &Message) -> String {
    match message {
        Message::User { text } => {
            let text = if text.trim().is_empty() { "(empty)" } else { text };
            value!({"type": "text", "text": text}).to_string()
        }
        Message::Tool(result) => {
            let mut block = value!({
                "type": "tool_result",
                "tool_use_id": replayed_id(result.call_id.as_str()),
                "content": result.text,
            });
            if let (true, Some(block)) = (result.is_error, block.as_object_mut()) {
                block.insert("is_error".to_owned(), true.into());
            }
            block.to_string()
        }
        Message::Assistant(turn) => {
            let blocks: Vec<String> = turn.parts.iter().filter_map(block).collect();
            blocks.join(",")
        }
    }
}

fn block(part: &Part) -> Option<String> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(value!({"type": "text", "text": text}).to_string()),
        Part::Call(call) => Some(format!(
            r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
            json(&replayed_id(call.id.as_str())),
            json(&replayed_name(call.name.as_str())),
            replayed_arguments(&call.arguments),
        )),
        Part::Opaque { format: WireFormat::AnthropicMessages, json } => Some(json.get().to_owned()),
        Part::Opaque { .. } => None,
    }
}

/// A call id in the letters that the API takes; one of its own stays as it is.
fn replayed_id(id: &str) -> String {
    let mut replayed = String::with_capacity(id.len());
    for c in id.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            replayed.push(c);
        } else {
            replayed.push_str(&format!("_{:x}_", u32::from(c)));
        }
    }
    replayed
}

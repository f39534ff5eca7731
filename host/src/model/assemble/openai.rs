//! Chat completions: turns from chunks or from one body, as OpenAI and the many servers that speak its
//! language send them. Strict in what makes a turn whole, lenient in everything else.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{CallFragments, Fragment};
use super::reported::reported;
use super::turn::{DraftPart, whole_turn};
use super::usage::UsageSeen;
use super::{Assembler, Budget, Step, incomplete, unreadable};
use crate::model::sse::SseEvent;
use crate::model::{ModelError, StopReason, Turn};

/// A chunk of a stream, or a whole body: the two differ in the name of one field.
#[derive(Debug, Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<Value>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(default)]
    finish_reason: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Delta<'a> {
    #[serde(default)]
    content: Option<Value>,
    #[serde(default)]
    refusal: Option<Value>,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Debug, Deserialize)]
struct CallDelta<'a> {
    #[serde(default)]
    index: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(borrow, default)]
    function: Option<FunctionDelta<'a>>,
}

#[derive(Debug, Deserialize)]
struct FunctionDelta<'a> {
    #[serde(default)]
    name: Option<Value>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// Builds a turn from chat-completion chunks.
#[derive(Debug)]
pub(in crate::model) struct OpenAiAssembler {
    budget: Budget,
    text: String,
    refused: bool,
    calls: CallFragments,
    deltas: u64,
    stop: Option<StopReason>,
    usage: UsageSeen,
    /// An event came that was cut off.
    broken: bool,
    done: bool,
}

/// The turn in a body that came whole.
pub(in crate::model) fn openai_body(
    body: &str,
    turn_cap: usize,
    request_bytes: usize,
) -> Result<Turn, ModelError> {
    let mut assembler = OpenAiAssembler::new(turn_cap);
    let chunk: Chunk<'_> =
        serde_json::from_str(body).map_err(|error| unreadable("a chat completion", &error, body))?;
    if chunk.error.as_ref().is_none_or(is_nothing) && chunk.choices.as_ref().is_none_or(Vec::is_empty) {
        return Err(incomplete("the chat completion has no choices"));
    }
    assembler.chunk(chunk)?;
    assembler.done = true;
    Box::new(assembler).finish(request_bytes)
}

impl OpenAiAssembler {
    /// An assembler for turns of at most `turn_cap` bytes.
    pub(in crate::model) fn new(turn_cap: usize) -> Self {
        Self {
            budget: Budget::new(turn_cap),
            text: String::new(),
            refused: false,
            calls: CallFragments::default(),
            deltas: 0,
            stop: None,
            usage: UsageSeen::default(),
            broken: false,
            done: false,
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) -> Result<Step, ModelError> {
        if let Some(error) = chunk.error.filter(|error| !is_nothing(error)) {
            return Err(reported(&error));
        }
        if let Some(usage) = &chunk.usage {
            self.usage.openai(usage);
        }
        let mut text = String::new();
        for choice in chunk.choices.into_iter().flatten() {
            // We ask for one choice; a second one would be another turn.
            if choice.index.as_ref().and_then(Value::as_u64).unwrap_or(0) != 0 {
                continue;
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.delta(delta, &mut text)?;
            }
            let reason = choice.finish_reason.as_ref().and_then(Value::as_str);
            if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                self.stop = Some(stop_reason(reason));
            }
        }
        self.text.push_str(&text);
        Ok(Step::text(text))
    }

    fn delta(&mut self, delta: Delta<'_>, text: &mut String) -> Result<(), ModelError> {
        let before = text.len();
        push_text(delta.content.as_ref(), text);
        let content = text.len();
        push_text(delta.refusal.as_ref(), text);
        self.refused |= text.len() > content;
        self.budget.spend(text.len() - before)?;
        self.deltas += 1;
        for call in delta.tool_calls.into_iter().flatten() {
            let (name, arguments) = match call.function {
                Some(function) => (function.name, function.arguments.map(arguments_text).transpose()?),
                None => (None, None),
            };
            let fragment = Fragment {
                index: call.index.as_ref().and_then(Value::as_u64),
                id: word(call.id),
                name: word(name),
                arguments,
            };
            self.calls.take(fragment, self.deltas, &mut self.budget)?;
        }
        Ok(())
    }
}

impl Assembler for OpenAiAssembler {
    fn take(&mut self, event: &SseEvent) -> Result<Step, ModelError> {
        let data = event.data.trim();
        if self.done || data.is_empty() {
            return Ok(Step::Quiet);
        }
        if event.event.as_deref() == Some("error") {
            // Half a chunk may stand before the error, so that the two are no JSON together.
            let last_line = data.lines().next_back().unwrap_or(data);
            let error = serde_json::from_str(data)
                .or_else(|_| serde_json::from_str(last_line))
                .unwrap_or_else(|_| Value::String(data.to_owned()));
            return Err(reported(error.get("error").unwrap_or(&error)));
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(Step::Done);
        }
        match serde_json::from_str(data) {
            Ok(chunk) if !self.broken => self.chunk(chunk),
            Ok(Chunk { error: Some(error), .. }) if !is_nothing(&error) => Err(reported(&error)),
            Ok(_) => Err(incomplete("a chunk in the middle of the stream was cut off")),
            Err(_) if !event.whole => {
                self.broken = true;
                Ok(Step::Quiet)
            }
            Err(error) => Err(unreadable("a chunk of a chat completion", &error, data)),
        }
    }

    fn finish(self: Box<Self>, request_bytes: usize) -> Result<Turn, ModelError> {
        let nothing_came = self.text.is_empty() && self.calls.is_empty() && self.stop.is_none();
        if nothing_came || (self.stop.is_none() && !self.done) {
            return Err(incomplete(if self.calls.is_empty() {
                "the stream ended without a finish reason"
            } else {
                "the stream ended inside a tool call"
            }));
        }
        let stop = if self.refused { Some(StopReason::Refused) } else { self.stop };
        let mut parts = vec![DraftPart::Text(self.text)];
        parts.extend(self.calls.into_calls().map(DraftPart::Call));
        whole_turn(parts, stop, self.usage, request_bytes)
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::End,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" => StopReason::Length,
        "content_filter" => StopReason::Refused,
        _ => StopReason::Other,
    }
}

/// Servers fill an absent `error` in several ways.
fn is_nothing(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Adds a text, or the text parts of a list.
fn push_text(content: Option<&Value>, text: &mut String) {
    match content {
        Some(Value::String(piece)) => text.push_str(piece),
        Some(Value::Array(parts)) => {
            for part in parts {
                let of = |field| part.get(field).and_then(Value::as_str);
                text.push_str(of("text").or_else(|| of("refusal")).unwrap_or_default());
            }
        }
        _ => {}
    }
}

/// A word that is not empty; some servers send numbers as ids.
fn word(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The text inside a JSON string, or the JSON itself where a server sends an object.
fn arguments_text(raw: &RawValue) -> Result<String, ModelError> {
    let json = raw.get();
    if !json.starts_with('"') {
        return Ok(json.to_owned());
    }
    serde_json::from_str(json).map_err(|error| unreadable("the arguments of a tool call", &error, json))
}

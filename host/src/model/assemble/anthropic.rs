//! Anthropic messages: turns from events or from one body. Blocks that only Anthropic understands are
//! kept as they came.

mod block;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use self::block::Block;
use super::reported::reported;
use super::turn::whole_turn;
use super::usage::UsageSeen;
use super::{Assembler, Budget, Step, incomplete, unreadable};
use crate::model::sse::SseEvent;
use crate::model::{ModelError, StopReason, Turn};

/// What a block costs of a turn's bytes, beside its text: bounds the number of blocks.
const BLOCK_BYTES: usize = 1024;

/// Any event of a stream.
#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", default)]
    kind: Option<Value>,
    #[serde(default)]
    index: Option<Value>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(default)]
    delta: Option<Value>,
    #[serde(default)]
    message: Option<Value>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

/// A whole message.
#[derive(Debug, Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    stop_reason: Option<Value>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

/// Builds a turn from the events of a message stream.
#[derive(Debug)]
pub(in crate::model) struct AnthropicAssembler {
    budget: Budget,
    blocks: Vec<Numbered>,
    stop: Option<StopReason>,
    usage: UsageSeen,
    /// An event came that was cut off.
    broken: bool,
    done: bool,
}

#[derive(Debug)]
struct Numbered {
    index: Option<u64>,
    open: bool,
    block: Block,
}

/// The turn in a body that came whole.
pub(in crate::model) fn anthropic_body(
    body: &str,
    turn_cap: usize,
    request_bytes: usize,
) -> Result<Turn, ModelError> {
    let unreadable = |error| unreadable("a message", &error, body);
    let message: Body<'_> = serde_json::from_str(body).map_err(unreadable)?;
    if let Some(error) = message.error.filter(|error| !error.is_null()) {
        return Err(reported(&error));
    }
    let Some(content) = message.content else {
        return Err(incomplete("the message has no content"));
    };
    let mut assembler = AnthropicAssembler::new(turn_cap);
    if content.get().starts_with('"') {
        let text: String = serde_json::from_str(content.get()).map_err(unreadable)?;
        assembler.budget.spend(text.len())?;
        assembler.blocks.push(Numbered { index: None, open: false, block: Block::Text(text) });
    } else {
        let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).map_err(unreadable)?;
        for block in blocks {
            assembler.start(None, block)?;
        }
    }
    assembler.stop_reason(message.stop_reason.as_ref());
    if let Some(usage) = &message.usage {
        assembler.usage.anthropic(usage);
    }
    assembler.done = true;
    Box::new(assembler).finish(request_bytes)
}

impl AnthropicAssembler {
    /// An assembler for turns of at most `turn_cap` bytes.
    pub(in crate::model) fn new(turn_cap: usize) -> Self {
        Self {
            budget: Budget::new(turn_cap),
            blocks: Vec::new(),
            stop: None,
            usage: UsageSeen::default(),
            broken: false,
            done: false,
        }
    }

    fn event(&mut self, event: &Event<'_>, name: Option<&str>) -> Result<Step, ModelError> {
        let kind = event.kind.as_ref().and_then(Value::as_str).or(name).unwrap_or_default();
        let index = event.index.as_ref().and_then(Value::as_u64);
        match kind {
            "message_start" => {
                if let Some(usage) = event.message.as_ref().and_then(|message| message.get("usage")) {
                    self.usage.anthropic(usage);
                }
                Ok(Step::Quiet)
            }
            "content_block_start" => match event.content_block {
                Some(block) => self.start(index, block),
                None => Err(ModelError::Protocol {
                    reason: "expected a `content_block` in `content_block_start`, none came".to_owned(),
                }),
            },
            "content_block_delta" => self.delta(index, event.delta.as_ref()),
            "content_block_stop" => {
                if let Some(at) = self.position(index)
                    && let Some(numbered) = self.blocks.get_mut(at)
                {
                    numbered.open = false;
                }
                Ok(Step::Quiet)
            }
            "message_delta" => {
                self.stop_reason(event.delta.as_ref().and_then(|delta| delta.get("stop_reason")));
                if let Some(usage) = &event.usage {
                    self.usage.anthropic(usage);
                }
                Ok(Step::Quiet)
            }
            "message_stop" => {
                self.done = true;
                Ok(Step::Done)
            }
            // Pings, and events of a time after ours.
            _ => Ok(Step::Quiet),
        }
    }

    fn start(&mut self, index: Option<u64>, raw: &RawValue) -> Result<Step, ModelError> {
        self.budget.spend(raw.get().len() + BLOCK_BYTES)?;
        let block = Block::start(raw)?;
        let text = match &block {
            Block::Text(text) => text.clone(),
            Block::Call { .. } | Block::Opaque { .. } => String::new(),
        };
        self.blocks.push(Numbered { index, open: true, block });
        Ok(Step::text(text))
    }

    fn delta(&mut self, index: Option<u64>, delta: Option<&Value>) -> Result<Step, ModelError> {
        let Some(delta) = delta else { return Ok(Step::Quiet) };
        let Some(numbered) = self.position(index).and_then(|at| self.blocks.get_mut(at)) else {
            return Err(ModelError::Protocol {
                reason: "expected `content_block_start` before `content_block_delta`".to_owned(),
            });
        };
        numbered.block.add(delta, &mut self.budget)
    }

    /// The newest block with that index; the newest of all where no index came.
    fn position(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(_) => self.blocks.iter().rposition(|numbered| numbered.index == index),
            None => self.blocks.len().checked_sub(1),
        }
    }

    fn stop_reason(&mut self, reason: Option<&Value>) {
        self.stop = match reason.and_then(Value::as_str).unwrap_or_default() {
            "" => return,
            "end_turn" | "stop_sequence" => Some(StopReason::End),
            "tool_use" => Some(StopReason::ToolCalls),
            "max_tokens" | "model_context_window_exceeded" => Some(StopReason::Length),
            "refusal" => Some(StopReason::Refused),
            _ => Some(StopReason::Other),
        };
    }
}

impl Assembler for AnthropicAssembler {
    fn take(&mut self, event: &SseEvent) -> Result<Step, ModelError> {
        let data = event.data.trim();
        if self.done || data.is_empty() || data == "[DONE]" {
            return Ok(Step::Quiet);
        }
        let name = event.event.as_deref();
        let parsed: Event<'_> = match serde_json::from_str(data) {
            Ok(parsed) => parsed,
            Err(_) if name == Some("error") => return Err(reported(&Value::String(data.to_owned()))),
            Err(_) if !event.whole => {
                self.broken = true;
                return Ok(Step::Quiet);
            }
            Err(error) => return Err(unreadable("an event of a message stream", &error, data)),
        };
        let is_error = name == Some("error") || parsed.kind.as_ref().is_some_and(|kind| kind == "error");
        match parsed.error {
            Some(error) if is_error || !error.is_null() => Err(reported(&error)),
            None if is_error => Err(reported(&Value::String(data.to_owned()))),
            _ if self.broken => Err(incomplete("an event in the middle of the stream was cut off")),
            _ => self.event(&parsed, name),
        }
    }

    fn finish(self: Box<Self>, request_bytes: usize) -> Result<Turn, ModelError> {
        let open_call =
            self.blocks.iter().any(|numbered| numbered.open && matches!(numbered.block, Block::Call { .. }));
        if !self.done && open_call {
            return Err(incomplete("the stream ended inside a tool call"));
        }
        if self.stop.is_none() && (!self.done || self.blocks.is_empty()) {
            return Err(incomplete("the stream ended without a stop reason"));
        }
        let parts = self
            .blocks
            .into_iter()
            .map(|numbered| numbered.block.finish())
            .collect::<Result<_, ModelError>>()?;
        whole_turn(parts, self.stop, self.usage, request_bytes)
    }
}

//! The last step of both assemblers: parts become a turn, every call with a name and an id of its own.
//! Must not know a wire format beyond the mark on an opaque part.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::incomplete;
use super::usage::UsageSeen;
use crate::history::{Arguments, AssistantMessage, Part, ToolCall, WireFormat};
use crate::ids::CallId;
use crate::model::{ModelError, StopReason, Turn};

/// A part of a turn that came to its end.
#[derive(Debug)]
pub(super) enum DraftPart {
    Text(String),
    Call(DraftCall),
    Opaque(WireFormat, Box<RawValue>),
}

/// A call as it came: perhaps without an id, perhaps with one that another call has too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DraftCall {
    pub id: Option<String>,
    pub name: String,
    pub arguments: String,
}

/// Makes the turn. `stop` is none where the stream ended properly without saying why.
pub(super) fn whole_turn(
    parts: Vec<DraftPart>,
    stop: Option<StopReason>,
    usage: UsageSeen,
    request_bytes: usize,
) -> Result<Turn, ModelError> {
    let mut calls = Calls::default();
    let mut turn_bytes = 0;
    let mut kept = Vec::with_capacity(parts.len());
    let last = parts.len().saturating_sub(1);
    for (at, part) in parts.into_iter().enumerate() {
        match part {
            DraftPart::Text(text) => {
                turn_bytes += text.len();
                if !text.is_empty() {
                    kept.push(Part::Text(text));
                }
            }
            DraftPart::Opaque(format, json) => {
                turn_bytes += json.get().len();
                kept.push(Part::Opaque { format, json });
            }
            DraftPart::Call(call) => {
                turn_bytes += call.name.len() + call.arguments.len();
                let cut = stop == Some(StopReason::Length) && at == last;
                // What a filter or a limit cut off must not pass for a call without arguments.
                if stop == Some(StopReason::Refused) || (cut && call.arguments.trim().is_empty()) {
                    continue;
                }
                kept.extend(calls.take(call)?.map(Part::Call));
            }
        }
    }
    let message = AssistantMessage { parts: kept };
    let stop = match (stop, message.calls().next().is_some()) {
        (Some(StopReason::ToolCalls), false) => {
            return Err(incomplete("the model stopped for tool calls, but none came"));
        }
        (None | Some(StopReason::End | StopReason::Other), true) => StopReason::ToolCalls,
        (None, false) => StopReason::End,
        (Some(stop), _) => stop,
    };
    Ok(Turn { message, stop, usage: usage.total(request_bytes, turn_bytes) })
}

/// The calls of one turn so far, by their ids.
#[derive(Debug, Default)]
struct Calls(HashMap<String, DraftCall>);

impl Calls {
    /// The call under an id that no other call of the turn has; none where the same call came twice.
    fn take(&mut self, call: DraftCall) -> Result<Option<ToolCall>, ModelError> {
        if call.name.trim().is_empty() {
            return Err(incomplete("a tool call came without a name"));
        }
        let id = match &call.id {
            None => CallId::made_up(),
            Some(id) => match self.0.get(id) {
                None => {
                    self.0.insert(id.clone(), call.clone());
                    CallId::new(id.as_str())
                }
                Some(first) if *first == call => return Ok(None),
                Some(_) => CallId::made_up(),
            },
        };
        Ok(Some(ToolCall { id, name: call.name.into(), arguments: Arguments::new(call.arguments) }))
    }
}

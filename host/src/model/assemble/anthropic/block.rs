//! One content block of an Anthropic message, from its start and its deltas. Must not read meaning into
//! a block that is neither text nor a call.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::super::turn::{DraftCall, DraftPart};
use super::super::{Budget, Step, unreadable};
use crate::history::WireFormat;
use crate::model::ModelError;

#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    Call {
        id: Option<String>,
        name: String,
        /// The input that came with the start.
        input: Option<String>,
        /// The input that came in pieces.
        pieces: String,
    },
    Opaque {
        start: Box<RawValue>,
        /// The block with its deltas; none where there were none, so that the start stays as it came.
        grown: Option<Map<String, Value>>,
        /// An input that came in pieces.
        input: String,
    },
}

#[derive(Debug, Deserialize)]
struct Start<'a> {
    #[serde(rename = "type", default)]
    kind: Option<Value>,
    #[serde(default)]
    text: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    name: Option<Value>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

impl Block {
    pub(super) fn start(raw: &RawValue) -> Result<Self, ModelError> {
        let start: Start<'_> = serde_json::from_str(raw.get())
            .map_err(|error| unreadable("a content block", &error, raw.get()))?;
        let word = |value: &Option<Value>| {
            value.as_ref().and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Ok(match start.kind.as_ref().and_then(Value::as_str) {
            Some("text") => Self::Text(word(&start.text).unwrap_or_default()),
            Some("tool_use") => Self::Call {
                id: word(&start.id),
                name: word(&start.name).unwrap_or_default(),
                input: start.input.map(|input| input.get().to_owned()),
                pieces: String::new(),
            },
            _ => Self::Opaque { start: raw.to_owned(), grown: None, input: String::new() },
        })
    }

    pub(super) fn add(&mut self, delta: &Value, budget: &mut Budget) -> Result<Step, ModelError> {
        let piece = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        let kind = piece("type");
        let field = match kind {
            "text_delta" => "text",
            "input_json_delta" => "partial_json",
            "thinking_delta" => "thinking",
            "signature_delta" => "signature",
            _ => return Ok(Step::Quiet),
        };
        let text = piece(field);
        budget.spend(text.len())?;
        match (self, field) {
            (Self::Text(all), "text") => {
                all.push_str(text);
                return Ok(Step::text(text.to_owned()));
            }
            (Self::Call { pieces, .. }, "partial_json") => pieces.push_str(text),
            (Self::Opaque { input, .. }, "partial_json") => input.push_str(text),
            (Self::Opaque { start, grown, .. }, field) => {
                let block = match grown {
                    Some(block) => block,
                    None => grown.insert(as_map(start)?),
                };
                match block.get_mut(field) {
                    Some(Value::String(all)) => all.push_str(text),
                    _ => {
                        block.insert(field.to_owned(), Value::String(text.to_owned()));
                    }
                }
            }
            _ => {
                return Err(ModelError::Protocol {
                    reason: format!("expected a delta that fits its block, `{kind}` came"),
                });
            }
        }
        Ok(Step::Quiet)
    }

    pub(super) fn finish(self) -> Result<DraftPart, ModelError> {
        Ok(match self {
            Self::Text(text) => DraftPart::Text(text),
            Self::Call { id, name, input, pieces } => {
                let arguments = if pieces.trim().is_empty() { input.unwrap_or_default() } else { pieces };
                DraftPart::Call(DraftCall { id, name, arguments })
            }
            Self::Opaque { start, grown, input } => {
                let input: Option<Value> = serde_json::from_str(&input).ok();
                let json = match (grown, input) {
                    (None, None) => start,
                    (grown, input) => {
                        let mut block = match grown {
                            Some(block) => block,
                            None => as_map(&start)?,
                        };
                        block.extend(input.map(|input| ("input".to_owned(), input)));
                        to_raw_value(&block)
                            .map_err(|error| unreadable("a content block", &error, start.get()))?
                    }
                };
                DraftPart::Opaque(WireFormat::AnthropicMessages, json)
            }
        })
    }
}

fn as_map(raw: &RawValue) -> Result<Map<String, Value>, ModelError> {
    serde_json::from_str(raw.get()).map_err(|error| unreadable("a content block", &error, raw.get()))
}

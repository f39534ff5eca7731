//! What a conversation is made of. Holds no behaviour beyond reading itself.

use serde_json::value::RawValue;

use super::call::ToolCall;
use super::entry::WireFormat;
use super::result::ToolResult;

/// One message of a conversation.
#[derive(Clone, Debug)]
pub enum Message {
    /// What the user, or the host in the user's place, says.
    User {
        /// The text.
        text: String,
    },
    /// One model turn.
    Assistant(AssistantMessage),
    /// The result of one call of the turn before.
    Tool(ToolResult),
}

impl Message {
    /// Bytes of its text, calls and blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::User { text } => text.len(),
            Self::Tool(result) => result.text.len(),
            Self::Assistant(message) => message.parts.iter().map(Part::bytes).sum(),
        }
    }

    /// A user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }
}

/// One model turn: its parts in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct AssistantMessage {
    /// Text, calls and the provider's own blocks, in order.
    pub parts: Vec<Part>,
}

/// One part of a model turn.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text for the reader.
    Text(String),
    /// A call.
    Call(ToolCall),
    /// A block that only its provider understands (a signed thinking block, say) and wants back
    /// byte for byte, in its place. Sent to that wire format only.
    Opaque {
        /// The wire format that made it.
        format: WireFormat,
        /// The block, as JSON.
        json: Box<RawValue>,
    },
}

impl Part {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Call(call) => call.arguments.as_str().len(),
            Self::Opaque { json, .. } => json.get().len(),
        }
    }
}

impl AssistantMessage {
    /// A turn of text alone.
    pub fn text_only(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())] }
    }

    /// All text parts that are not empty, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Call(_) | Part::Opaque { .. } => None,
            })
            .collect()
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text(_) | Part::Opaque { .. } => None,
        })
    }
}

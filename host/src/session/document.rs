//! The JSON document that a session is stored as. Every part of a message comes back exactly as it was.
//! Must not know where documents are kept.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::key::SessionKey;
use super::store::StoredSession;
use crate::history::{AssistantMessage, Message, Part, ToolCall, ToolResult, WireFormat, as_data};
use crate::ids::{SessionId, ToolName};

/// The version that is written, and the newest that is read.
pub(super) const VERSION: u64 = 1;

/// Why bytes are not a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Not one whole document.
    Damaged {
        /// Where reading stopped, in bytes from the start.
        byte: u64,
        /// What was expected and what was found.
        message: String,
    },
    /// Of a version that is not known.
    Newer {
        /// That version.
        found: u64,
    },
}

#[derive(Deserialize)]
struct Version {
    version: u64,
}

// The tags stand outside (`{"user":{..}}`): inside, serde would read the provider's blocks into values first and
// could not give them back byte for byte.
#[derive(Serialize, Deserialize)]
struct Document<'a> {
    version: u64,
    id: Cow<'a, str>,
    tool: Cow<'a, str>,
    user: Cow<'a, str>,
    depth: u32,
    tools: BTreeSet<Cow<'a, str>>,
    messages: Vec<StoredMessage<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredMessage<'a> {
    User { text: Cow<'a, str> },
    Assistant { parts: Vec<StoredPart<'a>> },
    Tool { call_id: Cow<'a, str>, tool: Cow<'a, str>, text: Cow<'a, str>, is_error: bool },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPart<'a> {
    Text(Cow<'a, str>),
    Call { id: Cow<'a, str>, name: Cow<'a, str>, arguments: Cow<'a, str> },
    Opaque { format: StoredFormat, json: Cow<'a, RawValue> },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredFormat {
    ChatCompletions,
    AnthropicMessages,
}

/// The document of `session`.
///
/// # Errors
/// Where it cannot be written as JSON, which no session is known to do.
pub(super) fn to_bytes(session: &StoredSession) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(&Document {
        version: VERSION,
        id: session.id.as_str().into(),
        tool: session.key.tool.as_str().into(),
        user: session.key.user.as_str().into(),
        depth: session.depth,
        tools: session.tools.iter().map(|tool| tool.as_str().into()).collect(),
        messages: session.history.entries().iter().map(|entry| stored_message(entry.message())).collect(),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The session that `bytes`, all of them, are the document of.
///
/// # Errors
/// [`Unreadable`].
pub(super) fn from_bytes(bytes: &[u8]) -> Result<StoredSession, Unreadable> {
    let damaged = |error: &serde_json::Error| Unreadable::Damaged {
        byte: offset(bytes, error.line(), error.column()),
        message: as_data(&error.to_string()),
    };
    if bytes.is_empty() {
        return Err(Unreadable::Damaged {
            byte: 0,
            message: "expected a session, found an empty file".into(),
        });
    }
    // The version first: a newer document may have another shape.
    match serde_json::from_slice::<Version>(bytes).map_err(|error| damaged(&error))?.version {
        VERSION => {}
        found if found > VERSION => return Err(Unreadable::Newer { found }),
        found => {
            let message = format!("expected version {VERSION}, found version {found}");
            return Err(Unreadable::Damaged { byte: 0, message });
        }
    }
    let document = serde_json::from_slice::<Document<'_>>(bytes).map_err(|error| damaged(&error))?;
    Ok(StoredSession {
        id: document.id.as_ref().into(),
        key: SessionKey { tool: document.tool.as_ref().into(), user: document.user.as_ref().into() },
        depth: document.depth,
        tools: document.tools.iter().map(|tool| ToolName::from(tool.as_ref())).collect(),
        history: document.messages.into_iter().map(message).collect(),
    })
}

/// The id in `bytes`, as long as the document is whole up to it. For removing what cannot be read.
pub(super) fn id_in(bytes: &[u8]) -> Option<SessionId> {
    struct FirstId<'a>(&'a mut Option<SessionId>);

    impl<'de> Visitor<'de> for FirstId<'_> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a session")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(name) = map.next_key::<Cow<'de, str>>()? {
                if name == "id" && self.0.is_none() {
                    *self.0 = Some(SessionId::new(map.next_value::<String>()?));
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }

    let mut id = None;
    // Whatever is wrong behind the id does not matter here.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(FirstId(&mut id));
    id
}

/// Where line `line`, column `column` is, counted in bytes from the start.
fn offset(bytes: &[u8], line: usize, column: usize) -> u64 {
    let before: usize =
        bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    u64::try_from(before.saturating_add(column).min(bytes.len())).unwrap_or(u64::MAX)
}

fn stored_message(message: &Message) -> StoredMessage<'_> {
    match message {
        Message::User { text } => StoredMessage::User { text: text.into() },
        Message::Assistant(turn) => {
            StoredMessage::Assistant { parts: turn.parts.iter().map(stored_part).collect() }
        }
        Message::Tool(result) => StoredMessage::Tool {
            call_id: result.call_id.as_str().into(),
            tool: result.tool.as_str().into(),
            text: result.text.as_str().into(),
            is_error: result.is_error,
        },
    }
}

fn stored_part(part: &Part) -> StoredPart<'_> {
    match part {
        Part::Text(text) => StoredPart::Text(text.into()),
        Part::Call(call) => StoredPart::Call {
            id: call.id.as_str().into(),
            name: call.name.as_str().into(),
            arguments: call.arguments.as_str().into(),
        },
        Part::Opaque { format, json } => {
            StoredPart::Opaque { format: (*format).into(), json: Cow::Borrowed(json.as_ref()) }
        }
    }
}

fn message(stored: StoredMessage<'_>) -> Message {
    match stored {
        StoredMessage::User { text } => Message::User { text: text.into_owned() },
        StoredMessage::Assistant { parts } => {
            Message::Assistant(AssistantMessage { parts: parts.into_iter().map(part).collect() })
        }
        StoredMessage::Tool { call_id, tool, text, is_error } => Message::Tool(ToolResult {
            call_id: call_id.as_ref().into(),
            tool: tool.as_ref().into(),
            text: text.into_owned(),
            is_error,
        }),
    }
}

fn part(stored: StoredPart<'_>) -> Part {
    match stored {
        StoredPart::Text(text) => Part::Text(text.into_owned()),
        StoredPart::Call { id, name, arguments } => Part::Call(ToolCall {
            id: id.as_ref().into(),
            name: name.as_ref().into(),
            arguments: arguments.as_ref().into(),
        }),
        StoredPart::Opaque { format, json } => {
            Part::Opaque { format: format.into(), json: json.into_owned() }
        }
    }
}

impl From<WireFormat> for StoredFormat {
    fn from(format: WireFormat) -> Self {
        match format {
            WireFormat::ChatCompletions => Self::ChatCompletions,
            WireFormat::AnthropicMessages => Self::AnthropicMessages,
        }
    }
}

impl From<StoredFormat> for WireFormat {
    fn from(format: StoredFormat) -> Self {
        match format {
            StoredFormat::ChatCompletions => Self::ChatCompletions,
            StoredFormat::AnthropicMessages => Self::AnthropicMessages,
        }
    }
}

#[cfg(test)]
mod tests;

//! A message with what the wire formats made of it, so that each message is serialised once however
//! many turns send it. Must not know how a wire format looks.

use std::sync::{Arc, OnceLock};

use super::message::Message;

/// A family of model APIs that share one form of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// OpenAI chat completions and the many servers that speak it.
    ChatCompletions,
    /// Anthropic messages.
    AnthropicMessages,
}

/// A message of a history. Never changes once it is there.
#[derive(Debug)]
pub struct Entry {
    message: Message,
    wire: [OnceLock<Arc<str>>; 2],
}

impl Entry {
    pub(super) fn new(message: Message) -> Self {
        Self { message, wire: [OnceLock::new(), OnceLock::new()] }
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The message in `format`: made by `serialise` the first time, remembered after.
    pub fn wire(&self, format: WireFormat, serialise: impl FnOnce(&Message) -> String) -> Arc<str> {
        let [chat, anthropic] = &self.wire;
        let slot = match format {
            WireFormat::ChatCompletions => chat,
            WireFormat::AnthropicMessages => anthropic,
        };
        slot.get_or_init(|| serialise(&self.message).into()).clone()
    }
}

//! A conversation: append-only, and the only code that adds a message, so the cap on what one
//! result may add sits here. Must not know models' wire formats beyond caching what they made of a message.

mod call;
mod data;
mod entry;
mod message;
mod result;

use std::sync::Arc;

pub use call::{Arguments, ToolCall};
pub use data::{as_data, is_invisible};
pub use entry::{Entry, WireFormat};
pub use message::{AssistantMessage, Message, Part};
pub use result::{ToolResult, shortened};

/// The messages of one conversation, oldest first. The system text is not among them.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<Arc<Entry>>,
    result_cap: ResultCap,
    /// Bytes of the messages that are there.
    bytes: usize,
    /// Where what the present run said begins.
    run_from: usize,
    /// Bytes that the present run pushed.
    pushed: usize,
}

/// Most bytes that one tool result may add to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultCap(pub usize);

impl Default for ResultCap {
    /// 64 KiB.
    fn default() -> Self {
        Self(64 * 1024)
    }
}

impl History {
    /// An empty conversation with the default cap.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same conversation, which from now on keeps at most `cap` bytes of each tool result.
    #[must_use]
    pub fn capped_at(mut self, cap: ResultCap) -> Self {
        self.result_cap = cap;
        self
    }

    /// Appends a message. A tool result longer than the cap is cut in the middle and says so.
    pub fn push(&mut self, message: Message) {
        let message = match message {
            Message::Tool(result) => Message::Tool(result.capped(self.result_cap.0)),
            other => other,
        };
        self.bytes = self.bytes.saturating_add(message.bytes());
        self.pushed = self.pushed.saturating_add(message.bytes());
        self.entries.push(Arc::new(Entry::new(message)));
    }

    /// A run goes on with this conversation: calls that were left open are closed, and from here on
    /// [`last_text`](Self::last_text) and [`pushed`](Self::pushed) are of this run alone.
    pub fn begin_run(&mut self) {
        self.close_open_calls();
        self.run_from = self.entries.len();
        self.pushed = 0;
    }

    /// Bytes of text in the messages: what the next turn reads.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of text that the present run pushed: what it costs its host. Forgetting gives none back.
    #[must_use]
    pub fn pushed(&self) -> usize {
        self.pushed
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// True where nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The last assistant message, if any.
    #[must_use]
    pub fn last_assistant(&self) -> Option<&AssistantMessage> {
        self.entries.iter().rev().find_map(|entry| match entry.message() {
            Message::Assistant(message) => Some(message),
            Message::User { .. } | Message::Tool(_) => None,
        })
    }

    /// The last assistant text of the present run that is not blank: what it has to show where it is stopped. What
    /// was said before the run is the answer to something else.
    #[must_use]
    pub fn last_text(&self) -> Option<String> {
        self.entries.iter().skip(self.run_from).rev().find_map(|entry| match entry.message() {
            Message::Assistant(message) => Some(message.text()).filter(|text| !text.trim().is_empty()),
            Message::User { .. } | Message::Tool(_) => None,
        })
    }

    /// The calls of the last assistant message that have no result yet, in the order of the calls.
    #[must_use]
    pub fn open_calls(&self) -> Vec<ToolCall> {
        let Some(at) =
            self.entries.iter().rposition(|entry| matches!(entry.message(), Message::Assistant(_)))
        else {
            return Vec::new();
        };
        let (asked, after) = self.entries.split_at(at.saturating_add(1));
        let Some(Message::Assistant(message)) = asked.last().map(|entry| entry.message()) else {
            return Vec::new();
        };
        let answered = |id: &crate::ids::CallId| {
            after
                .iter()
                .any(|entry| matches!(entry.message(), Message::Tool(result) if &result.call_id == id))
        };
        message.calls().filter(|call| !answered(&call.id)).cloned().collect()
    }

    /// Gives every call that never got a result one that says "interrupted", directly after the
    /// results that its turn did get. Providers refuse a history with open calls.
    pub fn close_open_calls(&mut self) {
        let mut closed: Vec<Arc<Entry>> = Vec::with_capacity(self.entries.len());
        let mut open: Vec<ToolCall> = Vec::new();
        for entry in self.entries.drain(..) {
            match entry.message() {
                Message::Tool(result) => {
                    if let Some(at) = open.iter().position(|call| call.id == result.call_id) {
                        open.remove(at);
                        closed.push(entry);
                    }
                    // A result that no call asked for would be refused as well: it is left out.
                }
                Message::User { .. } | Message::Assistant(_) => {
                    closed.extend(open.drain(..).map(interrupted));
                    if let Message::Assistant(message) = entry.message() {
                        open = message.calls().cloned().collect();
                    }
                    closed.push(entry);
                }
            }
        }
        closed.extend(open.drain(..).map(interrupted));
        self.entries = closed;
        self.bytes = self.entries.iter().map(|entry| entry.message().bytes()).sum();
    }

    /// Drops the oldest messages so that about `keep_last` stay; the kept part starts with a user message.
    pub fn forget(&mut self, keep_last: usize) {
        let mut from = self.entries.len().saturating_sub(keep_last);
        while from > 0
            && !self.entries.get(from).is_none_or(|entry| matches!(entry.message(), Message::User { .. }))
        {
            from -= 1;
        }
        let forgotten: usize = self.entries.drain(..from).map(|entry| entry.message().bytes()).sum();
        self.bytes = self.bytes.saturating_sub(forgotten);
        self.run_from = self.run_from.saturating_sub(from);
    }
}

impl FromIterator<Message> for History {
    /// The messages pushed one after the other, with the default cap.
    fn from_iter<T: IntoIterator<Item = Message>>(messages: T) -> Self {
        let mut history = Self::new();
        for message in messages {
            history.push(message);
        }
        history
    }
}

fn interrupted(call: ToolCall) -> Arc<Entry> {
    Arc::new(Entry::new(Message::Tool(ToolResult::error(
        call.id,
        call.name,
        "interrupted: the run ended before this call had a result".to_owned(),
    ))))
}

#[cfg(test)]
mod tests;

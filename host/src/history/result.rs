//! The result of one call, as the model reads it. Must not know where it came from.

use crate::ids::{CallId, ToolName};

/// What a call gave: text for the model, good or bad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The call that this answers.
    pub call_id: CallId,
    /// The tool that was called.
    pub tool: ToolName,
    /// The text that the model reads.
    pub text: String,
    /// True where the text is an error.
    pub is_error: bool,
}

impl ToolResult {
    /// A good result. Blank text is said in words, since providers and models trip over nothing.
    #[must_use]
    pub fn ok(call_id: CallId, tool: ToolName, text: String) -> Self {
        Self { call_id, tool, text: or_empty(text), is_error: false }
    }

    /// An error that the model reads and may react to.
    #[must_use]
    pub fn error(call_id: CallId, tool: ToolName, text: String) -> Self {
        Self { call_id, tool, text: or_empty(text), is_error: true }
    }

    /// The same result with at most `cap` bytes of text (and a marker), head and tail kept.
    #[must_use]
    pub(super) fn capped(mut self, cap: usize) -> Self {
        if self.text.len() <= cap {
            return self;
        }
        let head = floor_boundary(&self.text, cap / 4 * 3);
        let tail = ceil_boundary(&self.text, self.text.len().saturating_sub(cap / 4));
        let (Some(start), Some(end)) = (self.text.get(..head), self.text.get(tail..)) else {
            return self;
        };
        let hidden = tail.saturating_sub(head);
        self.text = format!(
            "{start}\n[... {hidden} of {} bytes left out here; ask for a smaller part to read them ...]\n{end}",
            self.text.len()
        );
        self
    }
}

fn or_empty(text: String) -> String {
    if text.chars().all(|c| c.is_whitespace() || c.is_control()) { "(empty)".to_owned() } else { text }
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

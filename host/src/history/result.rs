//! The result of one call, as the model reads it. Must not know where it came from.

use crate::ids::{CallId, ToolName};

/// Most bytes of the marker that stands for what was cut, whatever its numbers.
const MARKER_BYTES: usize = 128;

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

    /// The same result with at most `cap` bytes of text, head and tail kept around a marker. The marker counts, so
    /// that cutting what was cut changes nothing; only a cap too small for a marker is passed by it.
    #[must_use]
    pub(super) fn capped(mut self, cap: usize) -> Self {
        if self.text.len() > cap {
            self.text = shortened(&self.text, cap);
        }
        self
    }
}

/// `text` where it has at most `cap` bytes; else its head and its tail with a marker between them, together within
/// `cap` where that has room for a marker.
#[must_use]
pub fn shortened(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let room = cap.saturating_sub(MARKER_BYTES);
    let head = floor_boundary(text, room / 4 * 3);
    let tail = ceil_boundary(text, text.len().saturating_sub(room / 4));
    let (start, end) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    let hidden = tail.saturating_sub(head);
    format!(
        "{start}\n[... {hidden} of {} bytes left out here; ask for a smaller part to read them ...]\n{end}",
        text.len()
    )
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

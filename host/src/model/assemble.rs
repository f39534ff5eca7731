//! Whole turns from the events of a stream or from one JSON body, for both wire formats. Does no IO,
//! and never runs, repairs or joins a call.

mod anthropic;
mod calls;
mod openai;
mod reported;
mod turn;
mod usage;

pub(super) use anthropic::{AnthropicAssembler, anthropic_body};
pub(super) use openai::{OpenAiAssembler, openai_body};
pub(super) use reported::{says_context_is_full, server_message};

use super::sse::SseEvent;
use super::{ModelError, Turn};

/// Builds one turn from the events of a stream.
pub(super) trait Assembler: Send {
    /// Takes the next event.
    ///
    /// # Errors
    /// [`ModelError`] where the server reports one, or the event cannot be read.
    fn take(&mut self, event: &SseEvent) -> Result<Step, ModelError>;

    /// The turn, once the stream has ended. `request_bytes` is what an estimate of the input starts from.
    ///
    /// # Errors
    /// [`ModelError::Incomplete`] where the stream ended too early.
    fn finish(self: Box<Self>, request_bytes: usize) -> Result<Turn, ModelError>;
}

/// What an event added to a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing that a reader sees.
    Quiet,
    /// Text.
    Text(String),
    /// The end: no event after it counts.
    Done,
}

impl Step {
    fn text(text: String) -> Self {
        if text.is_empty() { Self::Quiet } else { Self::Text(text) }
    }
}

/// How many bytes a turn may still take up.
#[derive(Clone, Copy, Debug)]
struct Budget {
    cap: usize,
    left: usize,
}

impl Budget {
    fn new(cap: usize) -> Self {
        Self { cap, left: cap }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), ModelError> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(ModelError::Protocol {
                reason: format!("expected a turn of at most {} bytes, a longer one came", self.cap),
            }),
        }
    }
}

/// An error for what could not be parsed. Not shortened: a key must be whole when it is looked for.
fn unreadable(expected: &str, error: &serde_json::Error, came: &str) -> ModelError {
    ModelError::Protocol { reason: format!("expected {expected}, {error}: `{came}`") }
}

fn incomplete(reason: impl Into<String>) -> ModelError {
    ModelError::Incomplete { reason: reason.into() }
}

#[cfg(test)]
mod tests;

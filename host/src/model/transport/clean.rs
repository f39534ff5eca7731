//! Makes what a server said fit to be shown: no key, no control characters, not too long. The one way
//! out for the errors of an exchange.

use crate::model::ModelError;
use crate::secret::Secret;

/// Most characters of a text that a server sent.
const LENGTH: usize = 500;

/// Cleans error texts.
#[derive(Clone, Debug)]
pub(in crate::model) struct Cleaner {
    pub key: Option<Secret>,
}

impl Cleaner {
    /// The error with clean texts.
    pub(in crate::model) fn error(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Unreachable { url, reason } => {
                ModelError::Unreachable { url: self.text(&url), reason: self.text(&reason) }
            }
            ModelError::Status { url, status, message, retry_after } => {
                ModelError::Status { url: self.text(&url), status, message: self.text(&message), retry_after }
            }
            ModelError::Reported { message, transient } => {
                ModelError::Reported { message: self.text(&message), transient }
            }
            ModelError::Incomplete { reason } => ModelError::Incomplete { reason: self.text(&reason) },
            ModelError::Protocol { reason } => ModelError::Protocol { reason: self.text(&reason) },
            ModelError::Request { reason } => ModelError::Request { reason: self.text(&reason) },
            ModelError::TimedOut { url, limit } => {
                ModelError::TimedOut { url: self.text(&url), limit: self.text(&limit) }
            }
            ModelError::ContextFull { message } => ModelError::ContextFull { message: self.text(&message) },
            ModelError::Script(text) => ModelError::Script(self.text(&text)),
            ModelError::GaveUp { failures, last } => {
                ModelError::GaveUp { failures, last: Box::new(self.error(*last)) }
            }
            ModelError::Cancelled => ModelError::Cancelled,
        }
    }

    /// The key goes first: cut before, half of it might stay.
    fn text(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        };
        let mut clean = String::new();
        for (at, c) in text.chars().enumerate() {
            if at >= LENGTH {
                clean.push_str("...");
                break;
            }
            match c {
                '\n' | '\r' | '\t' => clean.push(' '),
                c if c.is_control() || is_direction_mark(c) => clean.extend(c.escape_unicode()),
                c => clean.push(c),
            }
        }
        clean
    }
}

/// Characters that turn the direction of the text around them.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

//! Why a model turn failed, and whether another try may help. Never holds a key: texts are cleaned
//! where they are made.

use std::time::Duration;

/// Why a model gave no turn.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server could not be reached, or the connection broke.
    #[error("could not reach the model server at {url}: {reason}")]
    Unreachable {
        /// Where the request went, without credentials and query.
        url: String,
        /// What failed.
        reason: String,
    },
    /// The server answered with an error status.
    #[error("the model server at {url} answered {status}: {message}")]
    Status {
        /// Where the request went, without credentials and query.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        message: String,
        /// How long the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// The server reported an error inside a stream that began well.
    #[error("the model server reported an error: {message}")]
    Reported {
        /// What the server said, shortened.
        message: String,
        /// Whether the server's kind of error may pass.
        transient: bool,
    },
    /// The stream ended before the turn was whole.
    #[error("the model's answer broke off: {reason}; nothing of it was used")]
    Incomplete {
        /// What was missing.
        reason: String,
    },
    /// The answer was not what the protocol says.
    #[error("the model server's answer could not be read: {reason}")]
    Protocol {
        /// What was expected and what came.
        reason: String,
    },
    /// The request could not be made from what it was given.
    #[error("the request to the model could not be made: {reason}")]
    Request {
        /// What was expected and what came.
        reason: String,
    },
    /// The server was silent for too long.
    #[error("the model server at {url} did not answer in time: {limit}")]
    TimedOut {
        /// Where the request went.
        url: String,
        /// Which limit passed, for example `nothing came for 60 s`.
        limit: String,
    },
    /// The conversation is longer than the model's context.
    #[error("the conversation no longer fits the model's context: {message}")]
    ContextFull {
        /// What the server said.
        message: String,
    },
    /// A scripted model had no step that fits.
    #[error("{0}")]
    Script(String),
    /// The last of several failures in a row.
    #[error("{failures} failures in a row, the last one: {last}")]
    GaveUp {
        /// How many attempts failed.
        failures: u32,
        /// The last failure.
        last: Box<ModelError>,
    },
    /// The run was stopped.
    #[error("cancelled")]
    Cancelled,
}

impl ModelError {
    /// True where another try may help: unreachable and half-dead servers, broken streams, and the
    /// statuses 408, 409, 425, 429, 500, 502, 503, 504 and 529.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Incomplete { .. } | Self::TimedOut { .. } => true,
            Self::Status { status, .. } => {
                matches!(status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529)
            }
            Self::Reported { transient, .. } => *transient,
            Self::Protocol { .. }
            | Self::Request { .. }
            | Self::ContextFull { .. }
            | Self::Script(_)
            | Self::GaveUp { .. }
            | Self::Cancelled => false,
        }
    }

    /// How long the server asked us to wait before another try.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

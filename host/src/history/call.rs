//! A tool call as the model asked for it, kept as sent. Must not decide whether it may run.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::ids::{CallId, ToolName};

/// One call that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The model's id for it, or one made up where it sent none; results are matched by it.
    pub id: CallId,
    /// The tool's name, as sent.
    pub name: ToolName,
    /// The arguments, as sent.
    pub arguments: Arguments,
}

/// The arguments text of a call, as the model sent it: a JSON object, or what it is instead.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Arguments(Arc<str>);

impl Arguments {
    /// Keeps the text as it is.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as it was sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The arguments as an object. Empty, blank and `null` text means no arguments.
    ///
    /// # Errors
    /// What the parser said, where the text is not a JSON object.
    pub fn object(&self) -> Result<Map<String, Value>, serde_json::Error> {
        match self.0.trim() {
            "" | "null" => Ok(Map::new()),
            text => serde_json::from_str(text),
        }
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

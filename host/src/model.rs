//! Language models: one trait, one turn at a time. Implementations hold the keys and speak the wire;
//! nothing here decides what a call may do.

mod anthropic;
mod assemble;
mod error;
mod openai;
mod retry;
mod scripted;
mod spec;
mod sse;
mod transport;
mod wire;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

pub use error::ModelError;
pub use retry::{RetryPolicy, Retrying};
pub use scripted::{ScriptError, ScriptedModel};
pub use spec::{ModelConfig, ModelSpec, ModelSpecError, connect};
pub use transport::ModelLimits;

use crate::history::{AssistantMessage, History};
use crate::usage::Usage;

/// A language model: gives one turn over a conversation.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// What people read: `openai:gpt-4o`, `scripted:demo.json`.
    fn name(&self) -> String;

    /// One turn. Returns only whole turns: a stream that breaks off is an error, and the calls in it never run.
    ///
    /// # Errors
    /// [`ModelError`], with [`ModelError::is_transient`] saying whether another try may help.
    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError>;
}

/// Everything that one turn is made from.
#[derive(Clone, Copy)]
pub struct TurnRequest<'a> {
    /// The agent that speaks: `parent`, or a subagent's name.
    pub speaker: &'a str,
    /// The system text.
    pub system: &'a str,
    /// The conversation so far; it ends in a user message or in tool results.
    pub history: &'a History,
    /// The tools that the model may call; empty: none.
    pub tools: &'a [ToolDescription],
    /// Whether the model may ask for several calls in one turn.
    pub parallel_tool_calls: bool,
    /// Ends the turn early; the answer is then [`ModelError::Cancelled`].
    pub cancel: &'a CancellationToken,
    /// Where what happens during the turn is told: text as it comes, retries.
    pub observer: &'a dyn TurnObserver,
}

impl std::fmt::Debug for TurnRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnRequest")
            .field("speaker", &self.speaker)
            .field("messages", &self.history.entries().len())
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

/// Hears of a turn while it goes on. Both methods do nothing by default.
pub trait TurnObserver: Send + Sync {
    /// A piece of text came.
    fn text(&self, _delta: &str) {}
    /// An attempt failed and another one follows after `delay`.
    fn retry(&self, _failures: u32, _delay: std::time::Duration, _error: &ModelError) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoObserver;

impl TurnObserver for NoObserver {}

/// A tool as a model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDescription {
    /// The name that the model calls.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// A JSON Schema object, as text.
    pub parameters: String,
}

impl From<&deputy_contract::ToolSpec> for ToolDescription {
    fn from(spec: &deputy_contract::ToolSpec) -> Self {
        Self {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            parameters: spec.parameters.to_owned(),
        }
    }
}

/// One whole model turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What the model said and asked for.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost; estimated where the provider sent no figures.
    pub usage: Usage,
}

/// Why a model turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// All said.
    End,
    /// Waits for the results of its calls.
    ToolCalls,
    /// Cut by the provider's length limit.
    Length,
    /// The model, or a filter of the provider's, declined.
    Refused,
    /// A reason that we do not know.
    Other,
}

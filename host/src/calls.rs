//! One governed tool call, from what the model asked to what it reads. Every call of every run passes
//! here, whoever makes it. Must not know agents' loops or the sandbox.

mod primary;
mod record;
mod tool_set;
mod typed;

use std::sync::Arc;

use async_trait::async_trait;

pub use primary::PrimaryExecutor;
pub(crate) use record::CallRecord;
pub(crate) use tool_set::check_callable;
pub use tool_set::{ToolSet, ToolSetError};
pub(crate) use typed::typed_call;

use crate::history::ToolCall;
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::run::RunScope;
use crate::tools::ToolError;

/// Executes tool calls under governance.
#[async_trait]
pub trait CallExecutor: Send + Sync + std::fmt::Debug {
    /// Runs one call of `scope`'s run.
    ///
    /// # Errors
    /// The inner error is a result that the model reads; a [`Fault`] ends the run.
    async fn execute(
        &self,
        scope: &Arc<RunScope>,
        call: &ToolCall,
    ) -> Result<Result<String, ToolError>, Fault>;

    /// The tools that `scope`'s run may call, as its model reads them, sorted by name.
    fn descriptions(&self, scope: &RunScope) -> Vec<ToolDescription>;

    /// What `scope`'s model is told of those whom it can set to work, after its own system text; empty where there is
    /// nobody.
    fn system_part(&self, scope: &RunScope) -> String {
        let _ = scope;
        String::new()
    }

    /// How one of them reads, where this executor knows it.
    fn description(&self, tool: &ToolName) -> Option<ToolDescription>;
}

/// What ends a run at once, since no model could react to it: a fault of the host itself, or a delegation that the
/// policy lets end its parent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A tool's code panicked.
    #[error("the tool `{tool}` panicked: {message}; this is a fault of the tool, not of the call")]
    ToolPanicked {
        /// The tool.
        tool: ToolName,
        /// What the panic said.
        message: String,
    },
    /// A delegation was refused, and `handoff.on_denied` is `fail`.
    #[error("{why} (`handoff.on_denied` is `fail`: a refused delegation ends the run that asked for it)")]
    HandoffDenied {
        /// The refusal.
        why: String,
    },
    /// A delegation failed, and `handoff.on_error` is `fail`.
    #[error("{why} (`handoff.on_error` is `fail`: a failed delegation ends the run that asked for it)")]
    HandoffFailed {
        /// The failure, with what there was of an answer.
        why: String,
    },
}

impl Fault {
    /// True where a delegation ended the run, and not a fault of the host.
    #[must_use]
    pub fn is_of_a_handoff(&self) -> bool {
        matches!(self, Self::HandoffDenied { .. } | Self::HandoffFailed { .. })
    }

    /// What a panic of a tool becomes.
    pub(crate) fn panicked(tool: ToolName, panic: Box<dyn std::any::Any + Send>) -> Self {
        let message = match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => match panic.downcast::<&'static str>() {
                Ok(text) => (*text).to_owned(),
                Err(_) => "no message".to_owned(),
            },
        };
        Self::ToolPanicked { tool, message }
    }
}

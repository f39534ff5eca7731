//! Between the host's types and the generated ones. Must not lose what a guest needs to react.

use crate::bindings::deputy::agent::{model as wit_model, types as wit};
use crate::model::{ModelError, StopReason, ToolDescription};
use crate::tools::ToolError;
use crate::turn::TurnError;
use crate::usage::Usage;

impl From<ToolError> for wit::ToolError {
    fn from(error: ToolError) -> Self {
        let text = error.to_string();
        match error {
            ToolError::UnknownTool { .. } => Self::UnknownTool(text),
            ToolError::Arguments(_) | ToolError::InvalidArguments(_) => Self::InvalidArguments(text),
            ToolError::Denied(_) => Self::Denied(text),
            ToolError::NotFound(_) => Self::NotFound(text),
            ToolError::Failed(_) => Self::Failed(text),
            ToolError::TimedOut(_) => Self::TimedOut(text),
            ToolError::BudgetSpent(_) => Self::BudgetSpent(text),
            ToolError::Cancelled | ToolError::Stopped(_) => Self::Cancelled,
            ToolError::Other(_) => Self::Other(text),
        }
    }
}

/// What a guest says a call of its own ended with, as the model reads it.
pub(super) fn guest_error_text(error: &wit::ToolError) -> &str {
    match error {
        wit::ToolError::UnknownTool(text)
        | wit::ToolError::InvalidArguments(text)
        | wit::ToolError::Denied(text)
        | wit::ToolError::NotFound(text)
        | wit::ToolError::Failed(text)
        | wit::ToolError::TimedOut(text)
        | wit::ToolError::BudgetSpent(text)
        | wit::ToolError::Other(text) => text,
        wit::ToolError::Cancelled => "cancelled",
    }
}

impl From<TurnError> for wit_model::ModelError {
    fn from(error: TurnError) -> Self {
        let text = error.to_string();
        match error {
            TurnError::TurnLimit(_) | TurnError::Spent(_) | TurnError::TasksRunning(_) => {
                Self::BudgetSpent(text)
            }
            TurnError::Model(ModelError::ContextFull { .. }) => Self::ContextFull(text),
            TurnError::Model(ModelError::TimedOut { .. }) => Self::TimedOut(text),
            TurnError::Model(ModelError::Cancelled) => Self::Cancelled,
            TurnError::Model(_) => Self::Provider(text),
        }
    }
}

impl From<StopReason> for wit_model::StopReason {
    fn from(stop: StopReason) -> Self {
        match stop {
            StopReason::End => Self::End,
            StopReason::ToolCalls => Self::ToolCalls,
            StopReason::Length => Self::Length,
            StopReason::Refused => Self::Refused,
            StopReason::Other => Self::Other,
        }
    }
}

impl From<Usage> for wit_model::Usage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage
                .input_tokens
                .saturating_add(usage.cache_read_tokens)
                .saturating_add(usage.cache_write_tokens),
            output_tokens: usage.output_tokens,
            estimated: usage.estimated,
        }
    }
}

impl From<wit::ToolSpec> for ToolDescription {
    fn from(spec: wit::ToolSpec) -> Self {
        Self { name: spec.name, description: spec.description, parameters: spec.parameters }
    }
}

impl From<ToolDescription> for wit::ToolSpec {
    fn from(description: ToolDescription) -> Self {
        Self {
            name: description.name,
            description: description.description,
            parameters: description.parameters,
        }
    }
}

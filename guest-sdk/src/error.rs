//! How the errors of the contract turn into each other, and their text. Holds no other behaviour.

use deputy_contract::ArgumentsError;

use crate::{Failure, ModelError, ToolError};

impl ToolError {
    /// What a model reads.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::UnknownTool(text)
            | Self::InvalidArguments(text)
            | Self::Denied(text)
            | Self::NotFound(text)
            | Self::Failed(text)
            | Self::TimedOut(text)
            | Self::BudgetSpent(text)
            | Self::Other(text) => text,
            Self::Cancelled => "the run is being stopped",
        }
    }
}

impl From<ArgumentsError> for ToolError {
    fn from(error: ArgumentsError) -> Self {
        Self::InvalidArguments(error.to_string())
    }
}

/// For authors who call a tool outside a loop and have nothing to offer without its result.
impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Cancelled => Self::Cancelled,
            error => Self::Unable(error.text().to_owned()),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Cancelled => Self::Cancelled,
            ModelError::Denied(text)
            | ModelError::Provider(text)
            | ModelError::ContextFull(text)
            | ModelError::BudgetSpent(text)
            | ModelError::WrongOrder(text)
            | ModelError::TimedOut(text)
            | ModelError::Other(text) => Self::Model(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn being_stopped_stays_that_and_all_else_keeps_its_text() {
        assert!(matches!(Failure::from(ToolError::Cancelled), Failure::Cancelled));
        assert!(matches!(Failure::from(ModelError::Cancelled), Failure::Cancelled));
        assert!(
            matches!(Failure::from(ToolError::Denied("rule 3".into())), Failure::Unable(text) if text == "rule 3")
        );
        assert!(
            matches!(Failure::from(ModelError::ContextFull("9 k".into())), Failure::Model(text) if text == "9 k")
        );
    }
}

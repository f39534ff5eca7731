//! Why a tool gave no result. Each of these is text that a model reads; host faults are not among them.

use deputy_contract::ArgumentsError;

use crate::governance::Denial;

/// Why a call gave no result. The model reads it and may go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// No tool of that name is in reach.
    #[error("there is no tool `{name}`; the tools are: {}", known.join(", "))]
    UnknownTool {
        /// What was called.
        name: String,
        /// What could have been called.
        known: Vec<String>,
    },
    /// The arguments are not JSON or do not fit the schema.
    #[error(transparent)]
    Arguments(#[from] ArgumentsError),
    /// The arguments fit the schema and make no sense all the same.
    #[error("{0}")]
    InvalidArguments(String),
    /// A rule refused the call.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The thing named does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The tool ran into its time limit; the text holds what it had by then.
    #[error("{0}")]
    TimedOut(String),
    /// A shared budget is spent; the text names which part.
    #[error("{0}")]
    BudgetSpent(String),
    /// The run is being stopped.
    #[error("cancelled")]
    Cancelled,
    /// The run is being stopped, and this is what there was by then: whoever goes on with it later reads it.
    #[error("{0}")]
    Stopped(String),
    /// Anything else that a guest or a remote tool reports.
    #[error("{0}")]
    Other(String),
}

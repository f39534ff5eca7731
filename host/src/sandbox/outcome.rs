//! How a guest's run ended, from the host's own record. Must not read trap texts to find out.

use std::time::Duration;

use crate::calls::Fault;
use crate::event::RunStatus;
use crate::governance::Spent;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer. One of nothing but blanks is shown to a model as `(empty)`.
    Answered {
        /// The answer.
        text: String,
    },
    /// Without a whole answer.
    Stopped {
        /// Why.
        cause: EndCause,
        /// What there was by then: what the guest kept, or the last text of its model.
        partial: Option<String>,
    },
}

/// Why a run has no whole answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndCause {
    /// The guest itself stopped at a limit.
    #[error("it stopped at a limit after {turns} of {max_turns} model turns; the setting is `max_turns`")]
    AtLimit {
        /// Turns taken.
        turns: u32,
        /// Turns allowed.
        max_turns: u32,
    },
    /// The budget of the whole tree is spent.
    #[error(transparent)]
    BudgetSpent(Spent),
    /// The guest says that its model failed.
    #[error("its model failed: {0}")]
    Model(String),
    /// The guest says that it cannot do the task.
    #[error("it cannot do the task: {0}")]
    Unable(String),
    /// The guest ended with another error of its own.
    #[error("{0}")]
    Guest(String),
    /// The guest's code failed.
    #[error("its code trapped: {0}")]
    Trapped(String),
    /// The guest called `exit`.
    #[error("its code called exit instead of answering")]
    Exited,
    /// The guest burnt its fuel.
    #[error("it used up its fuel of {limit}; the limit is the setting `fuel`")]
    OutOfFuel {
        /// The limit.
        limit: u64,
    },
    /// The guest wanted more memory than it may have.
    #[error("it wanted more memory than its limit of {limit} bytes; the limit is the setting `memory`")]
    OutOfMemory {
        /// The limit.
        limit: usize,
    },
    /// The guest ran into its time limit.
    #[error("it ran into its time limit of {} ms; the limit is the setting `timeout`", limit.as_millis())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The run was stopped from outside.
    #[error("it was cancelled")]
    Cancelled,
    /// A delegation of its own was refused or failed, and the policy is that this ends it.
    #[error("{0}")]
    Handoff(Fault),
    /// The host itself failed in one of the guest's calls.
    #[error("the host failed in one of its calls: {0}")]
    Host(String),
}

impl EndCause {
    /// True where the run stopped at a limit on its turns or on what its tree may use: what it had counts.
    #[must_use]
    pub fn is_a_limit(&self) -> bool {
        matches!(self, Self::AtLimit { .. } | Self::BudgetSpent(_))
    }
}

impl Outcome {
    /// The outcome in a word.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Answered { .. } => RunStatus::Answered,
            Self::Stopped { cause, .. } => match cause {
                EndCause::AtLimit { .. } | EndCause::BudgetSpent(_) => RunStatus::Partial,
                EndCause::Model(_)
                | EndCause::Unable(_)
                | EndCause::Guest(_)
                | EndCause::Exited
                | EndCause::Handoff(_)
                | EndCause::Host(_) => RunStatus::Failed,
                EndCause::Trapped(_) => RunStatus::Trapped,
                EndCause::OutOfFuel { .. } => RunStatus::OutOfFuel,
                EndCause::OutOfMemory { .. } => RunStatus::OutOfMemory,
                EndCause::TimedOut { .. } => RunStatus::TimedOut,
                EndCause::Cancelled => RunStatus::Cancelled,
            },
        }
    }

    /// The answer, or what there was of it.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Answered { text } => Some(text),
            Self::Stopped { partial, .. } => partial.as_deref(),
        }
    }

    /// Why there is no whole answer.
    #[must_use]
    pub fn error(&self) -> Option<&EndCause> {
        match self {
            Self::Answered { .. } => None,
            Self::Stopped { cause, .. } => Some(cause),
        }
    }
}

/// What is known of a run once nothing of it is left running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Fuel burnt.
    pub fuel: u64,
    /// Most bytes of memory at one time.
    pub peak_memory: u64,
}

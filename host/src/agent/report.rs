//! What a parent agent's run leaves: the answer, how it ended, and what it took. Must not judge it.

use serde::Serialize;

use super::run::End;
use crate::event::{HandoffEnd, RunStatus};
use crate::governance::PurseReport;
use crate::history::History;
use crate::ids::SessionId;
use crate::run::RunScope;
use crate::usage::Usage;

/// The end of a parent agent's run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentReport {
    /// The answer; at a limit, an error or a stop the last text that the model gave, if there is one.
    pub answer: Option<String>,
    /// How the run ended.
    pub status: RunStatus,
    /// Why there is no whole answer.
    pub error: Option<String>,
    /// Model turns of the parent itself.
    pub turns: u32,
    /// Tokens of the whole tree: the parent and every run below it.
    pub usage: Usage,
    /// The parent's delegations, in the order of their ends.
    pub handoffs: Vec<HandoffEnd>,
    /// The conversation. Where the host has a store, a later run can continue it.
    pub session_id: SessionId,
    /// What the whole tree drew from its purse.
    pub purse: PurseReport,
}

impl AgentReport {
    pub(super) fn new(scope: &RunScope, end: End, history: &History) -> Self {
        let (answer, status, error) = match end {
            End::Answered(text) => (Some(text), RunStatus::Answered, None),
            End::AtLimit(limit) => {
                let error =
                    format!("the limit of {limit} model turns is reached; the setting is `max_turns`");
                (history.last_text(), RunStatus::Partial, Some(error))
            }
            End::Spent(spent) => (history.last_text(), RunStatus::Partial, Some(spent.to_string())),
            End::TasksRunning(error) => (history.last_text(), RunStatus::Partial, Some(error)),
            End::Denied(error) => (history.last_text(), RunStatus::Denied, Some(error)),
            End::Cut => {
                let error = "the model's own length limit cut the answer".to_owned();
                (history.last_text(), RunStatus::Partial, Some(error))
            }
            End::Failed(error) => (history.last_text(), RunStatus::Failed, Some(error)),
            End::Cancelled => (history.last_text(), RunStatus::Cancelled, Some("cancelled".to_owned())),
        };
        Self {
            answer,
            status,
            error,
            turns: scope.tally.turns(),
            usage: scope.tally.tree_usage(),
            handoffs: scope.tally.handoffs(),
            session_id: scope.session.clone(),
            purse: scope.purse.report(),
        }
    }

    /// The same where so many background tasks were stopped with the run.
    pub(super) fn stopping(mut self, tasks: usize) -> Self {
        if tasks > 0 {
            let stopped = format!("{tasks} background tasks were stopped with the run");
            self.error =
                Some(self.error.map_or_else(|| stopped.clone(), |error| format!("{error}; {stopped}")));
            if self.status == RunStatus::Answered {
                self.status = RunStatus::Partial;
            }
        }
        self
    }

    /// The report of a run that did not begin.
    pub(crate) fn not_begun(status: RunStatus, error: String) -> Self {
        Self {
            answer: None,
            status,
            error: Some(error),
            turns: 0,
            usage: Usage::default(),
            handoffs: Vec::new(),
            session_id: SessionId::fresh(),
            purse: PurseReport::default(),
        }
    }
}

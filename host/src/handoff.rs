//! One delegation: admission, input, conversation, rights, attempts, and what its end leads to. The executor takes
//! only calls of subagents and passes every other call on untouched. Must not make rights or decide on a rule: both
//! are governance's.

mod attempts;
mod input;
mod record;
mod registry;
mod result;
mod spawn;
mod way;
mod worktree;

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Instrument as _;

pub use input::{TaskInput, resolve_input};
pub use registry::{RegistryError, StaticRegistry, SubagentRegistry};

use crate::calls::{CallExecutor, Fault, PrimaryExecutor};
use crate::event::{HandoffEnd, HandoffStatus};
use crate::governance::HandoffFailureAction;
use crate::history::ToolCall;
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::run::RunScope;
use crate::sandbox::{EndCause, Outcome, Sandbox};
use crate::session::SessionBook;
use crate::subagent::Subagent;
use crate::tools::{Builtins, ToolError};
use record::Handoff;
use registry::described;
pub(crate) use spawn::SpawnTool;
use way::Way;

/// Executes calls of subagents, and passes the rest on.
#[derive(Debug)]
pub struct HandoffExecutor {
    registry: Arc<dyn SubagentRegistry>,
    primary: PrimaryExecutor,
    sandbox: Arc<Sandbox>,
    builtins: Builtins,
    sessions: Arc<SessionBook>,
    /// Model turns of a subagent that does not say.
    max_turns: u32,
}

/// How a delegation ended, before the policy is asked what that leads to.
#[derive(Debug)]
enum Ended {
    /// It ran.
    Ran(Outcome, Option<String>),
    /// A rule refused it.
    Denied(ToolError),
    /// It could not run.
    Broken(String),
    /// The model's to mend, whatever the policy says: bad arguments, or a budget that is spent.
    Told(ToolError),
    /// It was stopped from outside.
    Cancelled,
}

/// What the parent's model reads of a delegation, or what ends the parent.
type Concluded = Result<Result<String, ToolError>, Fault>;

/// A delegation that was refused or failed.
#[derive(Debug)]
struct Unfinished {
    status: HandoffStatus,
    /// What the parent's model reads, where it is told.
    error: ToolError,
    /// Why, without what else is told of the delegation.
    cause: String,
    /// Why, in one line that says whose and how.
    line: String,
    /// What there was of an answer.
    partial: Option<String>,
}

impl HandoffExecutor {
    /// Over these subagents, with `primary` for every other tool.
    #[must_use]
    pub fn new(
        registry: Arc<dyn SubagentRegistry>,
        primary: PrimaryExecutor,
        sandbox: Arc<Sandbox>,
        builtins: Builtins,
        sessions: Arc<SessionBook>,
        max_turns: u32,
    ) -> Self {
        Self { registry, primary, sandbox, builtins, sessions, max_turns }
    }

    /// The subagents.
    #[must_use]
    pub fn registry(&self) -> &Arc<dyn SubagentRegistry> {
        &self.registry
    }

    /// The tools that are not subagents.
    #[must_use]
    pub fn primary(&self) -> &PrimaryExecutor {
        &self.primary
    }

    /// The conversations of the subagents.
    #[must_use]
    pub fn sessions(&self) -> &Arc<SessionBook> {
        &self.sessions
    }

    /// One delegation from its call to its result.
    async fn hand_off(
        self: Arc<Self>,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        subagent: &Arc<Subagent>,
    ) -> Result<Result<String, ToolError>, Fault> {
        scope.tally.add_tool_call();
        let mut handoff = Handoff::begin(scope, call, subagent, Way::in_turn(scope));
        // Whoever waits for a child works on nothing: another run may have its place meanwhile.
        let ended = scope.while_waiting(self.carry_out(&mut handoff)).await;
        self.conclude(handoff, ended).await.0
    }

    /// From how a delegation ended to what its parent gets.
    async fn conclude(&self, handoff: Handoff, ended: Ended) -> (Concluded, HandoffEnd) {
        use HandoffStatus::{Cancelled, Completed, Denied, Failed, Partial, TimedOut};
        let cap = handoff.parent.result_cap;
        match ended {
            Ended::Ran(Outcome::Answered { text }, note) => {
                let output = result::output(&text);
                let answer = result::answer(&handoff, Completed, &output, note.as_deref(), cap);
                (Ok(Ok(answer)), handoff.end(Completed, Some(text), None))
            }
            Ended::Ran(Outcome::Stopped { cause, partial }, note) if cause.is_a_limit() => {
                let output = result::partial(&cause, partial.as_deref());
                let answer = result::answer(&handoff, Partial, &output, note.as_deref(), cap);
                (Ok(Ok(answer)), handoff.end(Partial, partial, Some(cause.to_string())))
            }
            Ended::Ran(Outcome::Stopped { cause: cause @ EndCause::Cancelled, partial }, note) => {
                let cause = cause.to_string();
                let text =
                    result::failure(&handoff, Cancelled, &cause, partial.as_deref(), note.as_deref(), cap);
                (Ok(Err(ToolError::Stopped(text))), handoff.end(Cancelled, partial, Some(cause)))
            }
            Ended::Cancelled => {
                let end = handoff.end(Cancelled, None, Some(EndCause::Cancelled.to_string()));
                (Ok(Err(ToolError::Cancelled)), end)
            }
            Ended::Told(error) => {
                let status = if matches!(error, ToolError::BudgetSpent(_)) { Denied } else { Failed };
                let end = handoff.end(status, None, Some(error.to_string()));
                (Ok(Err(error)), end)
            }
            Ended::Denied(error) => {
                handoff.parent.tally.add_denial();
                let cause = error.to_string();
                let line = cause.clone();
                self.follow(handoff, Unfinished { status: Denied, error, cause, line, partial: None }).await
            }
            Ended::Ran(Outcome::Stopped { cause, partial }, note) => {
                let timed_out = matches!(cause, EndCause::TimedOut { .. });
                let status = if timed_out { TimedOut } else { Failed };
                let cause = cause.to_string();
                let line = result::failure_line(&handoff, status, &cause, partial.as_deref());
                let text =
                    result::failure(&handoff, status, &cause, partial.as_deref(), note.as_deref(), cap);
                let error = if timed_out { ToolError::TimedOut(text) } else { ToolError::Failed(text) };
                self.follow(handoff, Unfinished { status, error, cause, line, partial }).await
            }
            Ended::Broken(cause) => {
                let line = result::failure_line(&handoff, Failed, &cause, None);
                let error = ToolError::Failed(result::failure(&handoff, Failed, &cause, None, None, cap));
                self.follow(handoff, Unfinished { status: Failed, error, cause, line, partial: None }).await
            }
        }
    }

    /// Does what the policy says a refusal or a failure leads to.
    async fn follow(&self, handoff: Handoff, unfinished: Unfinished) -> (Concluded, HandoffEnd) {
        let Unfinished { status, error, cause, line, partial } = unfinished;
        let policy = handoff.parent.governance.handoff_policy();
        let denied = status == HandoffStatus::Denied;
        // Of a task its parent is told, whatever the policy says of calls: by then it is at something else.
        let is_a_task = handoff.way.task.is_some();
        let action = if denied { policy.after_denial() } else { policy.after_error() };
        match action {
            HandoffFailureAction::Fail if is_a_task => {
                (Ok(Err(error)), handoff.end(status, partial, Some(cause)))
            }
            HandoffFailureAction::TellModel => (Ok(Err(error)), handoff.end(status, partial, Some(cause))),
            HandoffFailureAction::Fail => {
                let fault = if denied {
                    Fault::HandoffDenied { why: line }
                } else {
                    Fault::HandoffFailed { why: line }
                };
                (Err(fault), handoff.end(status, partial, Some(cause)))
            }
            HandoffFailureAction::FallbackToPrimary => {
                let (scope, call) = (handoff.parent.clone(), handoff.call().clone());
                let result = self.primary.fall_back(&scope, &call, &line).await;
                let output = result.as_ref().ok().and_then(|text| text.clone().ok());
                (result, handoff.end(HandoffStatus::Fallback, output, Some(cause)))
            }
        }
    }

    /// True where a run may call the tool: it holds it, or its refusal leads to an ordinary tool.
    fn offers(&self, scope: &RunScope, tool: &ToolName) -> bool {
        let falls_back = || {
            let action = scope.governance.handoff_policy().after_denial();
            action == HandoffFailureAction::FallbackToPrimary
                && self.primary.has_fallback(tool)
                && scope.rights.may_fall_back(tool)
        };
        self.shows(scope, tool) && (scope.rights.tools().contains_key(tool) || falls_back())
    }

    /// False for a subagent's own tool where the parent reaches its subagents by spawning them.
    fn shows(&self, scope: &RunScope, tool: &ToolName) -> bool {
        scope.rights.depth() > 0
            || scope.governance.handoff_policy().surface.has_tools()
            || self.registry.get(tool).is_none()
    }
}

#[async_trait]
impl CallExecutor for Arc<HandoffExecutor> {
    async fn execute(
        &self,
        scope: &Arc<RunScope>,
        call: &ToolCall,
    ) -> Result<Result<String, ToolError>, Fault> {
        // A name that the run never asked for is the primary's to answer, with the names that there are.
        let known = scope.rights.knows(&call.name);
        if let Some(tool) = SpawnTool::of(&call.name).filter(|_| known) {
            return self.manage(scope, call, tool).await;
        }
        let Some(subagent) = self.registry.get(&call.name).filter(|_| known) else {
            return self.primary.execute(scope, call).await;
        };
        let span = tracing::info_span!(
            "handoff",
            tool = %call.name,
            subagent = %subagent.name(),
            depth = scope.rights.depth().saturating_add(1),
            handoff_id = tracing::field::Empty,
            status = tracing::field::Empty,
            attempts = tracing::field::Empty,
        );
        self.clone().hand_off(scope, call, &subagent).instrument(span).await
    }

    fn descriptions(&self, scope: &RunScope) -> Vec<ToolDescription> {
        let cut = scope.rights.cut().iter().map(|denial| &denial.tool);
        let mut names: Vec<&ToolName> = scope.rights.tools().keys().chain(cut).collect();
        names.sort();
        names.dedup();
        names
            .into_iter()
            .filter(|name| self.offers(scope, name))
            .filter_map(|name| match (self.registry.get(name), SpawnTool::of(name)) {
                (Some(subagent), _) => Some(described(&subagent)),
                (None, Some(tool)) => Some(tool.description()),
                (None, None) => self.primary.description_under(name, &scope.rights),
            })
            .collect()
    }

    fn description(&self, tool: &ToolName) -> Option<ToolDescription> {
        match (self.registry.get(tool), SpawnTool::of(tool)) {
            (Some(subagent), _) => Some(described(&subagent)),
            (None, Some(tool)) => Some(tool.description()),
            (None, None) => self.primary.description(tool),
        }
    }

    fn system_part(&self, scope: &RunScope) -> String {
        spawn::system_part(self.registry(), scope)
    }
}

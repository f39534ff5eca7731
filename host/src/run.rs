//! What one run shares with everything that works for it: who it is, what it may do, where it works,
//! and what it has used so far. Must not act: it is handed to what acts.

mod tally;

use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

pub use tally::{Limit, Tally};

use crate::event::Events;
use crate::governance::{Admission, Effect, Governance, Permit, Purse, Rights, Seat};
use crate::history::ResultCap;
use crate::ids::{AgentName, RunId, SessionId, ToolName, UserId};
use crate::model::Model;
use crate::session::SessionKey;
use crate::task::RunTasks;
use crate::tools::{BackgroundCommands, CallContext, ToolError, ToolLimits};
use crate::workspace::Workspace;

/// One run of one agent, parent or subagent.
#[derive(Debug)]
pub struct RunScope {
    /// The run.
    pub id: RunId,
    /// The run that delegated; none for the parent agent.
    pub parent: Option<RunId>,
    /// The task, as it was given.
    pub task: Arc<str>,
    /// What the run may do. Never changes.
    pub rights: Arc<Rights>,
    /// The rules that each of its calls passes.
    pub governance: Arc<Governance>,
    /// The model that it speaks with.
    pub model: Arc<dyn Model>,
    /// The directory that it may touch.
    pub workspace: Arc<Workspace>,
    /// Where it tells what happens.
    pub events: Events,
    /// Set when the run is being stopped; set with it for everything that it started.
    pub cancel: CancellationToken,
    /// The commands that it has in the background. Whoever ends the run ends them.
    pub background: BackgroundCommands,
    /// Caps on its tools.
    pub tool_limits: ToolLimits,
    /// Model turns that it may take.
    pub max_turns: u32,
    /// Whether calls of one turn run side by side.
    pub parallel_tool_calls: bool,
    /// Whom it works for.
    pub user: UserId,
    /// The budget that it shares with the whole tree.
    pub purse: Arc<Purse>,
    /// Its place among the runs that work at one time.
    pub(crate) seat: Seat,
    /// The conversation that it speaks in.
    pub session: SessionId,
    /// Conversations that it and the runs above it hold open: each waits for this run.
    pub open_sessions: Arc<[SessionKey]>,
    /// Most bytes that one result adds to a conversation.
    pub result_cap: ResultCap,
    /// What works for it in the background.
    pub tasks: RunTasks,
    /// What it has used so far.
    pub tally: Tally,
}

impl RunScope {
    /// Who runs.
    #[must_use]
    pub fn agent(&self) -> &AgentName {
        self.rights.agent()
    }

    /// Reviews one call of the run, and draws it from the purse. A run that is being stopped waits for nobody's
    /// answer.
    ///
    /// # Errors
    /// A denial, [`ToolError::BudgetSpent`], or [`ToolError::Cancelled`].
    pub async fn review<A: Serialize + Send>(
        &self,
        tool: &ToolName,
        arguments: A,
    ) -> Result<Permit<A>, ToolError> {
        let review = self.governance.review(&self.rights, tool, arguments, &self.task);
        let permit = self.unless_stopped(review).await?;
        self.draw_tool_call()?;
        if self.rights.tools().get(tool).is_none_or(|effect| effect.has_side_effects()) {
            self.tally.note_side_effect(tool);
        }
        Ok(permit)
    }

    /// Reviews one delegation of the run, and draws it from the purse as a tool call. A side effect is noted once
    /// something runs.
    ///
    /// # Errors
    /// A denial, [`ToolError::BudgetSpent`], or [`ToolError::Cancelled`].
    pub async fn admit<A: Serialize + Send>(
        &self,
        tool: &ToolName,
        arguments: A,
    ) -> Result<Admission, ToolError> {
        let review = self.governance.admit(&self.rights, tool, arguments, &self.task);
        let admission = self.unless_stopped(review).await?;
        self.draw_tool_call()?;
        Ok(admission)
    }

    /// Reviews a call that fell back from a delegation to the ordinary tool of its name, and draws it from the purse
    /// as a call of its own.
    ///
    /// # Errors
    /// A denial, [`ToolError::BudgetSpent`], or [`ToolError::Cancelled`].
    pub async fn review_fallback<A: Serialize + Send>(
        &self,
        tool: &ToolName,
        effect: Effect,
        arguments: A,
    ) -> Result<Permit<A>, ToolError> {
        let review = self.governance.review_fallback(&self.rights, tool, effect, arguments, &self.task);
        let permit = self.unless_stopped(review).await?;
        self.draw_tool_call()?;
        if effect.has_side_effects() {
            self.tally.note_side_effect(tool);
        }
        Ok(permit)
    }

    async fn unless_stopped<T>(
        &self,
        review: impl Future<Output = Result<T, crate::governance::Denial>>,
    ) -> Result<T, ToolError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ToolError::Cancelled),
            reviewed = review => Ok(reviewed?),
        }
    }

    fn draw_tool_call(&self) -> Result<(), ToolError> {
        self.purse.draw_tool_call().map_err(|spent| ToolError::BudgetSpent(spent.to_string()))
    }

    /// Awaits a run below this one; others may work in its place meanwhile.
    pub(crate) async fn while_waiting<T>(&self, child: impl Future<Output = T>) -> T {
        self.seat.while_waiting(child, &self.cancel).await
    }

    /// What a tool gets to work with.
    #[must_use]
    pub fn call_context(&self) -> CallContext {
        CallContext {
            run: self.id.clone(),
            workspace: self.workspace.clone(),
            cancel: self.cancel.child_token(),
            background: self.background.clone(),
            limits: self.tool_limits,
        }
    }
}

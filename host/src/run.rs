//! What one run shares with everything that works for it: who it is, what it may do, where it works,
//! and what it has used so far. Must not act: it is handed to what acts.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::event::{Events, HandoffEnd};
use crate::governance::{Governance, Permit, Rights};
use crate::ids::{AgentName, RunId, ToolName};
use crate::model::Model;
use crate::tools::{CallContext, ToolError, ToolLimits};
use crate::usage::Usage;
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
    /// Caps on its tools.
    pub tool_limits: ToolLimits,
    /// Model turns that it may take.
    pub max_turns: u32,
    /// Whether calls of one turn run side by side.
    pub parallel_tool_calls: bool,
    /// What it has used so far.
    pub tally: Tally,
}

impl RunScope {
    /// Who runs.
    #[must_use]
    pub fn agent(&self) -> &AgentName {
        self.rights.agent()
    }

    /// Reviews one call of the run. A run that is being stopped waits for nobody's answer.
    ///
    /// # Errors
    /// A denial, or [`ToolError::Cancelled`].
    pub async fn review<A: Serialize + Send>(
        &self,
        tool: &ToolName,
        arguments: A,
    ) -> Result<Permit<A>, ToolError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ToolError::Cancelled),
            permit = self.governance.review(&self.rights, tool, arguments, &self.task) => Ok(permit?),
        }
    }

    /// What a tool gets to work with.
    #[must_use]
    pub fn call_context(&self) -> CallContext {
        CallContext {
            run: self.id.clone(),
            workspace: self.workspace.clone(),
            cancel: self.cancel.child_token(),
            limits: self.tool_limits,
        }
    }
}

/// What a run has used. Counters only grow.
#[derive(Debug)]
pub struct Tally {
    began: Instant,
    turns: AtomicU32,
    tool_calls: AtomicU64,
    denials: AtomicU64,
    own: Mutex<Usage>,
    tree: Mutex<Usage>,
    handoffs: Mutex<Vec<HandoffEnd>>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            turns: AtomicU32::new(0),
            tool_calls: AtomicU64::new(0),
            denials: AtomicU64::new(0),
            own: Mutex::default(),
            tree: Mutex::default(),
            handoffs: Mutex::default(),
        }
    }
}

impl Tally {
    /// Begins one more model turn, unless `max` were taken. Returns its number, 1-based.
    pub fn begin_turn(&self, max: u32) -> Option<u32> {
        let begun = self.turns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |turns| {
            (turns < max).then_some(turns.saturating_add(1))
        });
        begun.ok().map(|before| before.saturating_add(1))
    }

    /// Model turns begun.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Counts a tool call.
    pub fn add_tool_call(&self) {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Tool calls made, refused ones among them.
    #[must_use]
    pub fn tool_calls(&self) -> u64 {
        self.tool_calls.load(Ordering::Relaxed)
    }

    /// Counts a refused call.
    pub fn add_denial(&self) {
        self.denials.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls refused by governance.
    #[must_use]
    pub fn denials(&self) -> u64 {
        self.denials.load(Ordering::Relaxed)
    }

    /// Counts tokens of the run's own model turns.
    pub fn add_own_usage(&self, usage: Usage) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) += usage;
        self.add_subtree_usage(usage);
    }

    /// Counts tokens that a run below this one used.
    pub fn add_subtree_usage(&self, usage: Usage) {
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner) += usage;
    }

    /// Tokens of the run's own model turns.
    #[must_use]
    pub fn own_usage(&self) -> Usage {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tokens of the run and of everything below it.
    #[must_use]
    pub fn tree_usage(&self) -> Usage {
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the record of a delegation that ended.
    pub fn add_handoff(&self, end: HandoffEnd) {
        self.handoffs.lock().unwrap_or_else(PoisonError::into_inner).push(end);
    }

    /// The run's delegations that ended, in the order of their ends.
    #[must_use]
    pub fn handoffs(&self) -> Vec<HandoffEnd> {
        self.handoffs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Milliseconds since the run began.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

//! The composition root: the one place that wires model, tools, subagents, governance and sandbox to a host.
//! Must not decide anything at run time.

mod builder;
mod system;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub use builder::{HostBuilder, HostError};

use crate::agent::{Agent, AgentReport};
use crate::event::Events;
use crate::governance::{Governance, Rights, Verdict};
use crate::handoff::HandoffExecutor;
use crate::ids::{RunId, ToolName};
use crate::model::Model;
use crate::run::{RunScope, Tally};
use crate::sandbox::{ComponentError, Sandbox};
use crate::subagent::Subagent;
use crate::tools::ToolLimits;
use crate::workspace::Workspace;

/// A host: a parent agent with its tools and subagents, ready for tasks.
#[derive(Debug)]
pub struct Host {
    model: Arc<dyn Model>,
    workspace: Arc<Workspace>,
    governance: Arc<Governance>,
    executor: Arc<HandoffExecutor>,
    sandbox: Arc<Sandbox>,
    rights: Arc<Rights>,
    events: Events,
    tool_limits: ToolLimits,
    max_turns: u32,
    parallel_tool_calls: bool,
    system: String,
}

impl Host {
    /// A host to be put together.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Works on one task until it ends.
    pub async fn run(&self, task: &str) -> AgentReport {
        self.run_until(task, CancellationToken::new()).await
    }

    /// Works on one task until it ends or `cancel` stops it, with everything that it started.
    pub async fn run_until(&self, task: &str, cancel: CancellationToken) -> AgentReport {
        // Whoever stops waiting for the run stops it, and what works for it on threads that cannot be stopped.
        let cancel = cancel.child_token();
        let _stops = cancel.clone().drop_guard();
        let scope = Arc::new(RunScope {
            id: RunId::fresh(),
            parent: None,
            task: task.into(),
            rights: self.rights.clone(),
            governance: self.governance.clone(),
            model: self.model.clone(),
            workspace: self.workspace.clone(),
            events: self.events.clone(),
            cancel,
            tool_limits: self.tool_limits,
            max_turns: self.max_turns,
            parallel_tool_calls: self.parallel_tool_calls,
            tally: Tally::default(),
        });
        Agent::new(scope, Arc::new(self.executor.clone()), self.system.clone()).work().await
    }

    /// The subagents, sorted by the tools that stand for them.
    pub fn subagents(&self) -> impl Iterator<Item = &Arc<Subagent>> {
        self.executor.registry().iter()
    }

    /// What the parent may do.
    #[must_use]
    pub fn rights(&self) -> &Arc<Rights> {
        &self.rights
    }

    /// What the rules say of a call under `rights`, before anybody is asked.
    #[must_use]
    pub fn verdict(&self, rights: &Rights, tool: &ToolName) -> Verdict {
        self.governance.verdict(rights, tool)
    }

    /// What `subagent` would be granted if the parent delegated to it now, checked against what its component
    /// imports. Nothing of it runs.
    ///
    /// # Errors
    /// Why it would be refused.
    pub fn check(&self, subagent: &Subagent) -> Result<Arc<Rights>, CheckError> {
        let rights = self.governance.subagent_rights(subagent.name.clone(), &subagent.tools, &self.rights)?;
        subagent.component.check(&rights)?;
        Ok(rights)
    }

    /// Compiles and links a subagent without running it.
    ///
    /// # Errors
    /// Why it would be refused, or does not compile.
    pub async fn prepare(&self, subagent: &Subagent) -> Result<Arc<Rights>, CheckError> {
        let rights = self.check(subagent)?;
        self.sandbox.prepare(&subagent.component, &rights).await?;
        Ok(rights)
    }
}

/// Why a subagent would not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// None of the tools that it declares is left.
    #[error(transparent)]
    Rights(#[from] crate::governance::RightsError),
    /// Its component cannot run under its rights.
    #[error(transparent)]
    Component(#[from] ComponentError),
}

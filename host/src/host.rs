//! The composition root: the one place that wires model, tools, subagents, governance and sandbox to a host.
//! Must not decide anything at run time.

mod builder;
mod error;
mod parts;
mod request;
mod sessions;
mod system;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

pub use builder::HostBuilder;
pub use error::HostError;
pub use request::{Continue, RunRequest};

use crate::agent::{Agent, AgentReport};
use crate::event::{Event, Events, RunStatus};
use crate::governance::{Governance, Prices, Purse, PurseLimits, Rights, Seat, Verdict};
use crate::handoff::HandoffExecutor;
use crate::history::ResultCap;
use crate::ids::{RunId, SessionId, ToolName};
use crate::model::Model;
use crate::run::{RunScope, Tally};
use crate::sandbox::{ComponentError, Sandbox};
use crate::session::SessionStore;
use crate::subagent::Subagent;
use crate::task::{RunTasks, TaskDesk};
use crate::tools::{BackgroundCommands, ToolLimits};
use crate::workspace::Workspace;
use sessions::Conversation;

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
    purse: PurseLimits,
    prices: Option<Prices>,
    result_cap: ResultCap,
    parallel_tool_calls: bool,
    system: String,
    tasks: Arc<TaskDesk>,
}

impl Host {
    /// A host to be put together.
    #[must_use]
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Works on one task until it ends.
    pub async fn run(&self, request: impl Into<RunRequest>) -> AgentReport {
        self.run_until(request, CancellationToken::new()).await
    }

    /// Works on one task until it ends or `cancel` stops it, with everything that it started.
    pub async fn run_until(&self, request: impl Into<RunRequest>, cancel: CancellationToken) -> AgentReport {
        let request = request.into();
        let begun = tokio::select! {
            biased;
            begun = Conversation::begin(self.executor.sessions(), &request) => begun,
            // The conversation may be another run's for as long as that goes on.
            () = cancel.cancelled() => return AgentReport::not_begun(RunStatus::Cancelled, "cancelled".to_owned()),
        };
        let (conversation, history) = match begun {
            Ok(begun) => begun,
            Err(error) => return AgentReport::not_begun(RunStatus::Failed, error),
        };
        // Whoever stops waiting for the run stops it, and what works for it on threads that cannot be stopped.
        let cancel = cancel.child_token();
        let _stops = cancel.clone().drop_guard();
        let session = conversation.id.clone();
        let tasks = RunTasks::of_parent(
            self.tasks.clone(),
            session.clone(),
            request.resume.is_some(),
            conversation.keeper(),
        );
        let scope = Arc::new(self.scope(&request, session, tasks, cancel.clone()));
        let (purse, background) = (scope.purse.clone(), scope.background.clone());
        let span = tracing::info_span!("run", agent = %scope.agent(), run = %scope.id, depth = 0u32);
        let agent = Agent::new(scope, Arc::new(self.executor.clone()), self.system.clone()).resuming(history);
        let work = agent.work().instrument(span);
        tokio::pin!(work);
        let (report, history) = tokio::select! {
            ended = &mut work => ended,
            () = time_is_over(&purse) => {
                cancel.cancel();
                work.await
            }
        };
        background.end().await;
        if let Err(error) = conversation.keep(history).await {
            let message = format!("the conversation is not kept: {error}");
            self.events.emit(|| Event::Warning { message });
        }
        report
    }

    fn scope(
        &self,
        request: &RunRequest,
        session: SessionId,
        tasks: RunTasks,
        cancel: CancellationToken,
    ) -> RunScope {
        RunScope {
            id: RunId::fresh(),
            parent: None,
            task: request.task.as_str().into(),
            rights: self.rights.clone(),
            governance: self.governance.clone(),
            model: self.model.clone(),
            workspace: self.workspace.clone(),
            events: self.events.clone(),
            background: BackgroundCommands::within(&cancel),
            cancel,
            tool_limits: self.tool_limits,
            max_turns: self.max_turns,
            parallel_tool_calls: self.parallel_tool_calls,
            user: request.user.clone(),
            purse: Purse::new(self.purse, self.prices),
            seat: Seat::default(),
            session,
            open_sessions: Arc::from([]),
            result_cap: self.result_cap,
            tasks,
            tally: Tally::default(),
        }
    }

    /// Takes a tool back from every run, also from those under way: their next call of it is refused.
    pub fn revoke(&self, tool: impl Into<ToolName>) {
        self.governance.revoke(tool.into());
    }

    /// Ends a revocation.
    pub fn restore(&self, tool: impl Into<ToolName>) {
        self.governance.restore(&tool.into());
    }

    /// The rules that every call and every delegation passes.
    #[must_use]
    pub fn governance(&self) -> &Governance {
        &self.governance
    }

    /// The conversations that are kept, where the host has a store.
    #[must_use]
    pub fn session_store(&self) -> Option<&Arc<dyn SessionStore>> {
        self.executor.sessions().store()
    }

    /// The subagents, sorted by the tools that stand for them.
    pub fn subagents(&self) -> impl Iterator<Item = Arc<Subagent>> {
        self.executor.registry().all().into_iter()
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
        let rights = self.governance.subagent_rights(subagent.declaration(), &self.rights, None)?;
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

/// Returns when the tree's time is over; never, where it has no limit.
async fn time_is_over(purse: &Purse) {
    match purse.time_left() {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
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

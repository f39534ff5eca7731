//! Puts a host together and checks that its parts fit. Must not start anything but the sandbox's threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Host;
use super::error::HostError;
use super::parts::{absent, check_policy, delegations, fallbacks_of, registry_of};
use super::system::system_text;
use crate::calls::{PrimaryExecutor, ToolSet};
use crate::event::{Event, EventListener, Events};
use crate::governance::{Approver, DenyAll, Governance, HandoffPolicy, Policy, Prices, PurseLimits};
use crate::handoff::{HandoffExecutor, SubagentRegistry};
use crate::history::ResultCap;
use crate::model::Model;
use crate::sandbox::{Sandbox, SandboxOptions};
use crate::session::{SessionBook, SessionStore};
use crate::subagent::Subagent;
use crate::task::{MemoryTaskStore, Ready, TaskDesk, TaskStore, TaskStoreSource};
use crate::tools::{Builtins, Confinement, TodoWriteTool, Tool, ToolLimits, WebClient};
use crate::workspace::Workspace;

/// Model turns of a parent's run where nothing else is said.
const MAX_TURNS: u32 = 50;
/// Model turns of a subagent's run where nothing else is said.
const SUBAGENT_MAX_TURNS: u32 = 50;
/// The parent agent's name.
const PARENT: &str = "parent";

/// Collects the parts of a [`Host`].
#[derive(Debug)]
pub struct HostBuilder {
    model: Option<Arc<dyn Model>>,
    workspace: PathBuf,
    tools: Vec<Arc<dyn Tool>>,
    subagents: Vec<Subagent>,
    policy: Policy,
    approver: Arc<dyn Approver>,
    events: Events,
    confinement: Option<Arc<Confinement>>,
    no_confinement: String,
    web: Option<Arc<WebClient>>,
    sandbox: SandboxOptions,
    tool_limits: ToolLimits,
    max_turns: u32,
    subagent_max_turns: u32,
    result_cap: ResultCap,
    handoff_policy: HandoffPolicy,
    purse: PurseLimits,
    prices: Option<Prices>,
    sessions: Option<Arc<dyn SessionStore>>,
    registry: Option<Arc<dyn SubagentRegistry>>,
    fallbacks: Vec<Arc<dyn Tool>>,
    tasks: Arc<dyn TaskStoreSource>,
    parallel_tool_calls: bool,
    system: Option<String>,
}

impl Default for HostBuilder {
    fn default() -> Self {
        Self {
            model: None,
            workspace: PathBuf::from("."),
            tools: Vec::new(),
            subagents: Vec::new(),
            policy: Policy::default(),
            approver: Arc::new(DenyAll),
            events: Events::default(),
            confinement: None,
            no_confinement: "give the host a confinement for commands with `HostBuilder::confinement`"
                .to_owned(),
            web: None,
            sandbox: SandboxOptions::default(),
            tool_limits: ToolLimits::default(),
            max_turns: MAX_TURNS,
            subagent_max_turns: SUBAGENT_MAX_TURNS,
            result_cap: ResultCap::default(),
            handoff_policy: HandoffPolicy::default(),
            purse: PurseLimits::default(),
            prices: None,
            sessions: None,
            registry: None,
            fallbacks: Vec::new(),
            tasks: Arc::new(Ready(Arc::new(MemoryTaskStore::new()))),
            parallel_tool_calls: true,
            system: None,
        }
    }
}

impl HostBuilder {
    /// The model of the parent and its subagents. Required.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// The directory that runs may touch. Default: the current one.
    #[must_use]
    pub fn workspace(mut self, path: impl AsRef<Path>) -> Self {
        self.workspace = path.as_ref().to_owned();
        self
    }

    /// Adds a tool of the embedder's own.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds a subagent.
    #[must_use]
    pub fn subagent(mut self, subagent: Subagent) -> Self {
        self.subagents.push(subagent);
        self
    }

    /// The rules on tools. Default: see [`Policy`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Who says yes or no where a rule asks. Default: nobody, so it is no.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Who hears of events. Default: nobody, and no event is made.
    #[must_use]
    pub fn events(mut self, listener: impl EventListener + 'static) -> Self {
        self.events = Events::to(Arc::new(listener));
        self
    }

    /// How commands are confined. Without it no tool starts a process.
    #[must_use]
    pub fn confinement(mut self, confinement: Arc<Confinement>) -> Self {
        self.confinement = Some(confinement);
        self
    }

    /// What denials say of the command tools where there is no confinement: why, and what to do.
    #[must_use]
    pub fn no_confinement(mut self, reason: impl Into<String>) -> Self {
        self.no_confinement = reason.into();
        self
    }

    /// How web pages are fetched. Without it no tool sends requests.
    #[must_use]
    pub fn web(mut self, web: Arc<WebClient>) -> Self {
        self.web = Some(web);
        self
    }

    /// How guests run.
    #[must_use]
    pub fn sandbox(mut self, options: SandboxOptions) -> Self {
        self.sandbox = options;
        self
    }

    /// Caps on what tools read, return and wait for.
    #[must_use]
    pub fn tool_limits(mut self, limits: ToolLimits) -> Self {
        self.tool_limits = limits;
        self
    }

    /// Model turns of the parent. Default: 50.
    #[must_use]
    pub fn max_turns(mut self, max_turns: u32) -> Self {
        self.max_turns = max_turns;
        self
    }

    /// Model turns of a subagent that does not say itself. Default: 50.
    #[must_use]
    pub fn subagent_max_turns(mut self, max_turns: u32) -> Self {
        self.subagent_max_turns = max_turns;
        self
    }

    /// Most bytes that one result adds to a conversation. Default: 64 KiB.
    #[must_use]
    pub fn result_bytes(mut self, bytes: usize) -> Self {
        self.result_cap = ResultCap(bytes);
        self
    }

    /// The rules on delegations. Default: see [`HandoffPolicy`].
    #[must_use]
    pub fn handoff_policy(mut self, policy: HandoffPolicy) -> Self {
        self.handoff_policy = policy;
        self
    }

    /// The budget that all runs of one task share. Default: see [`PurseLimits`].
    #[must_use]
    pub fn purse(mut self, limits: PurseLimits) -> Self {
        self.purse = limits;
        self
    }

    /// What the model's tokens cost. Default: not known, so that nothing can be said of cost.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Where conversations are kept. Default: nowhere; those of subagents that reuse theirs last as long as the
    /// host.
    #[must_use]
    pub fn sessions(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.sessions = Some(store);
        self
    }

    /// Where the records of background tasks are. Default: in memory, as long as the host.
    #[must_use]
    pub fn task_store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.tasks = Arc::new(Ready(store));
        self
    }

    /// The same, opened when the first task needs it.
    #[must_use]
    pub fn task_store_on_demand(mut self, source: Arc<dyn TaskStoreSource>) -> Self {
        self.tasks = source;
        self
    }

    /// The subagents, from a registry of your own; those given with [`subagent`](Self::subagent) cannot be added to
    /// it.
    #[must_use]
    pub fn registry(mut self, registry: Arc<dyn SubagentRegistry>) -> Self {
        self.registry = Some(registry);
        self
    }

    /// What a delegation of the same tool name falls back to where the policy says `fallback_to_primary`. No model
    /// calls it otherwise.
    #[must_use]
    pub fn fallback_tool(mut self, tool: impl Tool + 'static) -> Self {
        self.fallbacks.push(Arc::new(tool));
        self
    }

    /// Whether calls of one turn run side by side. Default: yes.
    #[must_use]
    pub fn parallel_tool_calls(mut self, parallel: bool) -> Self {
        self.parallel_tool_calls = parallel;
        self
    }

    /// The parent's system text. Default: one that says what it is, where it works and when to delegate.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Puts the host together.
    ///
    /// # Errors
    /// [`HostError`] where a part is missing or two do not fit.
    pub fn build(self) -> Result<Host, HostError> {
        let model = self.model.ok_or(HostError::NoModel)?;
        let workspace = Arc::new(Workspace::open(&self.workspace)?);
        let builtins = Builtins::new(self.confinement, self.web);
        let mut tools = ToolSet::default();
        for tool in builtins.all().into_iter().chain(self.tools) {
            tools.add(tool)?;
        }
        tools.add(Arc::new(TodoWriteTool::default()))?;
        let registry = registry_of(self.registry, self.subagents, &tools)?;
        let fallbacks = fallbacks_of(self.fallbacks, &*registry)?;
        check_policy(&self.policy, &self.handoff_policy, &tools, &*registry)?;
        if self.purse.cost.is_some() && self.prices.is_none() {
            return Err(HostError::CostWithoutPrices);
        }
        let surface = self.handoff_policy.surface;
        let governance = Governance::new(self.policy, self.approver).handoffs(self.handoff_policy);
        let governance = Arc::new(governance);
        let offered = tools.effects().map(|(name, effect)| (name, Ok(effect)));
        let delegations = delegations(surface, &tools, &*registry)?;
        let absent = absent(&tools, &self.no_confinement);
        let rights = governance.root_rights(PARENT.into(), offered.chain(delegations).chain(absent));
        if workspace.is_empty() {
            let message = format!("the workspace {} is empty", workspace.path().display());
            self.events.emit(|| Event::Warning { message });
        }
        let sandbox = Arc::new(Sandbox::new(&self.sandbox)?);
        let system = self.system.unwrap_or_else(|| system_text(&workspace, &rights));
        let primary = PrimaryExecutor::new(tools).fallbacks(fallbacks);
        let executor = Arc::new(HandoffExecutor::new(
            registry,
            primary,
            sandbox.clone(),
            builtins,
            SessionBook::new(self.sessions),
            self.subagent_max_turns,
        ));
        Ok(Host {
            model,
            workspace,
            governance,
            executor,
            sandbox,
            rights,
            events: self.events,
            tool_limits: self.tool_limits,
            max_turns: self.max_turns,
            purse: self.purse,
            prices: self.prices,
            result_cap: self.result_cap,
            parallel_tool_calls: self.parallel_tool_calls,
            system,
            tasks: TaskDesk::new(self.tasks),
        })
    }
}

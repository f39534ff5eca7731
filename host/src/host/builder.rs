//! Puts a host together and checks that its parts fit. Must not start anything but the sandbox's threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Host;
use super::system::system_text;
use crate::calls::{PrimaryExecutor, ToolSet, ToolSetError};
use crate::event::{Event, EventListener, Events};
use crate::governance::{Approver, DenyAll, Effect, Governance, Policy, Rule};
use crate::handoff::{HandoffExecutor, Registry, RegistryError};
use crate::ids::ToolName;
use crate::model::Model;
use crate::sandbox::{Sandbox, SandboxError, SandboxOptions};
use crate::subagent::Subagent;
use crate::tools::{Builtins, Confinement, Tool, ToolLimits, WebClient};
use crate::workspace::{Workspace, WorkspaceError};

/// Model turns of a parent's run where nothing else is said.
const MAX_TURNS: u32 = 50;
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
    max_depth: u32,
    parallel_tool_calls: bool,
    system: Option<String>,
}

/// A host cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// No model was given.
    #[error("a host needs a model: give it one with `HostBuilder::model`")]
    NoModel,
    /// The workspace cannot be opened.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Two tools have one name, or a name cannot be called.
    #[error(transparent)]
    Tools(#[from] ToolSetError),
    /// A subagent cannot be registered.
    #[error(transparent)]
    Subagents(#[from] RegistryError),
    /// The sandbox cannot be made.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A rule names a tool that there is not.
    #[error("the policy has a rule for `{name}`, and there is no tool of that name; the tools are: {}", known.join(", "))]
    UnknownToolInPolicy {
        /// The name.
        name: ToolName,
        /// The tools that there are.
        known: Vec<String>,
    },
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
            max_depth: 1,
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

    /// The deepest delegation: 0 is none, 1 is one level. Default: 1.
    #[must_use]
    pub fn max_depth(mut self, max_depth: u32) -> Self {
        self.max_depth = max_depth;
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
        let mut registry = Registry::default();
        for subagent in self.subagents {
            registry.add(subagent, &tools)?;
        }
        check_policy(&self.policy, &tools, &registry)?;
        let governance = Arc::new(Governance::new(self.policy, self.approver).max_depth(self.max_depth));
        let offered = tools.effects().map(|(name, effect)| (name, Ok(effect)));
        let delegations = registry.iter().map(|subagent| (subagent.tool_name.clone(), Ok(Effect::Delegate)));
        let absent = absent(&tools, &self.no_confinement);
        let rights = governance.root_rights(PARENT.into(), offered.chain(delegations).chain(absent));
        if workspace.is_empty() {
            let message = format!("the workspace {} is empty", workspace.path().display());
            self.events.emit(|| Event::Warning { message });
        }
        let sandbox = Arc::new(Sandbox::new(&self.sandbox)?);
        let system = self.system.unwrap_or_else(|| system_text(&workspace, &registry));
        let primary = PrimaryExecutor::new(tools);
        let executor = Arc::new(HandoffExecutor::new(registry, primary, sandbox.clone(), builtins));
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
            parallel_tool_calls: self.parallel_tool_calls,
            system,
        })
    }
}

/// Built-in tools that this host does not offer, each with why.
fn absent(tools: &ToolSet, no_confinement: &str) -> Vec<(ToolName, Result<Effect, Rule>)> {
    let absent = deputy_contract::ALL_TOOLS.iter().map(|tool| ToolName::from(tool.name));
    absent
        .filter(|name| tools.get(name).is_none())
        .map(|name| {
            let reason = match name.as_str() {
                "run_command" | "run_program" => no_confinement.to_owned(),
                _ => "give the host a web client with `HostBuilder::web`".to_owned(),
            };
            (name, Err(Rule::NotOffered { reason }))
        })
        .collect()
}

/// A rule for a tool that there is not would be a rule that does nothing.
fn check_policy(policy: &Policy, tools: &ToolSet, registry: &Registry) -> Result<(), HostError> {
    let is_builtin =
        |name: &ToolName| deputy_contract::ALL_TOOLS.iter().any(|tool| tool.name == name.as_str());
    match policy
        .named()
        .find(|name| tools.get(name).is_none() && registry.get(name).is_none() && !is_builtin(name))
    {
        None => Ok(()),
        Some(name) => Err(HostError::UnknownToolInPolicy {
            name: name.clone(),
            known: tools
                .effects()
                .map(|(name, _)| name.to_string())
                .chain(registry.iter().map(|subagent| subagent.tool_name.to_string()))
                .collect(),
        }),
    }
}

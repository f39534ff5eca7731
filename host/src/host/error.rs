//! Why a host cannot be put together. Must not put one together.

use crate::calls::ToolSetError;
use crate::handoff::RegistryError;
use crate::ids::ToolName;
use crate::sandbox::SandboxError;
use crate::workspace::WorkspaceError;

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
    /// Subagents were given beside a registry that holds them.
    #[error("subagents were given and a registry as well; give either the registry or the subagents")]
    TwoRegistries,
    /// A limit on cost without anything to reckon it by.
    #[error("`purse.cost` needs prices; set `model.prices` (`HostBuilder::prices` in code)")]
    CostWithoutPrices,
    /// A fallback that no delegation leads to.
    #[error("the fallback tool `{name}` has the name of no subagent's tool; those are: {}", known.join(", "))]
    FallbackOfNothing {
        /// The tool.
        name: ToolName,
        /// The tools that stand for subagents.
        known: Vec<String>,
    },
    /// A list of delegations names a tool that stands for no subagent.
    #[error("`allowed_tools` or `denied_tools` names `{name}`, and no subagent has a tool of that name; those are: {}", known.join(", "))]
    UnknownDelegation {
        /// The name.
        name: ToolName,
        /// The tools that stand for subagents.
        known: Vec<String>,
    },
    /// A rule names a tool that there is not.
    #[error("the policy has a rule for `{name}`, and there is no tool of that name; the tools are: {}", known.join(", "))]
    UnknownToolInPolicy {
        /// The name.
        name: ToolName,
        /// The tools that there are.
        known: Vec<String>,
    },
}

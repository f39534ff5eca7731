//! The parts of a host that have to fit each other: subagents, fallbacks and rules against the tools that there are.
//! Must not wire them.

use std::sync::Arc;

use super::error::HostError;
use crate::calls::{ToolSet, ToolSetError};
use crate::governance::{DelegationSurface, Effect, HandoffPolicy, Policy, Rule, ToolList};
use crate::handoff::{SpawnTool, StaticRegistry, SubagentRegistry};
use crate::ids::ToolName;
use crate::subagent::Subagent;
use crate::tools::{CHECK_COMMAND, Tool};

/// Built-in tools that this host does not offer, each with why.
pub(super) fn absent(tools: &ToolSet, no_confinement: &str) -> Vec<(ToolName, Result<Effect, Rule>)> {
    let absent = deputy_contract::ALL_TOOLS.iter().map(|tool| tool.name).chain([CHECK_COMMAND]);
    absent
        .map(ToolName::from)
        .filter(|name| tools.get(name).is_none())
        .map(|name| {
            let reason = match name.as_str() {
                "run_command" | "run_program" | CHECK_COMMAND => no_confinement.to_owned(),
                _ => "give the host a web client with `HostBuilder::web`".to_owned(),
            };
            (name, Err(Rule::NotOffered { reason }))
        })
        .collect()
}

/// A tool with what it can do at worst, or with why it is not offered.
pub(super) type Standing = (ToolName, Result<Effect, Rule>);

/// What stands for the subagents in the parent's rights: their own tools, and those that spawn them; each that the
/// surface leaves out with that.
pub(super) fn delegations(
    surface: DelegationSurface,
    tools: &ToolSet,
    registry: &dyn SubagentRegistry,
) -> Result<Vec<Standing>, HostError> {
    let subagents = registry.all();
    if subagents.is_empty() {
        return Ok(Vec::new());
    }
    let not_offered = |which: &str| {
        let reason = format!("set `handoff.surface` to {which} (`HandoffPolicy::surface` in code)");
        Err(Rule::NotOffered { reason })
    };
    let own = |tool: &ToolName| match surface {
        // Spawning them needs leave to delegate to them, whether or not they are shown one by one.
        DelegationSurface::Tools | DelegationSurface::Spawn | DelegationSurface::Both => {
            (tool.clone(), Ok(Effect::Delegate))
        }
        DelegationSurface::None => (tool.clone(), not_offered("`tools`, `spawn` or `both`")),
    };
    let mut all: Vec<_> = subagents.iter().map(|subagent| own(&subagent.tool_name)).collect();
    for tool in SpawnTool::ALL {
        let name = ToolName::from(tool.name());
        if surface.has_spawn() && (tools.get(&name).is_some() || registry.get(&name).is_some()) {
            return Err(ToolSetError::Taken { name }.into());
        }
        let effect = if surface.has_spawn() { Ok(Effect::Manage) } else { not_offered("`spawn` or `both`") };
        all.push((name, effect));
    }
    Ok(all)
}

/// The subagents, checked against the tools whoever holds them.
pub(super) fn registry_of(
    own: Option<Arc<dyn SubagentRegistry>>,
    subagents: Vec<Subagent>,
    tools: &ToolSet,
) -> Result<Arc<dyn SubagentRegistry>, HostError> {
    let Some(own) = own else {
        return Ok(Arc::new(StaticRegistry::of(subagents, tools)?));
    };
    if !subagents.is_empty() {
        return Err(HostError::TwoRegistries);
    }
    StaticRegistry::of(own.all().iter().map(|subagent| (**subagent).clone()), tools)?;
    Ok(own)
}

/// The tools that delegations fall back to. One that no delegation has would never be called.
pub(super) fn fallbacks_of(
    fallbacks: Vec<Arc<dyn Tool>>,
    registry: &dyn SubagentRegistry,
) -> Result<ToolSet, HostError> {
    let mut tools = ToolSet::default();
    for tool in fallbacks {
        let name = ToolName::from(tool.description().name.as_str());
        if registry.get(&name).is_none() {
            return Err(HostError::FallbackOfNothing { name, known: standing(registry) });
        }
        tools.add(tool)?;
    }
    Ok(tools)
}

fn standing(registry: &dyn SubagentRegistry) -> Vec<String> {
    registry.all().iter().map(|subagent| subagent.tool_name.to_string()).collect()
}

/// A rule for a tool that there is not would be a rule that does nothing.
pub(super) fn check_policy(
    policy: &Policy,
    handoffs: &HandoffPolicy,
    tools: &ToolSet,
    registry: &dyn SubagentRegistry,
) -> Result<(), HostError> {
    let is_builtin = |name: &ToolName| {
        let host_only = SpawnTool::ALL.map(SpawnTool::name).into_iter().chain([CHECK_COMMAND]);
        deputy_contract::ALL_TOOLS
            .iter()
            .map(|tool| tool.name)
            .chain(host_only)
            .any(|one| one == name.as_str())
    };
    let is_tool = |name: &ToolName| tools.get(name).is_some() || is_builtin(name);
    if let Some(name) = policy.named().find(|name| !is_tool(name) && registry.get(name).is_none()) {
        return Err(HostError::UnknownToolInPolicy {
            name: name.clone(),
            known: tools.effects().map(|(name, _)| name.to_string()).chain(standing(registry)).collect(),
        });
    }
    let listed = [&handoffs.allowed_tools, &handoffs.denied_tools];
    let particular = registry.all();
    let own = particular
        .iter()
        .flat_map(|subagent| [&subagent.declaration().allowed_tools, &subagent.declaration().denied_tools]);
    let names = listed.into_iter().chain(own).flatten().flat_map(ToolList::names);
    match names.into_iter().find(|name| name.as_str() != "*" && registry.get(name).is_none()) {
        None => Ok(()),
        Some(name) => Err(HostError::UnknownDelegation { name: name.clone(), known: standing(registry) }),
    }
}

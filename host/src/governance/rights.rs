//! What one run may do: a value that never changes and only shrinks on the way down.
//! Made by governance alone; must not be widened by anything that a guest or a model says.

use std::collections::BTreeMap;

use super::denial::{Denial, Rule};
use super::effect::Effect;
use crate::ids::{AgentName, ToolName};

/// The rights of one run.
///
/// Only governance makes them, from wider ones:
///
/// ```
/// # use deputy::governance::{Declaration, Governance, Rights, RightsError};
/// # use std::sync::Arc;
/// fn shrunk(governance: &Governance, parent: &Rights) -> Result<Arc<Rights>, RightsError> {
///     governance.subagent_rights(&Declaration::new("explore").tools(["read_file"]), parent, None)
/// }
/// ```
///
/// ```compile_fail,E0451
/// # use deputy::governance::{Governance, Rights, RightsError};
/// # use std::sync::Arc;
/// fn taken(_governance: &Governance, parent: &Rights) -> Result<Arc<Rights>, RightsError> {
///     Ok(Arc::new(Rights { agent: "explore".into(), tools: parent.tools().clone(), cut: Vec::new(), depth: 0 }))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    agent: AgentName,
    tools: BTreeMap<ToolName, Effect>,
    cut: Vec<Denial>,
    depth: u32,
}

/// A subagent asked for tools and none of them is left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{agent}` would have none of the tools that it declares: {}", cut.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct RightsError {
    /// The subagent.
    pub agent: AgentName,
    /// Each tool with the rule that cut it.
    pub cut: Vec<Denial>,
}

impl Rights {
    pub(super) fn new(
        agent: AgentName,
        tools: BTreeMap<ToolName, Effect>,
        cut: Vec<Denial>,
        depth: u32,
    ) -> Self {
        Self { agent, tools, cut, depth }
    }

    /// Whose rights these are.
    #[must_use]
    pub fn agent(&self) -> &AgentName {
        &self.agent
    }

    /// The tools that the run may call, each with what it can do at worst.
    #[must_use]
    pub fn tools(&self) -> &BTreeMap<ToolName, Effect> {
        &self.tools
    }

    /// True where the run may call the tool (perhaps after a question).
    #[must_use]
    pub fn holds(&self, tool: &str) -> bool {
        self.tools.contains_key(&ToolName::from(tool))
    }

    /// True where the run holds the tool, or asked for it and was refused.
    #[must_use]
    pub fn knows(&self, tool: &ToolName) -> bool {
        self.tools.contains_key(tool) || self.cut.iter().any(|denial| &denial.tool == tool)
    }

    /// True where the run holds the tool, or nothing but a rule on delegations keeps it from that: then what stands
    /// in for the delegation may be called.
    #[must_use]
    pub fn may_fall_back(&self, tool: &ToolName) -> bool {
        let by_a_handoff_rule = |denial: &Denial| &denial.tool == tool && denial.rule.is_on_delegations();
        self.tools.contains_key(tool) || self.cut.iter().any(by_a_handoff_rule)
    }

    /// The refusal of a tool to this run, by a rule.
    #[must_use]
    pub fn denial(&self, tool: &ToolName, rule: Rule) -> Denial {
        Denial { agent: self.agent.clone(), tool: tool.clone(), rule }
    }

    /// Why the run does not hold a tool that it could lend: its own cut says so, and is then the rule to change.
    pub(super) fn rule_against(&self, tool: &ToolName) -> Rule {
        let earlier = self.cut.iter().find(|denial| &denial.tool == tool).map(|denial| denial.rule.clone());
        earlier.unwrap_or_else(|| Rule::NotHeldByParent {
            parent: self.agent.clone(),
            held: self.tools.keys().cloned().collect(),
        })
    }

    /// What was asked for and not given, with the reason.
    #[must_use]
    pub fn cut(&self) -> &[Denial] {
        &self.cut
    }

    /// Delegations between the top of the tree and this run; 0 for the parent.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }
}

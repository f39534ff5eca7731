//! What a subagent asks for, as governance reads it. Asking gives nothing.

use super::effect::Effect;
use super::handoff_policy::ToolList;
use super::rights::Rights;
use crate::ids::{AgentName, SessionId, ToolName};

/// What a subagent asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The subagent.
    pub agent: AgentName,
    /// The tools that it asks for.
    pub tools: ToolRequest,
    /// Of its own delegations only these. None: all that it asks for.
    pub allowed_tools: Option<ToolList>,
    /// Of its own delegations never these.
    pub denied_tools: Option<ToolList>,
}

/// The tools that a declaration asks for. The default asks for nothing: an absent list is an empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRequest {
    /// Asks for whatever the delegating run holds, but not for commands, the web, delegations or what manages
    /// them: those are asked for by name.
    pub inherit: bool,
    /// Tools asked for by name.
    pub named: Vec<ToolName>,
    /// Tools that are not asked for, whatever else is said of them.
    pub without: Vec<ToolName>,
}

/// What a conversation was begun with: a run that continues it gets no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRights {
    /// The conversation.
    pub session: SessionId,
    /// The depth of the run that began it.
    pub depth: u32,
    /// The tools of that run.
    pub tools: std::collections::BTreeSet<ToolName>,
}

impl Declaration {
    /// A declaration that asks for nothing.
    pub fn new(agent: impl Into<AgentName>) -> Self {
        Self { agent: agent.into(), tools: ToolRequest::default(), allowed_tools: None, denied_tools: None }
    }

    /// The same with these tools asked for by name.
    #[must_use]
    pub fn tools<T: Into<ToolName>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools.named = tools.into_iter().map(Into::into).collect();
        self
    }
}

impl ToolRequest {
    /// The names asked for under `parent`, each once.
    pub(super) fn names(&self, parent: &Rights) -> Vec<ToolName> {
        let mut names = self.named.clone();
        if self.inherit {
            let inherited = parent.tools().iter().filter(|(_, effect)| match effect {
                Effect::Read | Effect::Write | Effect::Native => true,
                Effect::Shell | Effect::Web | Effect::Delegate | Effect::Manage => false,
            });
            names.extend(inherited.map(|(name, _)| name.clone()));
        }
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| !self.without.contains(name) && seen.insert(name.clone()));
        names
    }
}

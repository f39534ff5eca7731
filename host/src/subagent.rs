//! What a subagent is: a named, described component with what it asks for. Must not grant anything.

mod tool_name;

use std::sync::Arc;

pub use tool_name::tool_name_for;

use crate::event::SessionMode;
use crate::governance::{Declaration, ToolList};
use crate::ids::{AgentName, ToolName};
use crate::model::Model;
use crate::sandbox::{Component, GuestLimits};
use crate::workspace::WorkspaceMode;

/// A subagent that a parent may delegate to.
#[derive(Clone, Debug)]
pub struct Subagent {
    pub(crate) declaration: Declaration,
    pub(crate) description: String,
    pub(crate) tool_name: ToolName,
    pub(crate) source: String,
    pub(crate) component: Arc<Component>,
    pub(crate) instructions: Option<Arc<str>>,
    pub(crate) session_mode: SessionMode,
    pub(crate) max_turns: Option<u32>,
    pub(crate) workspace: WorkspaceMode,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) limits: GuestLimits,
}

impl Subagent {
    /// A subagent that runs `component` and declares no tools.
    pub fn new(name: impl Into<AgentName>, component: impl Into<Arc<Component>>) -> Self {
        let (name, component) = (name.into(), component.into());
        Self {
            tool_name: tool_name_for(&name),
            description: component.surface().description.clone().unwrap_or_default(),
            source: component.name().to_owned(),
            declaration: Declaration::new(name),
            component,
            instructions: None,
            session_mode: SessionMode::default(),
            max_turns: None,
            workspace: WorkspaceMode::default(),
            model: None,
            limits: GuestLimits::default(),
        }
    }

    /// What the parent's model reads to choose it. Default: what the component says of itself.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The tool that stands for it. Default: `subagent_` and its name, see [`tool_name_for`].
    #[must_use]
    pub fn tool_name(mut self, tool_name: impl Into<ToolName>) -> Self {
        self.tool_name = tool_name.into();
        self
    }

    /// System text for a component that brings none, such as the stock `react`.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// The tools that it asks for by name. An empty list asks for none.
    #[must_use]
    pub fn tools<T: Into<ToolName>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.declaration = self.declaration.tools(tools);
        self
    }

    /// Asks, besides what it names, for whatever the delegating run holds, but not for commands, the web or
    /// delegations: those are asked for by name.
    #[must_use]
    pub fn inherit_tools(mut self) -> Self {
        self.declaration.tools.inherit = true;
        self
    }

    /// Asks for exactly the tools that the component imports.
    #[must_use]
    pub fn tools_as_imported(self) -> Self {
        let imported: Vec<ToolName> =
            self.component.imported_tools().iter().map(|tool| tool.as_str().into()).collect();
        self.tools(imported)
    }

    /// Of its own delegations only these. Default: all that it asks for and the policy allows.
    #[must_use]
    pub fn allowed_tools(mut self, allowed: ToolList) -> Self {
        self.declaration.allowed_tools = Some(allowed);
        self
    }

    /// Of its own delegations never these. Default: none.
    #[must_use]
    pub fn denied_tools(mut self, denied: ToolList) -> Self {
        self.declaration.denied_tools = Some(denied);
        self
    }

    /// Whether a delegation continues the conversation of the one before. Default: it begins a new one.
    #[must_use]
    pub fn session_mode(mut self, mode: SessionMode) -> Self {
        self.session_mode = mode;
        self
    }

    /// Where it was declared, for people: a file and a line, say. Default: the component's name.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Model turns that one run may take. Default: the host's `subagent_max_turns`.
    #[must_use]
    pub fn max_turns(mut self, max_turns: u32) -> Self {
        self.max_turns = Some(max_turns);
        self
    }

    /// Where it works. Default: in the directory of the run that delegates.
    #[must_use]
    pub fn workspace(mut self, mode: WorkspaceMode) -> Self {
        self.workspace = mode;
        self
    }

    /// A model of its own, for it and for what it delegates to. Default: that of the run that delegates.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Takes tools out of what it asks for, inherited ones among them.
    #[must_use]
    pub fn without_tools<T: Into<ToolName>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.declaration.tools.without.extend(tools.into_iter().map(Into::into));
        self
    }

    /// What one run may use.
    #[must_use]
    pub fn limits(mut self, limits: GuestLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &AgentName {
        &self.declaration.agent
    }

    /// The tool that stands for it.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool_name
    }

    /// Where it was declared, for people.
    #[must_use]
    pub fn declared_in(&self) -> &str {
        &self.source
    }

    /// What it asks for.
    #[must_use]
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// The tools that it asks for by name.
    #[must_use]
    pub fn declared_tools(&self) -> &[ToolName] {
        &self.declaration.tools.named
    }

    /// Whether a delegation continues the conversation of the one before.
    #[must_use]
    pub fn mode(&self) -> SessionMode {
        self.session_mode
    }

    /// Where it works.
    #[must_use]
    pub fn workspace_mode(&self) -> &WorkspaceMode {
        &self.workspace
    }

    /// Its system text, where it runs a component that brings none.
    #[must_use]
    pub fn prompt(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// What it runs.
    #[must_use]
    pub fn component(&self) -> &Arc<Component> {
        &self.component
    }

    /// What the parent's model reads.
    #[must_use]
    pub fn described(&self) -> &str {
        &self.description
    }

    /// Model turns that one run may take, where it says so itself.
    #[must_use]
    pub fn turn_limit(&self) -> Option<u32> {
        self.max_turns
    }
}

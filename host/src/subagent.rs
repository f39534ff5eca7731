//! What a subagent is: a named, described component with what it asks for. Must not grant anything.

mod tool_name;

use std::sync::Arc;

pub use tool_name::tool_name_for;

use crate::ids::{AgentName, ToolName};
use crate::sandbox::{Component, GuestLimits};

/// Model turns of a subagent's run where nothing else is said.
const MAX_TURNS: u32 = 50;

/// A subagent that a parent may delegate to.
#[derive(Clone, Debug)]
pub struct Subagent {
    pub(crate) name: AgentName,
    pub(crate) description: String,
    pub(crate) tool_name: ToolName,
    pub(crate) source: String,
    pub(crate) component: Arc<Component>,
    pub(crate) instructions: Option<Arc<str>>,
    pub(crate) tools: Vec<ToolName>,
    pub(crate) max_turns: u32,
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
            name,
            component,
            instructions: None,
            tools: Vec::new(),
            max_turns: MAX_TURNS,
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

    /// The tools that it asks for. An empty list asks for none.
    #[must_use]
    pub fn tools<T: Into<ToolName>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    /// Asks for exactly the tools that the component imports.
    #[must_use]
    pub fn tools_as_imported(mut self) -> Self {
        self.tools = self.component.imported_tools().iter().map(|tool| tool.as_str().into()).collect();
        self
    }

    /// Model turns that one run may take. Default: 50.
    #[must_use]
    pub fn max_turns(mut self, max_turns: u32) -> Self {
        self.max_turns = max_turns;
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
        &self.name
    }

    /// The tool that stands for it.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool_name
    }

    /// The tools that it asks for.
    #[must_use]
    pub fn declared_tools(&self) -> &[ToolName] {
        &self.tools
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

    /// Model turns that one run may take.
    #[must_use]
    pub fn turn_limit(&self) -> u32 {
        self.max_turns
    }
}

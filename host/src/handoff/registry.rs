//! The subagents of a host, each as the tool that stands for it. Exposes, does not govern.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::calls::{ToolSet, ToolSetError, check_callable};
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::subagent::Subagent;

/// The JSON Schema of a delegation: two fields, no more.
const PARAMETERS: &str = r#"{"type":"object","properties":{"task":{"type":"string","description":"What to do, whole: the subagent sees nothing of this conversation."},"context":{"type":"string","description":"What it has to know beside the task: findings, paths, decisions."}},"required":["task"],"additionalProperties":false}"#;

/// Subagents by the tool that stands for each.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    subagents: BTreeMap<ToolName, Arc<Subagent>>,
}

/// A subagent cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two subagents would be one tool.
    #[error(
        "subagents `{first}` ({first_source}) and `{second}` ({second_source}) both make the tool `{tool}`; give one of them a `tool_name`"
    )]
    SameTool {
        /// The tool.
        tool: ToolName,
        /// The subagent that was there.
        first: String,
        /// Where it comes from.
        first_source: String,
        /// The subagent that came.
        second: String,
        /// Where it comes from.
        second_source: String,
    },
    /// The tool's name is taken by another kind of tool.
    #[error(
        "subagent `{subagent}` ({from}) makes the tool `{tool}`, and there is a tool of that name; give the subagent a `tool_name`"
    )]
    IsATool {
        /// The tool.
        tool: ToolName,
        /// The subagent.
        subagent: String,
        /// Where it comes from.
        from: String,
    },
    /// No usable name can be made from the subagent's name.
    #[error(
        "subagent `{subagent}` ({from}) makes no tool name that a model can call; give it a `tool_name` of letters, digits, `_` and `-`"
    )]
    NoName {
        /// The subagent.
        subagent: String,
        /// Where it comes from.
        from: String,
    },
    /// A tool's own name is taken or cannot be called.
    #[error(transparent)]
    Tool(#[from] ToolSetError),
}

impl Registry {
    /// Adds a subagent beside `tools`.
    ///
    /// # Errors
    /// [`RegistryError`] where its tool's name collides or cannot be called; both sources are named.
    pub fn add(&mut self, subagent: Subagent, tools: &ToolSet) -> Result<(), RegistryError> {
        let tool = subagent.tool_name.clone();
        let (name, source) = (subagent.name.to_string(), subagent.source.clone());
        if tool.as_str() == "subagent_" || check_callable(&tool).is_err() {
            return Err(RegistryError::NoName { subagent: name, from: source });
        }
        if tools.get(&tool).is_some() {
            return Err(RegistryError::IsATool { tool, subagent: name, from: source });
        }
        if let Some(first) = self.subagents.get(&tool) {
            return Err(RegistryError::SameTool {
                tool,
                first: first.name.to_string(),
                first_source: first.source.clone(),
                second: name,
                second_source: source,
            });
        }
        self.subagents.insert(tool, Arc::new(subagent));
        Ok(())
    }

    /// The subagent that exactly this tool stands for.
    #[must_use]
    pub fn get(&self, tool: &ToolName) -> Option<&Arc<Subagent>> {
        self.subagents.get(tool)
    }

    /// All subagents, sorted by tool name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Subagent>> {
        self.subagents.values()
    }

    /// How a subagent's tool reads.
    #[must_use]
    pub fn description(&self, tool: &ToolName) -> Option<ToolDescription> {
        self.subagents.get(tool).map(|subagent| ToolDescription {
            name: tool.to_string(),
            description: match subagent.description.trim() {
                "" => format!("Hands a task to the subagent `{}`.", subagent.name),
                text => format!("Hands a task to the subagent `{}`: {text}", subagent.name),
            },
            parameters: PARAMETERS.to_owned(),
        })
    }
}

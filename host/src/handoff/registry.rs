//! The subagents of a host, each as the tool that stands for it. Exposes, does not govern.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::calls::{ToolSet, ToolSetError, check_callable};
use crate::history::as_data;
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::subagent::Subagent;

/// The JSON Schema of a delegation: two fields, no more.
const PARAMETERS: &str = r#"{"type":"object","properties":{"task":{"type":"string","description":"What to do, whole: the subagent sees nothing of this conversation."},"context":{"type":"string","description":"What it has to know beside the task: findings, paths, decisions."}},"required":["task"],"additionalProperties":false}"#;

/// The subagents of a host, each by the tool that stands for it. Bring your own to hold them elsewhere; a host
/// asks once, when it is built, which there are.
pub trait SubagentRegistry: Send + Sync + std::fmt::Debug {
    /// The subagent that exactly this tool stands for.
    fn get(&self, tool: &ToolName) -> Option<Arc<Subagent>>;

    /// All subagents, sorted by tool name.
    fn all(&self) -> Vec<Arc<Subagent>>;
}

/// Most characters of a subagent's description.
const DESCRIPTION_CHARS: usize = 4000;

/// Subagents by the tool that stands for each.
#[derive(Clone, Debug, Default)]
pub struct StaticRegistry {
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
    /// Two subagents have one name: in events and settings nobody could tell them apart.
    #[error(
        "two subagents are called `{name}` ({first_source}, and {second_source} as the tool `{tool}`); give one of them another name"
    )]
    SameName {
        /// The name.
        name: String,
        /// The tool of the subagent that came.
        tool: ToolName,
        /// Where the one that was there comes from.
        first_source: String,
        /// Where the one that came comes from.
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

impl StaticRegistry {
    /// A registry of these subagents beside `tools`.
    ///
    /// # Errors
    /// [`RegistryError`] at the first one that collides.
    pub fn of(subagents: impl IntoIterator<Item = Subagent>, tools: &ToolSet) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        subagents.into_iter().try_for_each(|subagent| registry.add(subagent, tools))?;
        Ok(registry)
    }

    /// Adds a subagent beside `tools`.
    ///
    /// # Errors
    /// [`RegistryError`] where its tool's name collides or cannot be called; both sources are named.
    pub fn add(&mut self, subagent: Subagent, tools: &ToolSet) -> Result<(), RegistryError> {
        let tool = subagent.tool_name.clone();
        let (name, source) = (subagent.name().to_string(), subagent.source.clone());
        if tool.as_str() == "subagent_" || check_callable(&tool).is_err() {
            return Err(RegistryError::NoName { subagent: name, from: source });
        }
        if tools.get(&tool).is_some() {
            return Err(RegistryError::IsATool { tool, subagent: name, from: source });
        }
        if let Some(first) = self.subagents.get(&tool) {
            return Err(RegistryError::SameTool {
                tool,
                first: first.name().to_string(),
                first_source: first.source.clone(),
                second: name,
                second_source: source,
            });
        }
        if let Some(first) = self.subagents.values().find(|one| one.name() == subagent.name()) {
            return Err(RegistryError::SameName {
                name,
                tool,
                first_source: first.source.clone(),
                second_source: source,
            });
        }
        self.subagents.insert(tool, Arc::new(subagent));
        Ok(())
    }
}

impl SubagentRegistry for StaticRegistry {
    fn get(&self, tool: &ToolName) -> Option<Arc<Subagent>> {
        self.subagents.get(tool).cloned()
    }

    fn all(&self) -> Vec<Arc<Subagent>> {
        self.subagents.values().cloned().collect()
    }
}

/// How a subagent's tool reads. Its description may come from a stranger's component: it is data, and short.
pub(super) fn described(subagent: &Subagent) -> ToolDescription {
    let name = as_data(subagent.name().as_str());
    let text = as_data(subagent.description.trim());
    let text: String = text.chars().take(DESCRIPTION_CHARS).collect();
    ToolDescription {
        name: subagent.tool_name.to_string(),
        description: match text.as_str() {
            "" => format!("Hands a task to the subagent `{name}`."),
            text => format!("Hands a task to the subagent `{name}`: {text}"),
        },
        parameters: PARAMETERS.to_owned(),
    }
}

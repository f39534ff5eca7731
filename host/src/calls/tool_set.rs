//! The tools of a host, by name, and which names a tool may have. Must not run them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::governance::Effect;
use crate::ids::ToolName;
use crate::tools::Tool;

/// The tools of a host, by name.
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    tools: BTreeMap<ToolName, Arc<dyn Tool>>,
}

/// Two tools claim one name, or a name cannot be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolSetError {
    /// The name is taken.
    #[error("two tools are called `{name}`; give one of them another name")]
    Taken {
        /// The name.
        name: ToolName,
    },
    /// Models can only call names of letters, digits, `_` and `-`, 64 at most.
    #[error("`{name}` cannot be a tool's name: expected 1 to 64 letters, digits, `_` or `-`")]
    NotCallable {
        /// The name.
        name: ToolName,
    },
}

impl ToolSet {
    /// Adds a tool.
    ///
    /// # Errors
    /// [`ToolSetError`] where its name is taken or cannot be called.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), ToolSetError> {
        let name = ToolName::from(tool.description().name.as_str());
        check_callable(&name)?;
        if self.tools.contains_key(&name) {
            return Err(ToolSetError::Taken { name });
        }
        self.tools.insert(name, tool);
        Ok(())
    }

    /// The tool of exactly this name.
    #[must_use]
    pub fn get(&self, name: &ToolName) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All tools with what they can do at worst, sorted by name.
    pub fn effects(&self) -> impl Iterator<Item = (ToolName, Effect)> {
        self.tools.iter().map(|(name, tool)| (name.clone(), tool.effect()))
    }
}

/// Checks that every provider takes the name.
pub(crate) fn check_callable(name: &ToolName) -> Result<(), ToolSetError> {
    let text = name.as_str();
    let fits = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if fits { Ok(()) } else { Err(ToolSetError::NotCallable { name: name.clone() }) }
}

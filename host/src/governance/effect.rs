//! What a tool does to the world: what a policy's defaults go by. Holds no behaviour.

use serde::Serialize;

/// The kind of a tool, by what it can do at worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads or searches the workspace.
    Read,
    /// Changes files of the workspace.
    Write,
    /// Starts processes.
    Shell,
    /// Sends requests to other machines.
    Web,
    /// Hands work to a subagent.
    Delegate,
    /// Keeps a run's own affairs: notes, and what works for it in the background. What it starts is reviewed as what
    /// it is.
    Manage,
    /// A tool of the embedder's own: registering it is the leave to use it.
    Native,
}

impl Effect {
    /// True where a second try may do the thing twice.
    #[must_use]
    pub fn has_side_effects(self) -> bool {
        match self {
            Self::Read | Self::Manage => false,
            Self::Write | Self::Shell | Self::Web | Self::Delegate | Self::Native => true,
        }
    }
}

//! What of an agent file counts only when somebody trusts it, and how to trust it. Must not read the file or its
//! component.

use std::collections::BTreeSet;
use std::path::Path;

use deputy_declared::AgentFile;

use super::place::is_inside;
use super::{Origin, Place};

/// Turns that a file may ask for without trust: the library's own default.
const MOST_TURNS: u32 = 50;

/// What is trusted in a workspace.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// What has one of these hashes.
    Hashes(BTreeSet<String>),
    /// All of it, as it is now: what a person who trusts it is shown.
    All,
}

impl Trust {
    /// Whether anything is.
    pub(super) fn is_any(&self) -> bool {
        match self {
            Self::Hashes(hashes) => !hashes.is_empty(),
            Self::All => true,
        }
    }

    /// Whether what has this hash is.
    pub(super) fn holds(&self, hash: &str) -> bool {
        match self {
            Self::Hashes(hashes) => hashes.contains(hash),
            Self::All => true,
        }
    }
}

/// How far a file counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// What the file asks for that counts only with trust, in words.
    pub(crate) asks: Vec<String>,
    /// Whether that counts: somebody trusts the file, or the operator named it and no workspace holds it.
    pub(crate) trusted: bool,
    /// Whether its model and its turns count without trust.
    pub(super) named: bool,
    /// The command that trusts it.
    pub(super) remedy: String,
}

impl Standing {
    /// The standing of a file that nobody trusts yet. What the operator named counts but for code and paths that a
    /// workspace brings.
    pub(super) fn new(agent: &AgentFile, place: &Place, root: &Path) -> Self {
        let named = place.origin != Origin::Project;
        let mut asks = Vec::new();
        if place.in_workspace {
            asks.extend(agent.component.iter().map(|path| format!("the component {}", path.display())));
            let outside = agent.workspace_path.iter().filter(|path| !is_inside(path, root));
            asks.extend(outside.map(|path| format!("the directory {}", path.display())));
        }
        if !named {
            asks.extend(agent.model.iter().map(|model| format!("the model {model}")));
            asks.extend(
                Some(agent.max_turns)
                    .filter(|turns| *turns > MOST_TURNS)
                    .map(|turns| format!("{turns} turns")),
            );
        }
        Self { asks, trusted: false, named, remedy: place.remedy(root) }
    }

    /// The model that counts; or what to say where it does not.
    pub(super) fn model<'a>(&self, agent: &'a AgentFile) -> Result<Option<&'a str>, String> {
        match &agent.model {
            Some(model) if !self.named && !self.trusted => {
                let what = format!("its model `{}`", model.escape_debug());
                Err(format!("{}; it runs with the parent's model", self.untrusted(&what)))
            }
            model => Ok(model.as_deref()),
        }
    }

    /// The turns that count; and what to say where they are fewer than the file's.
    pub(super) fn turns(&self, agent: &AgentFile) -> (u32, Option<String>) {
        if self.named || self.trusted || agent.max_turns <= MOST_TURNS {
            return (agent.max_turns, None);
        }
        let what = format!("more than {MOST_TURNS} turns (the file asks for {})", agent.max_turns);
        (MOST_TURNS, Some(self.untrusted(&what)))
    }

    /// That something counts only with trust, and how to give it.
    pub(super) fn untrusted(&self, what: &str) -> String {
        format!("{what} counts only after `{}`, and again after each change of the file", self.remedy)
    }

    /// How to trust the file.
    pub(super) fn remedy(&self) -> &str {
        &self.remedy
    }
}

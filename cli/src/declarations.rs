//! Agents that files declare: from directories to subagents, each with what became of its file. Must not grant anything
//! or decide whom to trust.

mod build;
mod find;
mod instructions;
mod model;
mod naming;
mod place;
mod places;
mod standing;
mod told;

use std::path::PathBuf;

use deputy::model::ModelSpec;
use deputy::subagent::Subagent;
use deputy_declared::{AgentFile, Note};

pub(crate) use build::{Taken, settle};
pub(crate) use find::{Candidate, Found, find};
pub(crate) use instructions::GENERAL_PURPOSE;
pub(crate) use places::{Origin, Place, all as places, of_workspace};
pub(crate) use standing::Trust;
pub(crate) use told::tell;

/// Every file that was found, with what became of it.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) entries: Vec<Entry>,
    /// What concerns several files at once.
    pub(crate) notes: Vec<Note>,
}

/// A file that was found: an agent, or the reason why it is none.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) source: PathBuf,
    pub(crate) origin: Origin,
    /// What the file says, as far as it could be read.
    pub(crate) file: Option<AgentFile>,
    /// What its author and its user should know.
    pub(crate) warnings: Vec<String>,
    /// Those of the warnings that take something away for want of trust.
    pub(crate) untrusted: Vec<String>,
    pub(crate) agent: Result<Agent, String>,
}

/// A subagent that a file declares.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) subagent: Subagent,
    /// A model of its own, connected when a run begins.
    pub(crate) model: Option<ModelSpec>,
}

impl Declarations {
    /// The agents that are there to delegate to.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.entries.iter().filter_map(|entry| entry.agent.as_ref().ok())
    }

    /// The files that make no agent, by their ids, and why.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((entry.id.as_str(), entry.agent.as_ref().err()?.as_str())))
    }

    /// All that is to be said of a file, the notes that name it among it.
    pub(crate) fn warnings_of(&self, entry: &Entry) -> Vec<String> {
        let of_it = self.notes.iter().filter(|note| note.files.contains(&entry.source));
        entry
            .untrusted
            .iter()
            .chain(&entry.warnings)
            .cloned()
            .chain(of_it.map(|note| note.message.clone()))
            .collect()
    }
}

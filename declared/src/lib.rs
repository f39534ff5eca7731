//! Reads agent declaration files into values and finds them in directories. Must not grant a tool, start an
//! agent or follow what a file says.
//!
//! A file that is found is either loaded or refused with a reason; none vanishes. What a file says is a wish:
//! a tool in [`AgentFile::tools`] is one that the file asked for, and whether the agent gets it is decided
//! elsewhere.

mod agent_file;
mod definition;
mod directory;
mod fences;
mod front_matter;
mod id;
mod keys;
mod limits;
mod lines;
mod merge;
mod near;
mod open;
mod permissions;
mod problem;
mod read;
mod rules;
mod take;
mod tool_list;
mod tool_names;
mod tools;
mod values;
mod workspace;

#[cfg(test)]
mod tests;

pub use agent_file::{AgentFile, DeclaredLimits, DeclaredTools, SessionWord, Warning, WorkspaceMode};
pub use definition::{DEFINITION, definition};
pub use directory::{Found, Note, discover, discover_with};
pub use merge::merge;
pub use problem::Refused;
pub use read::read;
pub use rules::{Format, Rules};

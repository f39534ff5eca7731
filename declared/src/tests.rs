//! What files of all kinds become. Must not depend on files outside the crate.

mod any_file;
mod directories;
mod forms;
mod layers;
mod permissions;
mod sources;
mod tool_lists;
mod values;

use std::path::Path;

use super::*;

/// Reads `text` as `.claude/agents/heron.md`.
fn claude(text: &str) -> Result<AgentFile, Refused> {
    read(Path::new(".claude/agents/heron.md"), text.as_bytes(), &Rules::new(Format::ClaudeAgents))
}

/// Reads `text` as `subagents/heron.md`.
fn subagent(text: &str) -> Result<AgentFile, Refused> {
    read(Path::new("subagents/heron.md"), text.as_bytes(), &Rules::new(Format::Subagents))
}

/// A subagent with `keys` beside a description, and a prompt.
fn with(keys: &str) -> Result<AgentFile, Refused> {
    subagent(&format!("---\ndescription: Watches birds\n{keys}\n---\nCount them.\n"))
}

/// What [`with`] says on refusing.
fn refusal(keys: &str) -> String {
    with(keys).unwrap_err().to_string()
}

/// The tools by name that [`with`] asks for.
fn named(keys: &str) -> Vec<String> {
    match with(keys).unwrap().tools {
        DeclaredTools::Named(tools) => tools,
        DeclaredTools::Inherit => panic!("`{keys}` inherits"),
    }
}

/// All warnings in one text.
fn warnings(agent: &AgentFile) -> String {
    agent.warnings.iter().map(|warning| warning.message.as_str()).collect::<Vec<_>>().join("\n")
}

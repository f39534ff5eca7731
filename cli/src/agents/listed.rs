//! One line of the list of agents, as an object and in words: a subagent, or a file that makes none. Must not look for any.

use std::path::Path;

use deputy::event::SessionMode;
use deputy::handoff::RegistryError;
use deputy::subagent::Subagent;
use deputy::workspace::WorkspaceMode;
use deputy_declared::AgentFile;
use serde_json::{Value, json};

use crate::config::INHERIT;
use crate::declarations::{Declarations, Entry};
use crate::render;

/// A subagent, or a file that makes none.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) id: String,
    source: String,
    pub(super) subagent: Result<Subagent, String>,
    file: Option<AgentFile>,
    warnings: Vec<String>,
    /// Whether the operator named its directory.
    pub(super) named: bool,
    /// Whether it ends the command that it makes no subagent.
    pub(super) fatal: bool,
}

impl Listed {
    /// A component that the operator named, and that is none.
    pub(super) fn broken(path: &Path, error: String) -> Self {
        Self {
            id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            source: path.display().to_string(),
            subagent: Err(error),
            file: None,
            warnings: Vec::new(),
            named: false,
            fatal: true,
        }
    }

    /// A subagent, as far as a host takes it in; and the file that declares it.
    pub(super) fn taken_in(
        subagent: Subagent,
        taken_in: Result<(), RegistryError>,
        entry: Option<(&Entry, &Declarations)>,
    ) -> Self {
        Self {
            id: subagent.name().to_string(),
            source: subagent.declared_in().to_owned(),
            fatal: taken_in.is_err(),
            subagent: taken_in.map(|()| subagent).map_err(|error| error.to_string()),
            file: entry.and_then(|(entry, _)| entry.file.clone()),
            warnings: entry.map(|(entry, all)| all.warnings_of(entry)).unwrap_or_default(),
            named: entry.is_some_and(|(entry, _)| entry.is_named()),
        }
    }

    /// A file that makes no subagent.
    pub(super) fn refused(entry: &Entry, all: &Declarations) -> Self {
        Self {
            id: entry.id.clone(),
            source: entry.source.display().to_string(),
            subagent: entry.agent.as_ref().map(|agent| agent.subagent.clone()).map_err(Clone::clone),
            file: entry.file.clone(),
            warnings: all.warnings_of(entry),
            named: entry.is_named(),
            fatal: false,
        }
    }

    /// The line as an object; its keys are the same for all.
    pub(super) fn object(&self) -> Value {
        let loaded = self.subagent.as_ref().ok();
        let session = loaded.map(Subagent::mode);
        json!({
            "id": self.id,
            "source": self.source,
            "status": if loaded.is_some() { "loaded" } else { "refused" },
            "description": loaded.map(Subagent::described),
            "tool_name": loaded.map(|subagent| subagent.tool().as_str()),
            "tools": loaded.map(tools).unwrap_or_default(),
            "tools_raw": self.file.as_ref().and_then(|file| file.tools_raw.as_ref()),
            "disallowed_tools": loaded.map(without).unwrap_or_default(),
            "model": self.file.as_ref().and_then(|file| file.model.as_ref()),
            "max_turns": loaded.and_then(Subagent::turn_limit),
            "workspace": loaded.map(workspace),
            "session": session.map(|mode| match mode {
                SessionMode::Fresh => "fresh",
                SessionMode::Reuse => "reuse",
            }),
            "session_mode": session,
            "sha256": loaded.map(|subagent| subagent.component().sha256()),
            "warnings": self.warnings,
            "error": self.subagent.as_ref().err(),
        })
    }

    /// The line in words.
    pub(super) fn row(&self) -> String {
        let (id, source) = (render::line(&self.id), render::line(&self.source));
        let mut text = match &self.subagent {
            Err(error) => format!("{id} ({source}): refused\n  {}\n", render::line(error)),
            Ok(subagent) => format!(
                "{id} ({source}, called as {})\n  {}\n  tools: {}\n",
                render::line(subagent.tool().as_str()),
                render::line(subagent.described().lines().next().unwrap_or_default()),
                render::or_nothing(tools(subagent))
            ),
        };
        for warning in &self.warnings {
            text.push_str(&format!("  warning: {}\n", render::line(warning)));
        }
        text
    }
}

/// The tools that a subagent asks for; one word stands for those of its parent.
fn tools(subagent: &Subagent) -> Vec<&str> {
    let inherited = subagent.declaration().tools.inherit.then_some(INHERIT);
    inherited.into_iter().chain(subagent.declared_tools().iter().map(|tool| tool.as_str())).collect()
}

/// The tools that it does not get though its parent has them.
fn without(subagent: &Subagent) -> Vec<&str> {
    subagent.declaration().tools.without.iter().map(|tool| tool.as_str()).collect()
}

fn workspace(subagent: &Subagent) -> &'static str {
    match subagent.workspace_mode() {
        WorkspaceMode::Shared => "shared",
        WorkspaceMode::Worktree => "worktree",
        _ => "isolated",
    }
}

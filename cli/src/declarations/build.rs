//! Makes subagents of agent files, under the operator's configuration. Must not read the files, nor give an agent more than
//! its file asks for.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use deputy::event::SessionMode;
use deputy::sandbox::{Component, GuestLimits};
use deputy::subagent::Subagent;
use deputy_declared::{AgentFile, DeclaredTools, SessionWord};

use super::find::Found;
use super::place::placed;
use super::{Agent, Candidate, Declarations, Entry, Origin, model, naming};
use crate::config::{self, Config, dotted_key};
use crate::subagents::{changed, guest_limits};

/// The name of the agent that delegates.
const PARENT: &str = "parent";

/// What is there beside the files.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    /// Subagents that the operator named by their files: they stand over agent files of their names.
    pub(crate) plugins: &'a [Subagent],
    /// Those that are built in, in whose place agent files of their names stand.
    pub(crate) stock: &'a [Subagent],
    /// Tools that are there.
    pub(crate) tools: BTreeSet<String>,
    /// The component that runs prompts.
    pub(crate) runner: &'a Arc<Component>,
    /// The workspace's canonical path.
    pub(crate) root: &'a Path,
}

/// What becomes of the files that were found.
pub(crate) fn settle(found: Found, config: &Config, taken: &mut Taken<'_>) -> Declarations {
    let entries = found.candidates.into_iter().map(|candidate| entry(candidate, config, taken)).collect();
    Declarations { entries, notes: found.notes }
}

fn entry(candidate: Candidate, config: &Config, taken: &mut Taken<'_>) -> Entry {
    let origin = candidate.origin;
    let id = candidate.id().to_owned();
    let agent = match &candidate.file {
        Ok(agent) => agent,
        Err(refused) => {
            let (source, error) = (refused.path.clone(), refused.to_string());
            let (warnings, untrusted) = (Vec::new(), Vec::new());
            return Entry { id, source, origin, file: None, warnings, untrusted, agent: Err(error) };
        }
    };
    let mut said = Said { warnings: agent.warnings.iter().map(in_words).collect(), untrusted: Vec::new() };
    let made = elsewhere(agent, config, taken)
        .map_or(Ok(()), Err)
        .and_then(|()| made(agent, &candidate, config.subagents.get(&agent.id), config, taken, &mut said))
        .map_err(|reason| format!("{}: {reason}", agent.path.display()));
    let source = agent.path.clone();
    let Said { warnings, untrusted } = said;
    Entry { id, source, origin, warnings, untrusted, agent: made, file: candidate.file.ok() }
}

/// What is said while an agent is made.
struct Said {
    warnings: Vec<String>,
    untrusted: Vec<String>,
}

fn in_words(warning: &deputy_declared::Warning) -> String {
    match warning.line {
        Some(line) => format!("line {line}: {}", warning.message),
        None => warning.message.clone(),
    }
}

/// Why a file does not count, where the operator has it otherwise.
fn elsewhere(agent: &AgentFile, config: &Config, taken: &Taken<'_>) -> Option<String> {
    let table = config.subagents.get(&agent.id);
    let key = |last: &str| dotted_key(&["subagents", &agent.id, last]);
    let plugin = taken.plugins.iter().find(|plugin| plugin.name().as_str().eq_ignore_ascii_case(&agent.id));
    if agent.id.eq_ignore_ascii_case(PARENT) {
        Some(format!("`{PARENT}` is what the agent is called that delegates: give this one another name"))
    } else if let Some(plugin) = plugin {
        Some(format!("`--subagent {}` stands for that name: rename one of them", plugin.declared_in()))
    } else if table.is_some_and(|table| table.enabled == Some(false)) {
        Some(format!("it is switched off by `{}`", key("enabled")))
    } else if table.is_some_and(|table| table.component.is_some() || table.prompt.is_some()) {
        Some(format!(
            "`{}` of the configuration is another agent of that name",
            dotted_key(&["subagents", &agent.id])
        ))
    } else {
        None
    }
}

fn made(
    agent: &AgentFile,
    candidate: &Candidate,
    table: Option<&config::Subagent>,
    config: &Config,
    taken: &mut Taken<'_>,
    said: &mut Said,
) -> Result<Agent, String> {
    let standing = &candidate.standing;
    let placed = placed(agent, table, taken.root, standing)?;
    said.warnings.extend(placed.warnings);
    let component = candidate.component.as_ref().unwrap_or(taken.runner);
    let (turns, fewer) = standing.turns(agent);
    said.untrusted.extend(fewer);
    let mut subagent = Subagent::new(agent.id.as_str(), component.clone())
        .source(agent.path.display().to_string())
        .max_turns(turns)
        .workspace(placed.mode)
        .limits(limits(agent, config, table))
        .session_mode(match agent.session {
            SessionWord::Fresh => SessionMode::Fresh,
            SessionWord::Reuse => SessionMode::Reuse,
        });
    if !agent.description.is_empty() {
        subagent = subagent.description(agent.description.as_str());
    }
    if let Some(instructions) = placed.instructions {
        subagent = subagent.instructions(instructions);
    }
    subagent = match &agent.tools {
        // A component that no file speaks for asks by what it imports.
        DeclaredTools::Named(_) if agent.component.as_ref() == Some(&agent.path) => {
            subagent.tools_as_imported()
        }
        DeclaredTools::Named(tools) => subagent.tools(tools.iter().map(String::as_str)),
        DeclaredTools::Inherit => subagent.inherit_tools(),
    };
    subagent = subagent.without_tools(agent.disallowed_tools.iter().map(String::as_str));
    if table.is_none_or(|table| table.tool_name.is_none()) {
        if let Some(own) = taken.stock.iter().find(|one| one.name().as_str().eq_ignore_ascii_case(&agent.id))
        {
            taken.tools.remove(own.tool().as_str());
        }
        let (tool_name, why) = naming::tool_name(&agent.id, &mut taken.tools);
        said.warnings.extend(why);
        subagent = subagent.tool_name(tool_name);
    }
    if let Some(table) = table {
        subagent = changed(subagent, table);
    }
    let model = standing.model(agent).unwrap_or_else(|why| {
        said.untrusted.push(why);
        None
    });
    let model = model.and_then(|written| model::named(written).map_err(|why| said.warnings.push(why)).ok());
    Ok(Agent { subagent, model })
}

/// What one run of the agent may use: what its file says within what the operator says, whose word on the one agent
/// stands over both.
fn limits(agent: &AgentFile, config: &Config, table: Option<&config::Subagent>) -> GuestLimits {
    let operators = guest_limits(config, table);
    let (fuel, memory) = (table.and_then(|table| table.fuel), table.and_then(|table| table.memory));
    let own_fuel = agent.limits.fuel.filter(|_| fuel.is_none());
    let own_memory = agent.limits.memory.filter(|_| memory.is_none());
    GuestLimits {
        time: operators.time.or(agent.timeout),
        fuel: own_fuel.map_or(operators.fuel, |fuel| fuel.min(operators.fuel)),
        memory: own_memory.map_or(operators.memory, |memory| memory.min(operators.memory)),
    }
}

impl Entry {
    /// Whether its directory was named on the command line.
    pub(crate) fn is_named(&self) -> bool {
        self.origin == Origin::Flag
    }
}

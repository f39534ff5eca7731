//! Turns the bytes of one declaration file into its values. Must not touch the disk.

use std::path::Path;

use super::fences::{Parts, split};
use super::front_matter::{Field, fields};
use super::keys::Key;
use super::problem::{Notes, Problem, Refused, shown, stem};
use super::take::{said_before, take};
use super::workspace::Workspace;
use super::{
    AgentFile, DeclaredLimits, DeclaredTools, Format, Rules, SessionWord, WorkspaceMode, id, permissions,
};

/// Turns of a run where the file says nothing.
pub(super) const MAX_TURNS: u32 = 10;

/// Reads the declaration in `bytes`, which came from `path`.
///
/// # Errors
/// Where it is no agent file, has no description, names a remote url, or where something in it that limits the
/// agent cannot be read with certainty.
pub fn read(path: &Path, bytes: &[u8], rules: &Rules) -> Result<AgentFile, Refused> {
    let mut id = stem(path);
    let refused = |id: &str, problem: Problem| Refused {
        path: path.to_owned(),
        id: id.to_owned(),
        line: problem.line,
        reason: problem.reason,
    };
    let parts = decode(bytes).and_then(split).map_err(|problem| refused(&id, problem))?;
    let mut notes = Notes::new(rules.strict);
    if parts.indented > 0 {
        let message =
            format!("the whole file is indented by {} columns; read as if it were not", parts.indented);
        notes.say(parts.first_line.saturating_sub(1), message);
    }
    let fields =
        fields(&parts.front, parts.first_line, &mut notes).map_err(|problem| refused(&id, problem))?;
    if rules.format == Format::ClaudeAgents {
        name(&mut id, &fields, &parts, &mut notes).map_err(|problem| refused(&id, problem))?;
    }
    let checked = id::check(&id).map_err(|reason| refused(&id, Problem { line: None, reason }))?;
    agent(path, checked.clone(), &parts, &fields, rules, notes).map_err(|problem| refused(&checked, problem))
}

fn decode(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        Problem::at(line, "expected UTF-8 text, found other bytes: save the file as UTF-8")
    })
}

/// The `name` of the file, in place of its stem.
fn name(id: &mut String, fields: &[Field], parts: &Parts, notes: &mut Notes) -> Result<(), Problem> {
    let named = fields.iter().find(|field| field.meaning == Key::Name);
    match named.map(Field::text).transpose()?.flatten() {
        Some(name) => {
            *id = id::without_separators(&name);
            if *id != name {
                let line = named.map_or(parts.first_line, |field| field.line);
                notes.say(
                    line,
                    format!("a name has no place in a path: {} is called {} here", shown(&name), shown(id)),
                );
            }
        }
        None => notes
            .say(parts.first_line, format!("no `name`: the agent is called {} after its file", shown(id))),
    }
    Ok(())
}

fn agent(
    path: &Path,
    id: String,
    parts: &Parts,
    fields: &[Field],
    rules: &Rules,
    mut notes: Notes,
) -> Result<AgentFile, Problem> {
    let mut agent = AgentFile {
        id,
        path: path.to_owned(),
        description: String::new(),
        tools: DeclaredTools::Inherit,
        tools_raw: None,
        disallowed_tools: Vec::new(),
        model: None,
        max_turns: MAX_TURNS,
        workspace: match rules.format {
            Format::Subagents => WorkspaceMode::Isolated,
            Format::ClaudeAgents => WorkspaceMode::Shared,
        },
        workspace_path: None,
        session: SessionWord::Fresh,
        timeout: None,
        limits: DeclaredLimits::default(),
        component: None,
        prompt: parts.body.clone(),
        warnings: Vec::new(),
    };
    let mut workspace = Workspace::default();
    for (index, field) in fields.iter().enumerate() {
        if !said_before(fields.get(..index).unwrap_or_default(), field, &mut notes)? {
            take(&mut agent, &mut workspace, field, rules, &mut notes)?;
        }
    }
    finish_tools(&mut agent, fields, &mut notes)?;
    agent.workspace = workspace.mode.unwrap_or(agent.workspace);
    agent.workspace_path = workspace.path;
    if agent.description.is_empty() {
        return Err(Problem::at(
            parts.first_line,
            "expected a `description`, found none: say in one line when the agent is to be used",
        ));
    }
    one_prompt(&mut agent, parts, &mut notes);
    agent.warnings = notes.warnings;
    Ok(agent)
}

/// Takes the denied tools out of the named ones, then looks at the rules that depend on them.
fn finish_tools(agent: &mut AgentFile, fields: &[Field], notes: &mut Notes) -> Result<(), Problem> {
    if let DeclaredTools::Named(tools) = &mut agent.tools {
        tools.retain(|tool| !agent.disallowed_tools.contains(tool));
    }
    let rules = [Key::Permission, Key::PermissionMode, Key::Hooks, Key::Suspicious];
    fields
        .iter()
        .filter(|field| rules.contains(&field.meaning))
        .try_for_each(|field| permissions::take(field, &agent.tools, notes))
}

/// Of a definition directory and a body the directory counts.
fn one_prompt(agent: &mut AgentFile, parts: &Parts, notes: &mut Notes) {
    if let (Some(path), false) = (&agent.workspace_path, agent.prompt.is_empty()) {
        let message = format!(
            "the text of the file is ignored: {} is the agent's definition",
            shown(&path.to_string_lossy())
        );
        notes.say(parts.first_line + parts.front.len() + 1, message);
        agent.prompt.clear();
    } else if agent.prompt.is_empty() && agent.workspace_path.is_none() && agent.component.is_none() {
        notes.say(
            parts.first_line + parts.front.len(),
            "no text follows: the agent has no instructions of its own",
        );
    }
}

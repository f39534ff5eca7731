//! Takes one key after another into an agent's values. Must not decide what keys mean together.

use super::front_matter::Field;
use super::keys::{Key, restricts};
use super::problem::{Notes, Problem, shown};
use super::workspace::Workspace;
use super::{AgentFile, DeclaredTools, Rules, SessionWord, limits, tools};

/// Whether an earlier field of the same meaning counts in place of this one.
///
/// # Errors
/// Where both limit the agent, and differently.
pub(super) fn said_before(earlier: &[Field], field: &Field, notes: &mut Notes) -> Result<bool, Problem> {
    let same = |other: &&Field| other.meaning == field.meaning;
    if matches!(field.meaning, Key::Decoration | Key::Foreign | Key::Unknown | Key::Suspicious) {
        return Ok(false);
    }
    let Some(first) = earlier.iter().find(same) else { return Ok(false) };
    let (key, line) = (shown(&first.key), first.line);
    if first.value == field.value {
        return Ok(true);
    }
    if restricts(field.meaning) || matches!(field.meaning, Key::Component | Key::Url) {
        return Err(field.expected(&format!("what {key} in line {line} says of the same: keep one of them")));
    }
    notes.say(field.line, format!("{} is left out: {key} in line {line} came first", shown(&field.key)));
    Ok(true)
}

/// Puts what `field` says into the agent.
///
/// # Errors
/// Where it cannot be read, or is refused in a file.
pub(super) fn take(
    agent: &mut AgentFile,
    workspace: &mut Workspace,
    field: &Field,
    rules: &Rules,
    notes: &mut Notes,
) -> Result<(), Problem> {
    match field.meaning {
        // Read before, or together with the tools once these are known.
        Key::Name
        | Key::Decoration
        | Key::Permission
        | Key::PermissionMode
        | Key::Hooks
        | Key::Suspicious => {}
        Key::Description => agent.description = field.text()?.unwrap_or_default(),
        Key::Tools => {
            let (tools, raw) = tools::allowed(field, &rules.more_tools, notes)?;
            agent.tools = DeclaredTools::Named(tools);
            agent.tools_raw = Some(raw);
        }
        Key::DisallowedTools => agent.disallowed_tools = tools::disallowed(field, &rules.more_tools, notes)?,
        Key::Model => agent.model = model(field, notes)?,
        Key::MaxTurns => {
            if let Some(turns) = field.count()? {
                agent.max_turns = u32::try_from(turns).unwrap_or(u32::MAX);
            }
        }
        Key::Workspace | Key::WorkspaceMode | Key::WorkspacePath | Key::Isolation => workspace.take(field)?,
        Key::Session => {
            let words = [("fresh", SessionWord::Fresh), ("reuse", SessionWord::Reuse)];
            agent.session = field.word(&words)?.unwrap_or_default();
        }
        Key::Timeout => agent.timeout = field.duration()?,
        Key::Limits | Key::LimitsFuel | Key::LimitsMemory => limits::take(&mut agent.limits, field)?,
        Key::Component => {
            let component = field.text()?;
            agent.component = component.map(|component| agent.path.with_file_name("").join(component));
        }
        Key::Url => {
            return Err(field.expected(
                "no `url` in a file, since a remote agent is declared by the operator: remove it, or declare the \
                 agent in the host's configuration",
            ));
        }
        Key::Foreign => notes.ignored(field.line, format!("{} has no effect here", shown(&field.key)))?,
        Key::Unknown => {
            notes.ignored(field.line, format!("{} is no known key; ignored", shown(&field.key)))?
        }
    }
    Ok(())
}

/// The model; of a list the first, and `inherit` is none.
fn model(field: &Field, notes: &mut Notes) -> Result<Option<String>, Problem> {
    let first = field.value.as_array().and_then(|models| models.first());
    let model = match first {
        Some(first) => {
            notes.say(field.line, format!("{} is a list; its first entry counts", shown(&field.key)));
            field.part("0", first).text()?
        }
        None => field.text()?,
    };
    Ok(model.filter(|model| !model.eq_ignore_ascii_case("inherit")))
}

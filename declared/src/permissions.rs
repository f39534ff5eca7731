//! Takes the rules of other products: those that widen have no effect here, those that this host cannot keep
//! refuse the file. Must not translate a rule into a grant.

use serde_json::Value;

use super::DeclaredTools;
use super::front_matter::Field;
use super::keys::Key;
use super::problem::{Notes, Problem, shown};
use super::tool_names::changes;

/// Takes a key such as `permission`, `permissionMode` or `hooks`, or one that may be a restriction with a slip in
/// its name.
///
/// # Errors
/// Where passing over it could let the agent do more than its author allowed.
pub(super) fn take(field: &Field, tools: &DeclaredTools, notes: &mut Notes) -> Result<(), Problem> {
    let empty = match &field.value {
        Value::Null => true,
        Value::Object(parts) => parts.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    let key = shown(&field.key);
    match field.meaning {
        Key::Suspicious => Err(Problem::at(
            field.line,
            format!(
                "expected a key that is known, found {key}, which may be meant to limit the agent: correct it \
                 (`tools`, `disallowed_tools`, `workspace`, `limits`, `timeout`), or remove it"
            ),
        )),
        _ if empty => Ok(()),
        Key::PermissionMode => mode(field, tools, notes),
        _ => Err(Problem::at(
            field.line,
            format!(
                "expected `tools` and `disallowed_tools` to limit the agent, found {key}, whose rules this host \
                 cannot keep: write them with those two keys and remove {key}"
            ),
        )),
    }
}

fn mode(field: &Field, tools: &DeclaredTools, notes: &mut Notes) -> Result<(), Problem> {
    /// What a mode does to the agent, seen from here.
    #[derive(Clone, Copy)]
    enum Mode {
        Widens,
        ReadsOnly,
    }
    let modes = [
        ("default", Mode::Widens),
        ("acceptEdits", Mode::Widens),
        ("auto", Mode::Widens),
        ("bypassPermissions", Mode::Widens),
        ("plan", Mode::ReadsOnly),
    ];
    let key = shown(&field.key);
    match field.word(&modes)? {
        None => Ok(()),
        Some(Mode::Widens) => {
            notes.ignored(field.line, format!("{key} has no effect here: the operator grants and approves tools"))
        }
        Some(Mode::ReadsOnly) => match tools {
            DeclaredTools::Named(tools) if !tools.iter().any(|tool| changes(tool)) => Ok(()),
            DeclaredTools::Named(_) | DeclaredTools::Inherit => Err(field.expected(
                "`plan` only beside a `tools` list that holds nothing but reading and searching: this host keeps an \
                 agent from changes by its tools, so name `Read`, `Grep`, `Glob` there",
            )),
        },
    }
}

//! Where a declared agent works and what its system text is: the table of the two, row by row. Must not let a file lead
//! out of the workspace by its own word.

use std::path::{Component, Path, PathBuf};

use deputy::workspace::WorkspaceMode;
use deputy_declared::{AgentFile, WorkspaceMode as Word, definition};

use super::instructions;
use super::standing::Standing;
use crate::config::{self, WorkspaceWord, dotted_key};

/// Where an agent works, and with which system text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) mode: WorkspaceMode,
    pub(super) instructions: Option<String>,
    pub(super) warnings: Vec<String>,
}

/// The row of `agent`, over which the operator's `table` stands. `root` is the workspace's canonical path.
///
/// | `workspace.path` | mode | system text | works in |
/// | --- | --- | --- | --- |
/// | given | isolated | its `AGENTS.md` | that directory |
/// | given | shared, worktree | its `AGENTS.md` | the workspace, a worktree of it |
/// | none | isolated | the file's own text | `agents/NAME/workspace` |
/// | none | shared, worktree | the file's own text | the workspace, a worktree of it |
///
/// # Errors
/// Why it would work where nobody sent it, or cannot have its definition.
pub(super) fn placed(
    agent: &AgentFile,
    table: Option<&config::Subagent>,
    root: &Path,
    standing: &Standing,
) -> Result<Placed, String> {
    let word = match table.and_then(|table| table.workspace) {
        Some(WorkspaceWord::Isolated) => Word::Isolated,
        Some(WorkspaceWord::Shared) => Word::Shared,
        Some(WorkspaceWord::Worktree) => Word::Worktree,
        None => agent.workspace,
    };
    let mode = |isolated: WorkspaceMode| match word {
        Word::Isolated => isolated,
        Word::Shared => WorkspaceMode::Shared,
        Word::Worktree => WorkspaceMode::Worktree,
    };
    let operators = table.and_then(|table| table.workspace_path.as_deref());
    let mut warnings = Vec::new();
    let (mode, text) = match (operators, &agent.workspace_path) {
        (Some(path), given) => {
            if !standing.trusted {
                let what =
                    format!("its place at {}, which the configuration gives to that name,", path.display());
                return Err(standing.untrusted(&what));
            }
            match given {
                Some(_) => (mode(WorkspaceMode::At(path.to_owned())), defined(path, path, &mut warnings)?),
                None => (WorkspaceMode::At(path.to_owned()), agent.prompt.clone()),
            }
        }
        (None, Some(given)) => {
            let path = normal(given, root);
            let Ok(inside) = path.strip_prefix(root) else {
                return Err(outside(agent, &path, standing));
            };
            let text = defined(&path, root, &mut warnings)?;
            let is_root = inside.as_os_str().is_empty();
            let own = if is_root { WorkspaceMode::Shared } else { WorkspaceMode::Inside(inside.to_owned()) };
            (mode(own), text)
        }
        (None, None) => (mode(WorkspaceMode::Isolated), agent.prompt.clone()),
    };
    let own_directory = mode == WorkspaceMode::Isolated;
    if own_directory {
        warnings.extend(empty(&agent.id, root));
    }
    Ok(Placed { instructions: instructions::of(&text, own_directory), mode, warnings })
}

/// The text of a definition directory below `root`.
fn defined(path: &Path, root: &Path, warnings: &mut Vec<String>) -> Result<String, String> {
    let canonical = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    if !path.is_dir() {
        warnings.push(format!(
            "there is no directory {} yet: make it, or correct `workspace.path`",
            path.display()
        ));
        return Ok(String::new());
    }
    Ok(definition(&canonical, path)?.unwrap_or_default())
}

/// That a file cannot send its agent out of the workspace, and what the operator can do.
fn outside(agent: &AgentFile, path: &Path, standing: &Standing) -> String {
    let key = dotted_key(&["subagents", &agent.id, "workspace_path"]);
    let path = path.display().to_string();
    let line = format!("{key} = {}", serde_json::Value::from(path.as_str()));
    // What lies in no workspace is trusted without being asked for.
    let trust = if standing.asks.is_empty() {
        String::new()
    } else {
        format!(" in deputy.toml, then run `{}`", standing.remedy())
    };
    format!(
        "its `workspace.path` {path} is outside the workspace, where only the operator can send an agent: set `{line}`{trust}"
    )
}

/// That an agent in a directory of its own has nothing there.
fn empty(id: &str, root: &Path) -> Option<String> {
    let below = Path::new("agents").join(id).join("workspace");
    let mut there = std::fs::read_dir(root.join(&below)).into_iter().flatten();
    there.next().is_none().then(|| {
        format!(
            "works in {}, in which there is nothing yet; `workspace: shared` gives it the files of the workspace",
            below.display()
        )
    })
}

/// Whether a path of a file stays in the workspace, as far as its words say.
pub(super) fn is_inside(path: &Path, root: &Path) -> bool {
    normal(path, root).starts_with(root)
}

/// `path`, from the workspace, without `.` and `..`.
fn normal(path: &Path, root: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests;

//! Reads which files an agent works on. Must not resolve a path or look at the disk.

use std::path::PathBuf;

use serde_json::Value;

use super::WorkspaceMode;
use super::front_matter::Field;
use super::keys::Key;
use super::problem::{Problem, shown};

const MODES: &[(&str, WorkspaceMode)] = &[
    ("isolated", WorkspaceMode::Isolated),
    ("shared", WorkspaceMode::Shared),
    ("worktree", WorkspaceMode::Worktree),
];

/// What the file says so far.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) mode: Option<WorkspaceMode>,
    pub(super) path: Option<PathBuf>,
}

impl Workspace {
    /// Takes one of the keys about the workspace.
    ///
    /// # Errors
    /// Where it cannot be read, or contradicts another one.
    pub(super) fn take(&mut self, field: &Field) -> Result<(), Problem> {
        match (field.meaning, &field.value) {
            (Key::WorkspaceMode, _) => self.mode(field, field.word(MODES)?),
            (Key::WorkspacePath, _) => self.path(field),
            (Key::Isolation, _) => {
                let mode = field.word(&[("worktree", Some(WorkspaceMode::Worktree)), ("none", None)])?;
                self.mode(field, mode.flatten())
            }
            (_, Value::Object(parts)) => {
                for (name, value) in parts {
                    let part = field.part(name, value);
                    match name.as_str() {
                        "mode" => self.mode(&part, part.word(MODES)?)?,
                        "path" => self.path(&part)?,
                        _ => {
                            let known = format!("only `mode` and `path` in {}", shown(&field.key));
                            return Err(part.expected(&known));
                        }
                    }
                }
                Ok(())
            }
            (_, Value::String(_)) => {
                let hint = "`isolated`, `shared` or `worktree` (for a directory write `workspace:` and below it `path: DIR`)";
                let mode = field.word(MODES).map_err(|_| field.expected(hint))?;
                self.mode(field, mode)
            }
            (_, Value::Null) => Ok(()),
            (_, Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                Err(field.expected("a map with `mode` and `path`"))
            }
        }
    }

    fn mode(&mut self, field: &Field, mode: Option<WorkspaceMode>) -> Result<(), Problem> {
        match (self.mode, mode) {
            (Some(before), Some(mode)) if before != mode => {
                Err(field
                    .expected("the same workspace mode as another key of the file says: keep one of them"))
            }
            (_, mode) => {
                self.mode = mode.or(self.mode);
                Ok(())
            }
        }
    }

    fn path(&mut self, field: &Field) -> Result<(), Problem> {
        let path = match &field.value {
            Value::Null => return Ok(()),
            Value::String(path) if !path.trim().is_empty() && !path.contains('\0') => {
                PathBuf::from(path.trim())
            }
            _ => return Err(field.expected("the path of a directory")),
        };
        if self.path.as_ref().is_some_and(|before| *before != path) {
            return Err(field.expected("the same path as another key of the file says: keep one of them"));
        }
        self.path = Some(path);
        Ok(())
    }
}

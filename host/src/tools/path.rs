//! The paths that models give and read: what may be asked for, how names are shown, how the system's
//! errors read. Must not open anything.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::ToolError;
use crate::workspace::Workspace;

/// Most bytes of a path, `.` and doubled slashes left out; what Linux takes in one call.
const LONGEST_PATH: usize = 4096;
/// Most bytes of a path that a message repeats.
const SHOWN_BYTES: usize = 300;

/// A path relative to the workspace root that does not leave it by its words alone. Links are not looked
/// at here: the open directory refuses those that lead out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkspacePath {
    path: PathBuf,
    names_directory: bool,
}

impl WorkspacePath {
    /// Reads a path as a model gave it. An absolute path inside the workspace is taken as relative.
    ///
    /// # Errors
    /// [`ToolError::InvalidArguments`] where it is empty, too long, holds a NUL, or leaves the workspace.
    pub(super) fn parse(text: &str, workspace: &Workspace) -> Result<Self, ToolError> {
        let refuse = |why: &str| Err(ToolError::InvalidArguments(format!("`{}` {why}", shown_text(text))));
        if text.trim().is_empty() {
            return Err(ToolError::InvalidArguments(
                "the path is empty; give one relative to the workspace root (`.` is the root itself)".into(),
            ));
        }
        if text.contains('\0') {
            return refuse("holds a NUL character, which no path can");
        }
        let given = Path::new(text);
        let relative = if given.has_root() {
            match given.strip_prefix(workspace.path()) {
                Ok(inside) => inside,
                Err(_) => {
                    return refuse("lies outside the workspace; paths are relative to the workspace root");
                }
            }
        } else {
            given
        };
        let mut path = PathBuf::new();
        let mut depth = 0_usize;
        for part in relative.components() {
            match part {
                Component::Normal(name) => {
                    depth += 1;
                    path.push(name);
                }
                Component::ParentDir => match depth.checked_sub(1) {
                    Some(less) => {
                        depth = less;
                        path.push("..");
                    }
                    None => {
                        return refuse(
                            "leaves the workspace through `..`; paths are relative to the workspace root",
                        );
                    }
                },
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        if path.as_os_str().len() > LONGEST_PATH {
            let length = path.as_os_str().len();
            return refuse(&format!("is {length} bytes long; a path has at most {LONGEST_PATH}"));
        }
        let names_directory = path.as_os_str().is_empty() || text.ends_with('/') || text.ends_with("/.");
        Ok(Self { path, names_directory })
    }

    /// The workspace root.
    pub(super) fn root() -> Self {
        Self { path: PathBuf::new(), names_directory: true }
    }

    /// The path for a call on the root directory: `.` for the root itself.
    pub(super) fn as_path(&self) -> &Path {
        openable(&self.path)
    }

    /// The path without a `.` for the root: what names below it are joined to.
    pub(super) fn prefix(&self) -> &Path {
        &self.path
    }

    /// True where the words alone say that a directory is meant: the root, or a slash at the end.
    pub(super) fn names_directory(&self) -> bool {
        self.names_directory
    }

    /// How messages and results show it.
    pub(super) fn shown(&self) -> String {
        shown(self.as_path())
    }
}

/// `path`, or `.` where it is empty.
pub(super) fn openable(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// A path as text: as it is where it can be read, else in double quotes with what cannot be read escaped
/// (`"a\nb"`, `"caf\xe9"`), so that a name never looks like two lines, like another name, or like markup.
pub(super) fn shown(path: &Path) -> String {
    let name = path.as_os_str();
    match name.to_str() {
        Some(text) if !text.starts_with('"') && !text.chars().any(is_unreadable) => text.to_owned(),
        _ => escaped(name),
    }
}

/// Any text that was given as a path, for a message: escaped where needed, cut where long.
fn shown_text(text: &str) -> String {
    let mut end = text.len().min(SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = shown(Path::new(text.get(..end).unwrap_or_default()));
    if end < text.len() { format!("{head}…") } else { head }
}

fn escaped(name: &OsStr) -> String {
    let mut out = String::from("\"");
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                c if is_unreadable(c) => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// Control characters, line separators, and the invisible ones that turn the direction of text.
fn is_unreadable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// What the system said when `verb`ing `path`, in words that a model can act on.
pub(super) fn io_error(verb: &str, path: &Path, error: &io::Error) -> ToolError {
    let name = shown(openable(path));
    let text = match error.kind() {
        io::ErrorKind::NotFound => {
            return ToolError::NotFound(format!(
                "`{name}` does not exist in the workspace; list_files and find_files show what does"
            ));
        }
        // The open directory says so itself, without an error number of the system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            format!(
                "`{name}` leads out of the workspace through a link; only what lies inside can be reached"
            )
        }
        io::ErrorKind::NotADirectory => format!("cannot {verb} `{name}`: a part of it is not a directory"),
        io::ErrorKind::InvalidFilename => format!("cannot {verb} `{name}`: the name is too long"),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            format!("cannot {verb} `{name}`: its links lead in a circle or are too many")
        }
        _ => format!("cannot {verb} `{name}`: {error}"),
    };
    ToolError::Failed(text)
}

#[cfg(test)]
mod tests;

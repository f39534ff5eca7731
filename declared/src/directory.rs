//! Finds the declarations of one directory. Must not go below its first level or out of it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::problem::{Refused, stem};
use super::{
    AgentFile, DeclaredLimits, DeclaredTools, Format, Rules, SessionWord, WorkspaceMode, id, open, read,
};

/// What a directory, or several merged ones, hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Every declaration, loaded or refused, sorted by file name within a directory.
    pub files: Vec<Result<AgentFile, Refused>>,
    /// What concerns several files at once.
    pub notes: Vec<Note>,
}

/// Something that concerns several files at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The files, the one that counts first.
    pub files: Vec<PathBuf>,
    /// What of them counts, and why; names all of them.
    pub message: String,
}

/// Reads the declarations in the first level of `dir`: every `*.md`, and for [`Format::Subagents`] every `*.wasm`.
///
/// `NAME.wasm` runs the agent of `NAME.md` where that names no component. By itself it is an entry with an empty
/// description and prompt, no tools, and its own path as component and as path. It is no entry where a file that
/// claims it was refused. A directory that is not there holds nothing; one that cannot be read is one refusal.
#[must_use]
pub fn discover(dir: &Path, rules: &Rules) -> Found {
    discover_with(dir, rules, |_, _| {})
}

/// The same, and shows `seen` the bytes of each file just as they are read: whoever binds a decision to what a file
/// holds has the bytes that count.
pub fn discover_with(dir: &Path, rules: &Rules, mut seen: impl FnMut(&Path, &[u8])) -> Found {
    let (root, paths) = match listed(dir) {
        Ok(Some(listed)) => listed,
        Ok(None) => return Found::default(),
        Err(error) => {
            let reason = format!("expected a directory of agent files, which cannot be read: {error}");
            return Found { files: vec![Err(Refused::whole(dir, reason))], notes: Vec::new() };
        }
    };
    let mut found = Found::default();
    for path in paths.iter().filter(|path| ends_in(path, "md")) {
        found.files.push(open::bytes(&root, path).map_err(|reason| Refused::whole(path, reason)).and_then(
            |bytes| {
                utf8_name(path)?;
                seen(path, &bytes);
                read(path, &bytes, rules)
            },
        ));
    }
    if rules.format == Format::Subagents {
        for path in paths.iter().filter(|path| ends_in(path, "wasm")) {
            component(&root, path, &mut found);
        }
    }
    found
}

/// The canonical form of `dir` and all paths in it, sorted; `None` where it is not there.
fn listed(dir: &Path) -> std::io::Result<Option<(PathBuf, Vec<PathBuf>)>> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(Some((dir.canonicalize()?, paths)))
}

/// Gives the component at `path` to the file it belongs to, or makes it an entry of its own.
fn component(root: &Path, path: &Path, found: &mut Found) {
    let own = stem(path).to_lowercase();
    let beside = |other: &Path| ends_in(other, "md") && stem(other).to_lowercase() == own;
    let usable = open::regular(root, path);
    let mut claimed = false;
    for file in &mut found.files {
        match file {
            Ok(agent) if agent.component.as_deref().is_some_and(|component| same(component, path)) => {
                claimed = true
            }
            Ok(agent) if beside(&agent.path) && agent.component.is_none() => {
                claimed = true;
                match &usable {
                    Ok(_) => agent.component = Some(path.to_owned()),
                    // Without its component it would be another agent than the one that was written.
                    Err(reason) => {
                        let mut refused = Refused::whole(path, reason.clone());
                        refused.id.clone_from(&agent.id);
                        *file = Err(refused);
                    }
                }
            }
            Ok(agent) if beside(&agent.path) => {}
            Err(refused) if beside(&refused.path) => {
                claimed = true;
                let (alone, file) = (path.display(), refused.path.display());
                let message = format!("{alone} is not offered by itself, since {file} was refused");
                found.notes.push(Note { files: vec![refused.path.clone(), path.to_owned()], message });
            }
            Ok(_) | Err(_) => {}
        }
    }
    if !claimed {
        found.files.push(usable.map_err(|reason| Refused::whole(path, reason)).and_then(|_| {
            utf8_name(path)?;
            id::check(&stem(path)).map(|id| alone(id, path)).map_err(|reason| Refused::whole(path, reason))
        }));
    }
}

/// Whether a component named in a file is the one at `path`.
fn same(named: &Path, path: &Path) -> bool {
    named == path
        || named.canonicalize().is_ok_and(|named| path.canonicalize().is_ok_and(|path| named == path))
}

/// A component that no file declares.
fn alone(id: String, path: &Path) -> AgentFile {
    AgentFile {
        id,
        path: path.to_owned(),
        description: String::new(),
        tools: DeclaredTools::Named(Vec::new()),
        tools_raw: None,
        disallowed_tools: Vec::new(),
        model: None,
        max_turns: read::MAX_TURNS,
        workspace: WorkspaceMode::Isolated,
        workspace_path: None,
        session: SessionWord::Fresh,
        timeout: None,
        limits: DeclaredLimits::default(),
        component: Some(path.to_owned()),
        prompt: String::new(),
        warnings: Vec::new(),
    }
}

fn ends_in(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

fn utf8_name(path: &Path) -> Result<(), Refused> {
    match path.to_str() {
        Some(_) => Ok(()),
        None => {
            Err(Refused::whole(path, "expected a file name in UTF-8, found other bytes: rename the file"))
        }
    }
}

//! Visits the regular files below a directory of the workspace, in the order of their paths, ignore files
//! respected, links inside the workspace followed. Must not look into files.

use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};

use super::blocking::going_on;
use super::ignore_rules::{IgnoreRules, Ruled};
use super::open::{Identity, identity};
use super::path::{WorkspacePath, io_error, openable, shown};
use super::{CallContext, ToolError};

mod notes;

pub(super) use notes::Notes;

/// Directories below the start that are entered; each holds a file descriptor while it is walked.
const DEEPEST: usize = 100;

/// A regular file that the walk came by.
#[derive(Debug)]
pub(super) struct FoundFile<'a> {
    /// Where it is, relative to the workspace root, under the name that was asked for.
    pub(super) path: &'a Path,
    /// The same relative to the directory that is walked.
    pub(super) below: &'a Path,
    /// The directory and the path in it by which it can be opened.
    pub(super) open_at: (&'a Dir, &'a Path),
}

/// What is called for each file; `Break` ends the walk.
type Visit<'a> = &'a mut dyn FnMut(&FoundFile<'_>) -> Result<ControlFlow<()>, ToolError>;

/// Visits the files below the directory `start`.
///
/// # Errors
/// Where `start` is not there or is no directory, [`ToolError::Cancelled`], and whatever `visit` returns.
/// What cannot be read further down is named in the notes.
pub(super) fn walk(
    context: &CallContext,
    start: &WorkspacePath,
    visit: Visit<'_>,
) -> Result<Notes, ToolError> {
    let root = context.workspace.root();
    let failed = |error: std::io::Error| io_error("search", start.as_path(), &error);
    // With `..` in it, a path does not say which directories it lies in.
    let start_path = if start.prefix().components().any(|part| part.as_os_str() == "..") {
        let real = root.canonicalize(start.as_path()).map_err(failed)?;
        if real.as_os_str() == "." { PathBuf::new() } else { real }
    } else {
        start.prefix().to_owned()
    };
    let dir = root.open_dir(openable(&start_path)).map_err(failed)?;
    let mut rules = IgnoreRules::default();
    let mut above: Vec<&Path> = start_path.ancestors().skip(1).collect();
    above.reverse();
    for parent in above {
        if let Ok(parent_dir) = root.open_dir(openable(parent)) {
            rules.enter(context, &parent_dir, parent);
        }
    }
    let here = identity(&dir.dir_metadata().map_err(failed)?);
    let mut walk =
        Walk { context, visit, rules, notes: Notes::default(), above: Vec::new(), followed: HashSet::new() };
    let _ = walk.directory(&dir, here, &start_path, Path::new(""))?;
    Ok(walk.notes)
}

struct Walk<'a> {
    context: &'a CallContext,
    visit: Visit<'a>,
    rules: IgnoreRules,
    notes: Notes,
    /// The directories that the walk is in, from the start down.
    above: Vec<Identity>,
    /// The directories that were entered through a link: each once, so that links to each other's parents
    /// cannot multiply the tree.
    followed: HashSet<Identity>,
}

impl Walk<'_> {
    fn directory(
        &mut self,
        dir: &Dir,
        here: Identity,
        path: &Path,
        below: &Path,
    ) -> Result<ControlFlow<()>, ToolError> {
        if self.above.len() > DEEPEST {
            self.notes.too_deep(path);
            return Ok(ControlFlow::Continue(()));
        }
        let Some(names) = self.names(dir, path)? else { return Ok(ControlFlow::Continue(())) };
        if self.above.is_empty() && names.is_empty() {
            self.notes.empty(path);
        }
        self.above.push(here);
        self.rules.enter(self.context, dir, path);
        let mut flow = ControlFlow::Continue(());
        for name in names {
            going_on(self.context)?;
            flow = self.entry(dir, &name, &path.join(&name), &below.join(&name))?;
            if flow.is_break() {
                break;
            }
        }
        self.rules.leave();
        self.above.pop();
        Ok(flow)
    }

    /// The names in a directory, sorted; none where it cannot be read.
    fn names(&mut self, dir: &Dir, path: &Path) -> Result<Option<Vec<OsString>>, ToolError> {
        let Ok(entries) = dir.entries() else {
            self.notes.unreadable(path);
            return Ok(None);
        };
        let mut names = Vec::new();
        for entry in entries {
            going_on(self.context)?;
            match entry {
                Ok(entry) => names.push(entry.file_name()),
                Err(_) => {
                    self.notes.unreadable(path);
                    break;
                }
            }
        }
        names.sort_unstable();
        Ok(Some(names))
    }

    fn entry(
        &mut self,
        dir: &Dir,
        name: &OsString,
        path: &Path,
        below: &Path,
    ) -> Result<ControlFlow<()>, ToolError> {
        let go_on = Ok(ControlFlow::Continue(()));
        if name == ".git" {
            return go_on;
        }
        // What is gone by now was not there.
        let Ok(itself) = dir.symlink_metadata(name) else { return go_on };
        let root = self.context.workspace.root();
        let (metadata, open_at) = if itself.is_symlink() {
            // A link may lead anywhere in the workspace, so it is followed from the root.
            match root.metadata(path) {
                Ok(metadata) => (metadata, (root, path)),
                Err(error) => {
                    if self.is_wanted(path, name, false) {
                        self.notes.dead_link(path, &error);
                    }
                    return go_on;
                }
            }
        } else {
            (itself.clone(), (dir, Path::new(name)))
        };
        if !self.is_wanted(path, name, metadata.is_dir()) {
            return go_on;
        }
        if metadata.is_file() {
            return (self.visit)(&FoundFile { path, below, open_at });
        }
        if !metadata.is_dir() || (itself.is_symlink() && !self.may_follow(path, &metadata)) {
            return go_on;
        }
        match open_at.0.open_dir(open_at.1) {
            Ok(inner) => self.directory(&inner, identity(&metadata), path, below),
            Err(_) => {
                self.notes.unreadable(path);
                go_on
            }
        }
    }

    /// Whether ignore files and the rule on hidden names keep a path. A rule that keeps a hidden file by
    /// name shows it.
    fn is_wanted(&self, path: &Path, name: &OsString, is_directory: bool) -> bool {
        match self.rules.of(path, is_directory) {
            Ruled::Ignored => false,
            Ruled::Kept => true,
            Ruled::Nothing => !name.as_encoded_bytes().starts_with(b"."),
        }
    }

    /// Whether a linked directory is to be entered.
    fn may_follow(&mut self, path: &Path, metadata: &Metadata) -> bool {
        let target = identity(metadata);
        if self.above.contains(&target) {
            return false;
        }
        let first = self.followed.insert(target);
        if !first {
            self.notes.seen_before(path);
        }
        first
    }
}

/// The error for a directory that was asked for and is a file.
pub(super) fn not_a_directory(start: &WorkspacePath) -> ToolError {
    let name = shown(start.as_path());
    ToolError::Failed(format!("`{name}` is not a directory; `under` names the directory to look under"))
}

#[cfg(test)]
mod tests;

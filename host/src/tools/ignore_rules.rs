//! The ignore files that hold for a path: those of its own directory and of every one above it, up to the
//! workspace root. Must not walk.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::CallContext;
use super::open::read_regular;

/// Ignore files by rank: what a file named first says stands over what one named later says.
const FILES: [&str; 2] = [".ignore", ".gitignore"];

/// What ignore files say of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruled {
    /// Nothing.
    Nothing,
    /// It is left out.
    Ignored,
    /// It is kept, by a rule that says so.
    Kept,
}

/// The ignore files from the workspace root down to one directory.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    levels: Vec<Level>,
}

/// The ignore files of one directory.
#[derive(Debug)]
struct Level {
    /// Names between the workspace root and the directory: rules bind to the path below it.
    depth: usize,
    files: [Option<Gitignore>; 2],
}

impl IgnoreRules {
    /// Goes into the directory `path`, open as `dir`.
    pub(super) fn enter(&mut self, context: &CallContext, dir: &Dir, path: &Path) {
        let files = FILES.map(|name| load(context, dir, name));
        self.levels.push(Level { depth: path.components().count(), files });
    }

    /// Leaves the directory that was entered last.
    pub(super) fn leave(&mut self) {
        self.levels.pop();
    }

    /// What the files say of `path`, which is relative to the workspace root and below the directory that
    /// was entered last. Deeper files win.
    pub(super) fn of(&self, path: &Path, is_directory: bool) -> Ruled {
        for rank in 0..FILES.len() {
            for level in self.levels.iter().rev() {
                let Some(Some(rules)) = level.files.get(rank) else { continue };
                let below: PathBuf = path.components().skip(level.depth).collect();
                match rules.matched(&below, is_directory) {
                    Match::None => {}
                    Match::Ignore(_) => return Ruled::Ignored,
                    Match::Whitelist(_) => return Ruled::Kept,
                }
            }
        }
        Ruled::Nothing
    }
}

/// Reads one ignore file; none where there is none that can be read. A line that is no rule is skipped: the
/// others still hold.
fn load(context: &CallContext, dir: &Dir, name: &str) -> Option<Gitignore> {
    let content = read_regular(context, dir, Path::new(name), Path::new(name)).ok()?;
    let text = String::from_utf8_lossy(&content.bytes);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

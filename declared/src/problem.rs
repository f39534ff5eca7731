//! Why a file is refused, and how text of a file is shown in messages. Must not decide whether to refuse.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Warning;

/// A declaration that was found and is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {reason}", path.display(), Line(*line))]
pub struct Refused {
    /// The file, or the directory where that could not be read.
    pub path: PathBuf,
    /// What the agent would have been called, as far as that is known: the name it declares, else the file stem.
    pub id: String,
    /// Line in the file, from 1, where one can be named.
    pub line: Option<usize>,
    /// What was expected, what came, and what to do about it.
    pub reason: String,
}

impl Refused {
    /// A refusal of `path` as a whole; its stem is the id.
    pub(super) fn whole(path: &Path, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), id: stem(path), line: None, reason: reason.into() }
    }
}

/// The name of a file without its ending, as text that can be shown.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// `:7`, or nothing where no line is known.
struct Line(Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A refusal before the file's path and id are put to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: Option<usize>,
    pub(super) reason: String,
}

impl Problem {
    /// A problem at a line.
    pub(super) fn at(line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), reason: reason.into() }
    }
}

/// Collects warnings, and turns those about ignored things into problems where the rules are strict.
#[derive(Debug)]
pub(super) struct Notes {
    pub(super) warnings: Vec<Warning>,
    strict: bool,
}

impl Notes {
    pub(super) fn new(strict: bool) -> Self {
        Self { warnings: Vec::new(), strict }
    }

    /// Something that is well understood and still worth saying.
    pub(super) fn say(&mut self, line: usize, message: impl Into<String>) {
        self.warnings.push(Warning { line: Some(line), message: message.into() });
    }

    /// Something in the file that has no effect here.
    ///
    /// # Errors
    /// Where the rules are strict.
    pub(super) fn ignored(&mut self, line: usize, message: impl Into<String>) -> Result<(), Problem> {
        let message = message.into();
        if self.strict {
            return Err(Problem::at(
                line,
                format!("{message} (refused because reading is strict: remove it, or read without `strict`)"),
            ));
        }
        self.say(line, message);
        Ok(())
    }
}

/// `text` between backticks: control characters escaped, cut after 80 characters.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String = text.chars().take(MOST).map(harmless).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// Escapes only what would harm a terminal or a log line.
fn harmless(c: char) -> String {
    if matches!(c, '"' | '\'' | '\\') { c.to_string() } else { c.escape_debug().to_string() }
}

/// Several texts as [`shown`], with commas.
pub(super) fn listed<T: AsRef<str>>(texts: &[T]) -> String {
    texts.iter().map(|text| shown(text.as_ref())).collect::<Vec<_>>().join(", ")
}

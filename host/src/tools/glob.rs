//! The globs of `find_files` and `grep_files`. Must not touch files.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::ToolError;

/// A glob over paths below the directory that is searched.
#[derive(Clone, Debug)]
pub(super) struct PathGlob {
    matcher: GlobMatcher,
    /// True where the glob has no `/`: it is then about file names, at any depth.
    by_name: bool,
}

impl PathGlob {
    /// Reads a glob as a model gave it.
    ///
    /// # Errors
    /// [`ToolError::InvalidArguments`] where it is no glob, or asks for what is outside.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let refuse = |why: &str| Err(ToolError::InvalidArguments(format!("the glob `{text}` {why}")));
        let glob = text.strip_prefix("./").unwrap_or(text);
        if glob.trim().is_empty() {
            return refuse("is empty; `**` matches every file");
        }
        if glob.starts_with('/') {
            return refuse("is absolute; globs match paths relative to the directory that is searched");
        }
        if glob.split(['/', '{', '}', ',']).any(|part| part == "..") {
            return refuse(
                "holds `..`; name the directory with `under`, nothing outside the workspace is searched",
            );
        }
        if glob.ends_with('/') {
            return refuse(&format!("names a directory; `{glob}**` matches the files in it"));
        }
        match GlobBuilder::new(glob).literal_separator(true).build() {
            Ok(parsed) => Ok(Self { matcher: parsed.compile_matcher(), by_name: !glob.contains('/') }),
            Err(error) => refuse(&format!("cannot be read: {}", error.kind())),
        }
    }

    /// Whether a file matches, by its path below the directory that is searched.
    pub(super) fn matches(&self, below: &Path) -> bool {
        let subject = if self.by_name { below.file_name().map(Path::new) } else { Some(below) };
        subject.is_some_and(|subject| self.matcher.is_match(subject))
    }
}

#[cfg(test)]
mod tests;

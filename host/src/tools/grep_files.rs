//! `grep_files`: lines of files that match a regular expression. Must not change anything.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use async_trait::async_trait;
use deputy_contract::{GrepFiles, render};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};

use super::blocking::{blocking, going_on};
use super::find_files::under;
use super::glob::PathGlob;
use super::open::open_regular;
use super::path::{WorkspacePath, io_error, shown};
use super::text::cut_around;
use super::walk::{Notes, walk};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The built-in `grep_files`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GrepFilesTool;

/// One line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Path relative to the workspace root; escaped and in double quotes where it cannot be shown as it is.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// The line without its end, cut around the match where it is long.
    pub text: String,
}

/// Lines that match, by path and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hits {
    /// The lines.
    pub hits: Vec<Hit>,
    /// True where a cap cut the list.
    pub cut: bool,
    /// What was not looked into, in words; empty where nothing was left out.
    pub note: String,
}

#[async_trait]
impl Operation for GrepFilesTool {
    type Arguments = GrepFiles;
    type Output = Hits;
    const EFFECT: Effect = Effect::Read;

    async fn run(&self, permit: Permit<GrepFiles>, context: &CallContext) -> Result<Hits, ToolError> {
        let arguments = permit.into_arguments();
        blocking(context, move |context| grep(context, &arguments)).await
    }

    fn render(&self, hits: Hits) -> String {
        let lines = hits.hits.iter().map(|hit| (hit.path.as_str(), hit.line, hit.text.as_str()));
        render::hits(lines, hits.cut, &hits.note)
    }
}

fn grep(context: &CallContext, arguments: &GrepFiles) -> Result<Hits, ToolError> {
    let glob = arguments.glob.as_deref().filter(|glob| !glob.is_empty()).map(PathGlob::parse).transpose()?;
    // Lines end at a line feed, and `$` matches before a carriage return too: read_file shows such lines
    // without it.
    let matcher = RegexMatcherBuilder::new()
        .multi_line(true)
        .crlf(true)
        .line_terminator(Some(b'\n'))
        .build(&arguments.pattern)
        .map_err(|error| ToolError::InvalidArguments(format!("the pattern cannot be read: {error}")))?;
    let start = under(context, arguments.under.as_deref())?;
    let root = context.workspace.root();
    let metadata =
        root.metadata(start.as_path()).map_err(|error| io_error("search", start.as_path(), &error))?;
    let mut search = Search {
        context,
        matcher,
        searcher: SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).line_number(true).build(),
        hits: Vec::new(),
        bytes: 0,
        cut: false,
    };
    let notes = if metadata.is_dir() {
        search.directory(&start, glob.as_ref())?
    } else {
        search.named_file(&start, glob.as_ref())?
    };
    Ok(Hits { hits: search.hits, cut: search.cut, note: notes.into_text() })
}

/// How the search of one file ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Searched {
    Whole,
    /// Its start only: it is bigger than the cap.
    Partly,
    Binary,
    Unreadable,
}

struct Search<'a> {
    context: &'a CallContext,
    matcher: RegexMatcher,
    searcher: Searcher,
    hits: Vec<Hit>,
    bytes: usize,
    cut: bool,
}

impl Search<'_> {
    fn directory(&mut self, start: &WorkspacePath, glob: Option<&PathGlob>) -> Result<Notes, ToolError> {
        let mut partly = Vec::new();
        let mut unreadable = Vec::new();
        let mut notes = walk(self.context, start, &mut |file| {
            if glob.is_none_or(|glob| glob.matches(file.below)) {
                let (dir, at) = file.open_at;
                // What became something else since the walk saw it is no file to search.
                let searched = match open_regular(dir, at, file.path) {
                    Ok((opened, _)) => self.file(&opened, file.path)?,
                    Err(_) => Searched::Unreadable,
                };
                match searched {
                    Searched::Partly => partly.push(file.path.to_owned()),
                    Searched::Unreadable => unreadable.push(file.path.to_owned()),
                    Searched::Whole | Searched::Binary => {}
                }
            }
            Ok(if self.cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        partly.iter().for_each(|path| notes.partly_read(path));
        unreadable.iter().for_each(|path| notes.unreadable(path));
        Ok(notes)
    }

    fn named_file(&mut self, path: &WorkspacePath, glob: Option<&PathGlob>) -> Result<Notes, ToolError> {
        let mut notes = Notes::default();
        let name = path.as_path();
        if glob.is_some_and(|glob| !glob.matches(name.file_name().map_or(name, Path::new))) {
            notes.say(format!("`{}` does not match the glob and was not searched", path.shown()));
            return Ok(notes);
        }
        let (opened, _) = open_regular(self.context.workspace.root(), name, name)?;
        match self.file(&opened, name)? {
            Searched::Whole => {}
            Searched::Partly => notes.partly_read(name),
            Searched::Unreadable => notes.unreadable(name),
            Searched::Binary => notes.say(format!("`{}` is binary and was not searched", path.shown())),
        }
        Ok(notes)
    }

    /// Searches one open file and keeps its hits.
    fn file(&mut self, file: &File, path: &Path) -> Result<Searched, ToolError> {
        going_on(self.context)?;
        let cap = self.context.limits.file_bytes;
        let mut found = FileHits {
            context: self.context,
            matcher: &self.matcher,
            path: shown(path),
            hits: Vec::new(),
            room: self.context.limits.items.saturating_sub(self.hits.len()),
            bytes: self.bytes,
            cut: false,
            binary: false,
        };
        let searched = self.searcher.search_reader(&self.matcher, file.take(cap), &mut found);
        going_on(self.context)?;
        if found.binary {
            return Ok(Searched::Binary);
        }
        self.cut = found.cut;
        self.bytes = found.bytes;
        self.hits.append(&mut found.hits);
        // Looked at after the search: the file may have grown.
        let whole = file.metadata().is_ok_and(|metadata| metadata.len() <= cap);
        Ok(match searched {
            Err(_) => Searched::Unreadable,
            Ok(()) if whole => Searched::Whole,
            Ok(()) => Searched::Partly,
        })
    }
}

/// Takes the hits of one file.
struct FileHits<'a> {
    context: &'a CallContext,
    matcher: &'a RegexMatcher,
    path: String,
    hits: Vec<Hit>,
    room: usize,
    bytes: usize,
    cut: bool,
    binary: bool,
}

impl Sink for FileHits<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.context.cancel.is_cancelled() {
            return Ok(false);
        }
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let at = self.matcher.find(line).ok().flatten();
        let (start, end) = at.map_or((0, 0), |at| (at.start(), at.end()));
        let text = |part: Option<&[u8]>| String::from_utf8_lossy(part.unwrap_or_default()).into_owned();
        let text = cut_around(
            &text(line.get(..start)),
            &text(line.get(start..end)),
            &text(line.get(end..)),
            self.context.limits.line_bytes,
        );
        let size = self.path.len() + text.len() + 12;
        let is_first = self.bytes == 0;
        if (self.hits.len() >= self.room || self.bytes + size > self.context.limits.result_bytes) && !is_first
        {
            self.cut = true;
            return Ok(false);
        }
        self.bytes += size;
        let line = u32::try_from(found.line_number().unwrap_or(0)).unwrap_or(u32::MAX);
        self.hits.push(Hit { path: self.path.clone(), line, text });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Self::Error> {
        self.binary = true;
        Ok(false)
    }
}

#[cfg(test)]
mod tests;

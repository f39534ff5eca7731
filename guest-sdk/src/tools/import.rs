//! Each tool of the contract as a typed call to its WIT function. Must not interpret a result: how it
//! reads is `deputy_contract::render`'s.

use deputy_contract::{
    Arguments, EditFile, FetchUrl, FindFiles, GrepFiles, ListFiles, ReadFile, RunCommand, RunProgram,
    WriteFile, render,
};

use crate::ToolError;
use crate::bindings::deputy::agent as wit;

/// A tool of the contract, called with typed arguments:
///
/// ```no_run
/// use deputy_guest::tools::{Import, ReadFile};
///
/// # fn first_lines() -> Result<String, deputy_guest::ToolError> {
/// let page = ReadFile { path: "Cargo.toml".into(), first_line: None, max_lines: Some(20) }.call()?;
/// # Ok(page.text) }
/// ```
///
/// Each call is an import of the component, and so a permission that it asks for.
pub trait Import: Arguments {
    /// What the WIT function gives.
    type Output;

    /// Calls the host.
    ///
    /// # Errors
    /// What the tool says; a refusal names the rule and what would allow the call.
    fn call(&self) -> Result<Self::Output, ToolError>;

    /// A result as a model reads it.
    fn render(&self, output: &Self::Output) -> String;

    /// Calls the host; the result as a model reads it.
    ///
    /// # Errors
    /// As [`Import::call`].
    fn call_rendered(&self) -> Result<String, ToolError> {
        self.call().map(|output| self.render(&output))
    }
}

impl Import for ReadFile {
    type Output = wit::read_file::Page;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::read_file::read_file(&self.path, self.first_line, self.max_lines)
    }

    fn render(&self, page: &Self::Output) -> String {
        render::page(&page.text, page.first_line, page.last_line, page.total_lines, &page.note)
    }
}

impl Import for ListFiles {
    type Output = wit::list_files::Listing;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::list_files::list_files(&self.path)
    }

    fn render(&self, listing: &Self::Output) -> String {
        use wit::list_files::Kind;
        let entries = listing.entries.iter().map(|entry| {
            let kind = match entry.kind {
                Kind::File => render::EntryKind::File(entry.size),
                Kind::Directory => render::EntryKind::Directory,
                Kind::Symlink => render::EntryKind::Symlink,
                Kind::Other => render::EntryKind::Other,
            };
            (entry.path.as_str(), kind)
        });
        render::listing(entries, listing.cut)
    }
}

impl Import for FindFiles {
    type Output = wit::find_files::Paths;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::find_files::find_files(&self.glob, self.under.as_deref())
    }

    fn render(&self, found: &Self::Output) -> String {
        render::paths(found.paths.iter().map(String::as_str), found.cut, &found.note)
    }
}

impl Import for GrepFiles {
    type Output = wit::grep_files::Hits;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::grep_files::grep_files(&self.pattern, self.under.as_deref(), self.glob.as_deref())
    }

    fn render(&self, found: &Self::Output) -> String {
        let hits = found.hits.iter().map(|hit| (hit.path.as_str(), hit.line, hit.text.as_str()));
        render::hits(hits, found.cut, &found.note)
    }
}

impl Import for WriteFile {
    type Output = wit::write_file::Written;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::write_file::write_file(&self.path, &self.content)
    }

    fn render(&self, written: &Self::Output) -> String {
        render::written(written.bytes, written.created, &written.note)
    }
}

impl Import for EditFile {
    /// How many places were changed.
    type Output = u32;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::edit_file::edit_file(&self.path, &self.old, &self.new, self.all)
    }

    fn render(&self, places: &Self::Output) -> String {
        render::edited(*places)
    }
}

impl Import for RunCommand {
    type Output = wit::run_command::Finished;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::run_command::run_command(&self.command, self.timeout_ms)
    }

    fn render(&self, ended: &Self::Output) -> String {
        render::finished(ended.exit_code, &ended.output, &ended.note)
    }
}

impl Import for RunProgram {
    type Output = wit::run_program::Finished;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::run_program::run_program(&self.program, &self.args, self.timeout_ms)
    }

    fn render(&self, ended: &Self::Output) -> String {
        render::finished(ended.exit_code, &ended.output, &ended.note)
    }
}

impl Import for FetchUrl {
    type Output = wit::fetch_url::Document;

    fn call(&self) -> Result<Self::Output, ToolError> {
        wit::fetch_url::fetch_url(&self.url)
    }

    fn render(&self, document: &Self::Output) -> String {
        render::document(&document.url, document.status, &document.content_type, &document.text, document.cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_reads_as_the_parent_agent_reads_it() {
        let call = GrepFiles { pattern: "x".into(), under: None, glob: None };
        let hit = wit::grep_files::Hit { path: "src/a.rs".into(), line: 7, text: "x = 1".into() };
        let found = wit::grep_files::Hits { hits: vec![hit], cut: false, note: String::new() };
        assert_eq!(call.render(&found), "src/a.rs:7:x = 1");
    }

    #[test]
    fn a_change_reads_as_the_parent_agent_reads_it() {
        let call = WriteFile { path: "notes.md".into(), content: "hello".into() };
        let written = wit::write_file::Written { bytes: 5, created: true, note: String::new() };
        assert_eq!(call.render(&written), "made the file, 5 bytes");
        let call = EditFile { path: "notes.md".into(), old: "a".into(), new: "b".into(), all: true };
        assert_eq!(call.render(&3), "changed 3 places");
    }
}

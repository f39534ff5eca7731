//! The typed tool interfaces: each WIT function is one built-in tool under the run's own review.
//! Must not do a tool's work: that stands in `tools`, once for parents and guests.

use deputy_contract as contract;

use super::GuestState;
use crate::bindings::deputy::agent as wit;
use crate::bindings::deputy::agent::types::ToolError;
use crate::calls::typed_call;
use crate::tools::{EntryKind, Operation, OperationTool, ToolError as HostToolError};

type Answer<T> = wasmtime::Result<Result<T, ToolError>>;

impl GuestState {
    /// One typed call, outside the guest's runtime. `tool` is none where this host does not offer it; such
    /// an interface is not linked, so the error is only what cannot happen said in words.
    async fn typed<O>(
        &mut self,
        tool: Option<std::sync::Arc<OperationTool<O>>>,
        arguments: O::Arguments,
    ) -> Answer<O::Output>
    where
        O: Operation,
        O::Arguments: serde::Serialize,
        O::Output: 'static,
    {
        let Some(tool) = tool else {
            return Ok(Err(ToolError::Other("this host does not offer the tool".to_owned())));
        };
        let scope = self.scope.clone();
        let result: Result<O::Output, HostToolError> =
            self.outside(async move { typed_call(&scope, tool.operation(), arguments).await }).await?;
        Ok(result.map_err(Into::into))
    }
}

impl wit::read_file::Host for GuestState {
    async fn read_file(
        &mut self,
        path: String,
        first_line: Option<u32>,
        max_lines: Option<u32>,
    ) -> Answer<wit::read_file::Page> {
        let arguments = contract::ReadFile { path, first_line, max_lines };
        let page = self.typed(Some(self.builtins.read_file.clone()), arguments).await?;
        Ok(page.map(|page| wit::read_file::Page {
            text: page.text,
            first_line: page.first_line,
            last_line: page.last_line,
            total_lines: page.total_lines,
            cut: page.cut,
            note: page.note,
        }))
    }
}

impl wit::list_files::Host for GuestState {
    async fn list_files(&mut self, path: String) -> Answer<wit::list_files::Listing> {
        use wit::list_files::{Entry, Kind, Listing};
        let listing =
            self.typed(Some(self.builtins.list_files.clone()), contract::ListFiles { path }).await?;
        Ok(listing.map(|listing| Listing {
            entries: listing
                .entries
                .into_iter()
                .map(|entry| Entry {
                    path: entry.path,
                    kind: match entry.kind {
                        EntryKind::File => Kind::File,
                        EntryKind::Directory => Kind::Directory,
                        EntryKind::Symlink => Kind::Symlink,
                        EntryKind::Other => Kind::Other,
                    },
                    size: entry.size,
                })
                .collect(),
            cut: listing.cut,
        }))
    }
}

impl wit::find_files::Host for GuestState {
    async fn find_files(&mut self, glob: String, under: Option<String>) -> Answer<wit::find_files::Paths> {
        let arguments = contract::FindFiles { glob, under };
        let found = self.typed(Some(self.builtins.find_files.clone()), arguments).await?;
        Ok(found.map(|found| wit::find_files::Paths { paths: found.paths, cut: found.cut, note: found.note }))
    }
}

impl wit::grep_files::Host for GuestState {
    async fn grep_files(
        &mut self,
        pattern: String,
        under: Option<String>,
        glob: Option<String>,
    ) -> Answer<wit::grep_files::Hits> {
        use wit::grep_files::{Hit, Hits};
        let arguments = contract::GrepFiles { pattern, under, glob };
        let hits = self.typed(Some(self.builtins.grep_files.clone()), arguments).await?;
        Ok(hits.map(|hits| Hits {
            hits: hits
                .hits
                .into_iter()
                .map(|hit| Hit { path: hit.path, line: hit.line, text: hit.text })
                .collect(),
            cut: hits.cut,
            note: hits.note,
        }))
    }
}

impl wit::write_file::Host for GuestState {
    async fn write_file(&mut self, path: String, content: String) -> Answer<wit::write_file::Written> {
        let arguments = contract::WriteFile { path, content };
        let written = self.typed(Some(self.builtins.write_file.clone()), arguments).await?;
        Ok(written.map(|written| wit::write_file::Written {
            bytes: written.bytes,
            created: written.created,
            note: written.note,
        }))
    }
}

impl wit::edit_file::Host for GuestState {
    async fn edit_file(&mut self, path: String, old: String, new: String, all: bool) -> Answer<u32> {
        let arguments = contract::EditFile { path, old, new, all };
        self.typed(Some(self.builtins.edit_file.clone()), arguments).await
    }
}

impl wit::run_command::Host for GuestState {
    async fn run_command(
        &mut self,
        command: String,
        timeout_ms: Option<u64>,
    ) -> Answer<wit::run_command::Finished> {
        let arguments = contract::RunCommand { command, timeout_ms };
        let finished = self.typed(self.builtins.run_command.clone(), arguments).await?;
        Ok(finished.map(|finished| wit::run_command::Finished {
            exit_code: finished.exit_code,
            output: finished.output,
            cut: finished.cut,
            note: finished.note,
        }))
    }
}

impl wit::run_program::Host for GuestState {
    async fn run_program(
        &mut self,
        program: String,
        args: Vec<String>,
        timeout_ms: Option<u64>,
    ) -> Answer<wit::run_program::Finished> {
        let arguments = contract::RunProgram { program, args, timeout_ms };
        let finished = self.typed(self.builtins.run_program.clone(), arguments).await?;
        Ok(finished.map(|finished| wit::run_program::Finished {
            exit_code: finished.exit_code,
            output: finished.output,
            cut: finished.cut,
            note: finished.note,
        }))
    }
}

impl wit::fetch_url::Host for GuestState {
    async fn fetch_url(&mut self, url: String) -> Answer<wit::fetch_url::Document> {
        let document = self.typed(self.builtins.fetch_url.clone(), contract::FetchUrl { url }).await?;
        Ok(document.map(|document| wit::fetch_url::Document {
            url: document.url,
            status: document.status,
            content_type: document.content_type,
            text: document.text,
            cut: document.cut,
        }))
    }
}

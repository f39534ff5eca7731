//! Tools: what an agent can do beside talking. One trait, and the one list of built-in tools.
//! A tool acts on a permit; it must not decide whether it may.

mod builtin;
mod builtins;
mod context;
mod error;
mod native;

// One tool a file: its operation on a workspace and how its result reads.
mod background_command;
mod check_command;
mod edit_file;
mod fetch_url;
mod find_files;
mod grep_files;
mod list_files;
mod read_file;
mod run_command;
mod run_program;
mod todo_write;
mod write_file;

// What the tools share.
mod background;
mod blocking;
mod confinement;
pub mod exec_helper;
mod glob;
mod ignore_rules;
mod open;
mod path;
mod process;
mod replace;
mod target;
#[cfg(test)]
mod testing;
mod text;
mod walk;
mod web;

use async_trait::async_trait;

pub use background::BackgroundCommands;
pub use background_command::BackgroundCommandTool;
pub use builtin::{Operation, OperationTool};
pub use builtins::Builtins;
pub(crate) use check_command::CHECK_COMMAND;
pub use check_command::CheckCommandTool;
pub use confinement::{CommandLimits, Confinement, ConfinementUnavailable, ShellMode};
pub use context::{CallContext, ToolLimits};
pub use edit_file::EditFileTool;
pub use error::ToolError;
pub use fetch_url::{Document, FetchUrlTool};
pub use find_files::{FindFilesTool, FoundPaths};
pub use grep_files::{GrepFilesTool, Hit, Hits};
pub use list_files::{Entry, EntryKind, ListFilesTool, Listing};
pub use native::NativeTool;
pub use process::Finished;
pub use read_file::{Page, ReadFileTool};
pub use run_command::RunCommandTool;
pub use run_program::RunProgramTool;
pub use todo_write::{Todo, TodoStatus, TodoWriteTool};
pub use web::{Resolver, WebClient, WebClientError, WebLimits};
pub use write_file::{WriteFileTool, Written};

use crate::governance::{Effect, Permit, Rights};
use crate::history::Arguments;
use crate::model::ToolDescription;

/// Something that an agent can call: a built-in tool, the embedder's own, or a subagent.
#[async_trait]
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// How a model reads it.
    fn description(&self) -> &ToolDescription;

    /// How the model of a run with these rights reads it: what the run cannot use is left out.
    fn description_under(&self, rights: &Rights) -> &ToolDescription {
        let _ = rights;
        self.description()
    }

    /// What it can do at worst; a policy's defaults go by it.
    fn effect(&self) -> Effect;

    /// Runs one call that governance allowed. The text is what the model reads.
    ///
    /// # Errors
    /// A [`ToolError`] is a result: the model reads it and goes on.
    async fn call(&self, permit: Permit<Arguments>, context: &CallContext) -> Result<String, ToolError>;
}

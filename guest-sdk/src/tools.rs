//! The tools of the contract as a model sees them. Must not know a loop: it is handed these.
//!
//! A component imports a tool's function because one of these is used, and for no other reason.

mod import;
mod typed;

pub use deputy_contract::{
    EditFile, FetchUrl, FindFiles, GrepFiles, ListFiles, ReadFile, RunCommand, RunProgram, WriteFile,
};
pub use import::Import;
pub use typed::TypedTool;

/// Reads text files of the workspace.
#[must_use]
pub fn read_file() -> TypedTool {
    TypedTool::import::<ReadFile>()
}

/// Lists a directory of the workspace.
#[must_use]
pub fn list_files() -> TypedTool {
    TypedTool::import::<ListFiles>()
}

/// Finds files of the workspace by a glob.
#[must_use]
pub fn find_files() -> TypedTool {
    TypedTool::import::<FindFiles>()
}

/// Searches the text of the files of the workspace.
#[must_use]
pub fn grep_files() -> TypedTool {
    TypedTool::import::<GrepFiles>()
}

/// Makes files of the workspace, or replaces their content.
#[must_use]
pub fn write_file() -> TypedTool {
    TypedTool::import::<WriteFile>()
}

/// Changes parts of files of the workspace.
#[must_use]
pub fn edit_file() -> TypedTool {
    TypedTool::import::<EditFile>()
}

/// Runs shell commands in the workspace, confined.
#[must_use]
pub fn run_command() -> TypedTool {
    TypedTool::import::<RunCommand>()
}

/// Runs one program in the workspace, confined, with no shell between.
#[must_use]
pub fn run_program() -> TypedTool {
    TypedTool::import::<RunProgram>()
}

/// Reads public web pages.
#[must_use]
pub fn fetch_url() -> TypedTool {
    TypedTool::import::<FetchUrl>()
}

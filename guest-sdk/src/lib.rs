//! What an author of a Deputy subagent sees: one trait, one export line, and a ready loop.
//!
//! ```
//! use deputy_guest::{Answer, Failure, React, Subagent, Task, Tool, tools};
//!
//! struct Reviewer;
//!
//! impl Subagent for Reviewer {
//!     fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
//!         React::new("You review code. Answer with findings, each with file:line.")
//!             .with(tools::read_file())
//!             .with(tools::grep_files())
//!             .run(task, handed)
//!     }
//! }
//!
//! deputy_guest::export!(Reviewer, description = "Reviews code for faults; reads only.");
//! # fn main() {}
//! ```
//!
//! Built with `cargo build --release --target wasm32-wasip2` as a `cdylib`, this is a component that imports
//! `read-file` and `grep-files` and nothing else of the workspace: **what the code uses is what the component
//! asks for**, readable by `deputy inspect` before anything runs. A function that the run was not granted is
//! not there, and the component does not start.
//!
//! - [`Subagent`] is what an author implements, [`export!`] makes it the component's.
//! - [`React`] is the usual loop: the model talks, calls tools, reads the results, and answers.
//! - [`tools`] has every tool of the contract, for a model ([`tools::read_file`]) and as a typed function
//!   ([`tools::Import::call`]).
//! - [`Conversation`] and [`progress`] are what a loop of one's own needs.
//!
//! A subagent needs no `unsafe` of its own: `#![forbid(unsafe_code)]` compiles beside [`export!`].

mod agent;
mod error;
mod export;
mod react;
pub mod tools;

#[doc(hidden)]
pub mod bindings;
#[doc(hidden)]
pub mod section;

pub use deputy_contract as contract;

pub use agent::Subagent;
pub use bindings::deputy::agent::model::{Conversation, ModelError, Reply, StopReason, Usage};
pub use bindings::deputy::agent::progress;
pub use bindings::deputy::agent::toolbox::{Request, Tool, call_all};
pub use bindings::deputy::agent::types::{Answer, Failure, Task, ToolCall, ToolError, ToolSpec};
pub use react::React;
pub use tools::TypedTool;

/// The guide for authors: its program is compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/first-subagent.md")]
struct FirstSubagent;

//! The stock subagents and the subagent template, held against their worlds, their sources and a fresh build.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "the helpers of a test fail the test"
)]

mod committed;
mod component;
mod fresh;
mod guest_build;
mod template;

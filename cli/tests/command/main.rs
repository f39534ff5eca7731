//! The real binary: what it prints, what it sends to model servers on loopback, and how it ends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a test that cannot go on has failed"
)]

mod background;
mod background_commands;
mod bad_input;
mod components;
mod declarations;
mod deputy;
mod documents;
mod models;
mod output;
mod server;
mod settings;
mod signals;
mod tasks;
mod tools;
mod worktrees;

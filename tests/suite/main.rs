//! What holds Deputy's promises, in one binary: rules of the code base, guests of one behaviour each, the real
//! command line, and model servers on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a test that cannot go on has failed"
)]

mod attempts;
mod authority;
mod delegation;
mod depth_and_lists;
mod documents;
mod fallback;
mod framing;
mod governance;
mod guests;
mod handoff_policy;
mod places;
mod purse;
mod session_rights;
mod sessions;
mod support;
mod tasks;
mod telling;
mod tidy;
mod workspaces;

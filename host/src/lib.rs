//! Deputy: a host for subagents that nobody has to trust.
//!
//! ```text
//! model turn ─► tool call ─► governance.review ─► Permit ─► tool | sandbox ─► outcome ─► tool result ─► history
//!                                          └────► Denial ──────────────────────────────────┘
//! ```
//!
//! A parent agent is a ReAct loop in this host; a subagent is a WebAssembly component. A component reaches
//! a tool in two ways only: a WIT function that the host linked for it, or a tool handle that the host passed
//! in. What is not granted is not there.

// Modules stand in reading order: each uses only modules that stand below it. The test `module_edges` holds that.
pub mod host;

pub mod agent;

pub mod handoff;
pub mod subagent;

pub mod sandbox;

mod capability;

mod bindings;

pub mod calls;
mod turn;

pub mod run;

pub mod tools;

pub mod model;

pub mod governance;

pub mod workspace;

pub mod worktree;

pub mod session;

pub mod task;

pub mod history;

mod digest;
pub mod event;
pub mod ids;
pub mod secret;
mod tls;
pub mod usage;

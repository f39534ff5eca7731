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

// Modules stand in reading order; each uses only those below it in this list's reverse. The test
// `module_edges` holds that.
pub mod governance;
pub mod history;
pub mod model;
pub mod tools;
pub mod workspace;

pub mod event;
pub mod ids;
pub mod secret;
pub mod usage;

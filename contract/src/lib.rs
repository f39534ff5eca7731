//! What Deputy's host and its guests share, so that neither can drift from the other:
//! the version of the WIT package and, for every built-in tool, its name, description, JSON Schema,
//! argument type and how its result reads. Must not know wasmtime, wit-bindgen or any host type.
//!
//! The host parses the model's arguments into these types for the parent agent, the guest SDK for a
//! subagent; both read the same [`ToolSpec`], so a parent and a subagent see the same tool.

pub mod arguments;
pub mod parse;
pub mod render;
pub mod spec;

pub use arguments::{
    EditFile, FetchUrl, FindFiles, GrepFiles, ListFiles, ReadFile, RunCommand, RunProgram, WriteFile,
};
pub use parse::{ArgumentsError, parse_arguments};
pub use spec::{ALL_TOOLS, Arguments, ToolSpec};

/// The WIT package that host and guests speak, without its version.
pub const WIT_PACKAGE: &str = "deputy:agent";

/// The version of [`WIT_PACKAGE`] that this release speaks. Components of the same `0.MINOR` fit.
pub const WIT_VERSION: &str = "0.1.0";

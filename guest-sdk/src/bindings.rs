//! What `wit-bindgen` makes of `wit/`: the only generated code of the crate. Holds nothing else.
//!
//! The largest world is bound once; a built component imports only the functions that it really uses.

#![allow(missing_docs, clippy::all, reason = "generated code; its documentation is the WIT's")]
#![allow(unsafe_code, reason = "the canonical ABI is raw pointers; this is the one place that sees them")]

wit_bindgen::generate!({
    path: "../wit",
    world: "general",
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "deputy_guest::bindings",
});

impl<T: crate::Subagent> exports::deputy::agent::handler::Guest for T {
    fn handle(task: crate::Task, tools: Vec<crate::Tool>) -> Result<crate::Answer, crate::Failure> {
        T::handle(task, tools)
    }
}

//! The host's side of the WIT contract, generated, and what stands behind its handles. The only `bindgen!`;
//! no behaviour lives here.

#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    reason = "generated code: the WIT files hold the documentation"
)]

mod handles;

pub use handles::{ConversationHandle, TaskHandle, ToolHandle};

wasmtime::component::bindgen!({
    path: "../wit",
    world: "general",
    imports: { default: async | trappable },
    exports: { default: async },
    require_store_data_send: true,
    with: {
        "deputy:agent/types.task": crate::bindings::TaskHandle,
        "deputy:agent/model.conversation": crate::bindings::ConversationHandle,
        "deputy:agent/toolbox.tool": crate::bindings::ToolHandle,
    },
});

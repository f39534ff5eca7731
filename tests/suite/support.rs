//! What the tests share: models that answer from a closure, and hosts over a temporary workspace.

mod gated;
mod host;
mod model;
mod session;

pub(crate) use gated::{GatedModel, Gates};
pub(crate) use host::{Heard, host, offered, output, react, telling};
pub(crate) use model::{FnModel, calls, calls_after, says};
pub(crate) use session::{answer, remembers, store};

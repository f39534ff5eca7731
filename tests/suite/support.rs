//! What the tests share: models that answer from a closure, and hosts over a temporary workspace.

mod host;
mod model;
mod session;

pub(crate) use host::{Heard, host, offered, output, react, telling};
pub(crate) use model::{FnModel, calls, says};
pub(crate) use session::{answer, remembers, store};

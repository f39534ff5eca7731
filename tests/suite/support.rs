//! What the tests share: models that answer from a closure, and hosts over a temporary workspace.

mod model;

pub(crate) use model::{FnModel, calls, says};

//! The one trait that an author implements. Must not know how a component is exported or what a loop is.

use crate::{Answer, Failure, Task, Tool};

/// A subagent: what a component does with one task.
///
/// The type is only a name for the implementation; [`export!`](crate::export) makes it the component's.
pub trait Subagent {
    /// Does one task with what the run was granted.
    ///
    /// `handed` are tools that no WIT names: the embedder's own, or other subagents. A handle is the only way
    /// to reach such a tool.
    ///
    /// # Errors
    /// A [`Failure`] says why there is no answer; the parent reads it.
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure>;
}

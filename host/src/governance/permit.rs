//! Leave to do one thing, once. Made by a review and by nothing else; taken by value by whatever acts on it.

use std::sync::Arc;

use super::rights::Rights;
use crate::ids::ToolName;

/// Leave for one call with exactly these arguments. Not `Clone`, no public constructor: whoever holds
/// one has been through [`Governance`](super::Governance).
///
/// ```compile_fail
/// # use deputy::governance::{Permit, Rights};
/// # use std::sync::Arc;
/// # fn skip(rights: Arc<Rights>) {
/// let permit = Permit { tool: "run_command".into(), arguments: "rm -rf .", rights };
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a permit is leave to act, not an act"]
pub struct Permit<A> {
    tool: ToolName,
    arguments: A,
    rights: Arc<Rights>,
}

impl<A> Permit<A> {
    /// Only a review makes permits.
    pub(super) fn new(tool: ToolName, arguments: A, rights: Arc<Rights>) -> Self {
        Self { tool, arguments, rights }
    }

    /// The tool that was allowed.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// The arguments that were allowed.
    #[must_use]
    pub fn arguments(&self) -> &A {
        &self.arguments
    }

    /// What the run that acts may do at all.
    #[must_use]
    pub fn rights(&self) -> &Arc<Rights> {
        &self.rights
    }

    /// Uses the permit up.
    #[must_use]
    pub fn into_arguments(self) -> A {
        self.arguments
    }

    /// The same leave over the same arguments in another form (text parsed into a type).
    pub(crate) fn try_map<B, E>(self, parse: impl FnOnce(A) -> Result<B, E>) -> Result<Permit<B>, E> {
        Ok(Permit { tool: self.tool, arguments: parse(self.arguments)?, rights: self.rights })
    }
}

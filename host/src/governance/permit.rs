//! Leave to do one thing, once. Made by a review and by nothing else; taken by value by whatever acts on it.

use std::sync::Arc;

use super::rights::Rights;
use crate::ids::ToolName;

/// Leave for one call with exactly these arguments. Not `Clone`, no public constructor: whoever holds
/// one has been through [`Governance`](super::Governance).
///
/// A review makes one:
///
/// ```
/// # use deputy::governance::{Denial, Governance, Permit, Rights};
/// # use std::sync::Arc;
/// async fn reviewed(governance: &Governance, rights: &Arc<Rights>) -> Result<Permit<&'static str>, Denial> {
///     governance.review(rights, &"run_command".into(), "ls", "a task").await
/// }
/// ```
///
/// Nothing else does:
///
/// ```compile_fail,E0451
/// # use deputy::governance::{Denial, Governance, Permit, Rights};
/// # use std::sync::Arc;
/// async fn skipped(_governance: &Governance, rights: &Arc<Rights>) -> Result<Permit<&'static str>, Denial> {
///     Ok(Permit { tool: "run_command".into(), arguments: "ls", rights: rights.clone() })
/// }
/// ```
///
/// It is used once:
///
/// ```
/// # use deputy::governance::Permit;
/// fn once(permit: Permit<String>) -> String {
///     permit.into_arguments()
/// }
/// ```
///
/// ```compile_fail,E0382
/// # use deputy::governance::Permit;
/// fn twice(permit: Permit<String>) -> String {
///     permit.into_arguments() + &permit.into_arguments()
/// }
/// ```
///
/// ```compile_fail,E0599
/// # use deputy::governance::Permit;
/// fn copied(permit: &Permit<String>) -> Permit<String> {
///     Permit::clone(permit)
/// }
/// ```
#[derive(Debug)]
#[must_use = "a permit is leave to act, not an act"]
pub struct Permit<A> {
    tool: ToolName,
    arguments: A,
    rights: Arc<Rights>,
    may_write: bool,
}

impl<A> Permit<A> {
    /// Only a review makes permits.
    pub(super) fn new(tool: ToolName, arguments: A, rights: Arc<Rights>, may_write: bool) -> Self {
        Self { tool, arguments, rights, may_write }
    }

    /// True where the run may change files of the workspace without a question: a command may then do so too.
    #[must_use]
    pub fn may_write(&self) -> bool {
        self.may_write
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
        let Self { tool, arguments, rights, may_write } = self;
        Ok(Permit { tool, arguments: parse(arguments)?, rights, may_write })
    }
}

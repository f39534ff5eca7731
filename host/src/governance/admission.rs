//! Leave for one delegation: a permit an attempt, and no more than the policy has. Must not run one.

use std::sync::Arc;

use super::permit::Permit;
use super::rights::Rights;
use crate::ids::ToolName;

/// Leave for one delegation. Not `Clone`; made by [`Governance::admit`](super::Governance::admit) alone.
///
/// ```compile_fail,E0451
/// # use deputy::governance::{Admission, Rights};
/// # use std::sync::Arc;
/// fn admitted_by_nobody(rights: Arc<Rights>) -> Admission {
///     Admission { tool: "subagent_plan".into(), rights, left: 1 }
/// }
/// ```
#[derive(Debug)]
#[must_use = "an admission is leave to act, not an act"]
pub struct Admission {
    tool: ToolName,
    rights: Arc<Rights>,
    left: u32,
}

impl Admission {
    pub(super) fn new(tool: ToolName, rights: Arc<Rights>, attempts: u32) -> Self {
        Self { tool, rights, left: attempts }
    }

    /// Leave for one more attempt; none where all are used up.
    pub fn attempt(&mut self) -> Option<Permit<ToolName>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit::new(self.tool.clone(), self.tool.clone(), self.rights.clone(), false))
    }

    /// Attempts that are left.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.left
    }
}

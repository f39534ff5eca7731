//! Tools that were taken back while runs are under way. Only takes away: what was never granted stays so.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use crate::ids::ToolName;

/// The revoked tools of a host. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Revoked {
    tools: Arc<RwLock<BTreeSet<ToolName>>>,
}

impl Revoked {
    pub(super) fn revoke(&self, tool: ToolName) {
        self.tools.write().unwrap_or_else(PoisonError::into_inner).insert(tool);
    }

    pub(super) fn restore(&self, tool: &ToolName) {
        self.tools.write().unwrap_or_else(PoisonError::into_inner).remove(tool);
    }

    pub(super) fn holds(&self, tool: &ToolName) -> bool {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }
}

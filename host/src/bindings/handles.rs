//! What stands behind a guest's handles. Data only: what a handle can do is in `capability`.

use crate::model::ToolDescription;

/// A guest's handle of its task. There is one task a run, so it holds nothing.
#[derive(Debug)]
pub struct TaskHandle;

/// A guest's handle of its conversation: the system text and whether an earlier run has spoken.
#[derive(Debug)]
pub struct ConversationHandle {
    /// The system text.
    pub system: String,
    /// True where an earlier run of the session has spoken.
    pub resumed: bool,
}

/// A guest's handle of one tool.
#[derive(Debug)]
pub struct ToolHandle {
    /// How a model reads it; its name is what is called.
    pub description: ToolDescription,
}

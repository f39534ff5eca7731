//! What a tool may touch while it works on one call. Holds no policy.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::BackgroundCommands;
use crate::ids::RunId;
use crate::workspace::Workspace;

/// Where one call acts and when it must end.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The run that calls.
    pub run: RunId,
    /// The directory that the run may touch.
    pub workspace: Arc<Workspace>,
    /// Set when the run is being stopped: the tool ends what it started and returns
    /// [`ToolError::Cancelled`](super::ToolError::Cancelled). Work that cannot be stopped looks at it
    /// once more just before it takes effect.
    pub cancel: CancellationToken,
    /// The commands that the run has in the background; they outlive the call and not the run.
    pub background: BackgroundCommands,
    /// Caps on what a tool reads, returns and waits for.
    pub limits: ToolLimits,
}

/// Caps on what one call reads, returns and waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Most bytes of text that one result holds. Default 48 KiB.
    pub result_bytes: usize,
    /// Most bytes of one file that are read at all. Default 16 MiB.
    pub file_bytes: u64,
    /// Most entries, paths or hits in one result. Default 1000.
    pub items: usize,
    /// Most bytes of one matching line that are shown. Default 500.
    pub line_bytes: usize,
    /// How long a command may run where the call does not say. Default 120 s.
    pub command_time: Duration,
    /// The longest time that a call may ask for. Default 600 s.
    pub command_time_max: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            result_bytes: 48 * 1024,
            file_bytes: 16 * 1024 * 1024,
            items: 1000,
            line_bytes: 500,
            command_time: Duration::from_secs(120),
            command_time_max: Duration::from_secs(600),
        }
    }
}

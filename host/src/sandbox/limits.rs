//! What guests may use, as data. Must not enforce anything.

use std::path::PathBuf;
use std::time::Duration;

/// How a sandbox is made.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// Threads that guests run on. Default: the machine's.
    pub threads: usize,
    /// Directory for compiled code, trusted as much as the host's own binary: only this user may be able to
    /// write there. None: compile anew in every process. Default: none.
    pub cache: Option<PathBuf>,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self { threads: std::thread::available_parallelism().map_or(1, usize::from), cache: None }
    }
}

/// What one guest may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestLimits {
    /// Wall time from the moment the guest starts. Default: none.
    pub time: Option<Duration>,
    /// Fuel, about one unit an instruction. Default: 50 billion.
    pub fuel: u64,
    /// Bytes of memory, all memories of the guest together. Default: 256 MiB.
    pub memory: usize,
}

impl Default for GuestLimits {
    fn default() -> Self {
        Self { time: None, fuel: 50_000_000_000, memory: 256 * 1024 * 1024 }
    }
}

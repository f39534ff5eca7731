//! What commands may use up. Holds no behaviour.

use serde::{Deserialize, Serialize};

/// What one command may use up. All but `processes` hold for each of its processes by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLimits {
    /// Most processes at once; for users other than root most threads too. Default 512.
    pub processes: u32,
    /// Most bytes of a file that it writes. Default 2 GiB.
    pub file_bytes: u64,
    /// Most open files. Default 4096.
    pub open_files: u32,
    /// Most bytes of address space, reserved or used. Default 256 GiB: runtimes reserve far more than they
    /// use.
    pub address_space_bytes: u64,
    /// Most bytes of memory that it may write to. Default 8 GiB.
    pub data_bytes: u64,
}

const GIB: u64 = 1 << 30;

impl Default for CommandLimits {
    fn default() -> Self {
        Self {
            processes: 512,
            file_bytes: 2 * GIB,
            open_files: 4096,
            address_space_bytes: 256 * GIB,
            data_bytes: 8 * GIB,
        }
    }
}

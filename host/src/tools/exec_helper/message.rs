//! What the host, the supervisor and the launcher say to one another: one line of JSON each way.
//! Holds no behaviour.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::tools::confinement::CommandLimits;

/// One command and how to supervise it: what the host writes to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// What to start.
    pub launch: Launch,
    /// How long it may run, in milliseconds.
    pub time_limit_ms: u64,
    /// Most bytes of output text to keep; head and tail share them.
    pub output_bytes: usize,
    /// True where the host wants the output as it comes: lines of [`Live`] stand before the report then.
    pub live: bool,
}

/// Output of a command that goes on.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Live {
    /// What came next.
    Output(String),
    /// So many bytes of text came next, faster than they could be handed on.
    LeftOut(u64),
}

/// What to start and how to shut it in: what the supervisor hands on to the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    /// Name on the search path, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Which directory the working directory has to be.
    pub workspace: Identity,
    /// The private directory of this call. The supervisor makes and removes it.
    pub temporary: PathBuf,
    /// The whole environment of the command.
    pub environment: Vec<(String, String)>,
    /// What it may reach; none: it runs unconfined, by the operator's choice.
    pub access: Option<FileAccess>,
    /// What it may use up.
    pub limits: CommandLimits,
}

/// A directory by what the kernel knows it by, so that one put in its place is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// What a confined command may reach beside the system's own programs and its temporary directory.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileAccess {
    /// True where the command may change the workspace.
    pub write_workspace: bool,
    /// More files and directories that it may read and execute.
    pub readable: Vec<PathBuf>,
}

/// What became of a command: what the supervisor writes to the host.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// How it ended.
    pub end: End,
    /// The beginning of the output, all of it where nothing was left out.
    pub head: String,
    /// Bytes of text between `head` and `tail` that were not kept.
    pub left_out: u64,
    /// The end of the output.
    pub tail: String,
    /// Processes that were still there when the command ended, and were killed.
    pub killed: usize,
    /// Processes that withstood being killed.
    pub surviving: usize,
    /// What could not be tidied up, in words; empty where all was.
    pub trouble: String,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// By its time limit.
    TimedOut,
    /// It had more processes at once than its limit allows.
    TooManyProcesses,
    /// The host closed the control pipe.
    Stopped,
    /// It never ran.
    NotStarted(StartError),
}

/// Why a command never ran.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartError {
    /// There is no such program.
    NotFound(String),
    /// Anything else, above all a confinement that could not be set up.
    Failed(String),
}

/// What a machine enforces: what the helper answers to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Enforced {
    /// The Landlock ABI in use; 0 where the probe was for unconfined commands.
    pub landlock_abi: u32,
}

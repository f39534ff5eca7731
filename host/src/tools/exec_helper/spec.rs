//! What host, supervisor and command tell each other, as lines of JSON. Holds no behaviour.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// First argument of a process that is to be the helper.
pub(crate) const HELPER: &str = "__deputy-exec-helper";
/// Second argument: watch over one command.
pub(crate) const SUPERVISE: &str = "supervise";
/// Second argument: become the command.
pub(crate) const CONFINE: &str = "confine";
/// Second argument: say what this machine enforces.
pub(crate) const PROBE: &str = "probe";

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Start {
    /// A line for the shell.
    Shell(String),
    /// A program with its arguments.
    Program(String, Vec<String>),
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// What is started.
    pub(crate) start: Start,
    /// Where, and what it may read.
    pub(crate) workspace: PathBuf,
    /// Whether it may write there.
    pub(crate) writable: bool,
    /// Whether it is confined at all.
    pub(crate) confined: bool,
    /// What else it may read.
    pub(crate) readable: Vec<PathBuf>,
    /// Milliseconds that it may take.
    pub(crate) time_ms: u64,
    /// Bytes of output that are kept: half from its head, half from its tail.
    pub(crate) output_bytes: usize,
    /// Its private directory for temporary files; the supervisor makes and removes it.
    pub(crate) temporary: PathBuf,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Its exit code; none where a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// True where it ran into its time limit.
    pub(crate) timed_out: bool,
    /// What it wrote, head and tail.
    pub(crate) output: String,
    /// Bytes left out between the two.
    pub(crate) left_out: u64,
    /// Processes that it left behind and that were killed.
    pub(crate) killed: usize,
    /// Why it could not be run.
    pub(crate) error: Option<String>,
}

/// What this machine enforces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Probed {
    /// What of the confinement is in force, in words; or why it is not.
    pub(crate) enforced: Result<String, String>,
}

//! Whether and how commands are confined on this machine: decided once, said in words, never silently less.
//! Must not start commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::exec_helper::{HELPER, PROBE, Probed};

/// How commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellMode {
    /// Confined, or not offered.
    #[default]
    Confined,
    /// As the host's user, with nothing but time, output and survivors under control: the operator's choice.
    Unconfined,
}

/// Commands under control of a helper process.
#[derive(Clone, Debug)]
pub struct Confinement {
    helper: PathBuf,
    mode: ShellMode,
    enforced: String,
    readable: Vec<PathBuf>,
}

/// Commands cannot be confined on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "commands cannot be confined on this machine: {reason}; run them bare with `--shell unconfined` (`ShellMode::Unconfined` in code) if you trust what runs"
)]
pub struct ConfinementUnavailable {
    /// What is missing.
    pub reason: String,
}

impl Confinement {
    /// Takes `helper`, a binary that calls [`exec_helper::main`](super::exec_helper::main) first, and asks it
    /// what this machine enforces.
    ///
    /// # Errors
    /// [`ConfinementUnavailable`] where commands are to be confined and cannot be.
    pub fn new(helper: PathBuf, mode: ShellMode) -> Result<Self, ConfinementUnavailable> {
        let enforced = match mode {
            ShellMode::Confined => probe(&helper).map_err(|reason| ConfinementUnavailable { reason })?,
            ShellMode::Unconfined => "nothing: commands run as the user, by the operator's choice".to_owned(),
        };
        Ok(Self { helper, mode, enforced, readable: Vec::new() })
    }

    /// Lets commands read and run from one more directory: a toolchain outside the system's, say.
    #[must_use]
    pub fn readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// What is enforced, in a line.
    #[must_use]
    pub fn describe(&self) -> String {
        match self.mode {
            ShellMode::Confined => format!("confined: {}", self.enforced),
            ShellMode::Unconfined => format!("unconfined: {}", self.enforced),
        }
    }

    pub(super) fn helper(&self) -> &Path {
        &self.helper
    }

    pub(super) fn is_confined(&self) -> bool {
        self.mode == ShellMode::Confined
    }

    pub(super) fn also_readable(&self) -> &[PathBuf] {
        &self.readable
    }
}

/// Has the helper confine itself and say what came of it.
fn probe(helper: &Path) -> Result<String, String> {
    let output = Command::new(helper)
        .args([HELPER, PROBE])
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| format!("the helper {} does not start: {error}", helper.display()))?;
    let probed: Probed = serde_json::from_slice(&output.stdout).map_err(|_| {
        format!("{} is no helper: expected a binary that calls `exec_helper::main` first", helper.display())
    })?;
    probed.enforced
}

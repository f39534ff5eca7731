//! How commands are shut in on this machine: the operator's choice, and what was seen to hold.
//! Must not run commands.

mod environment;
mod limits;
mod probe;

use std::path::{Path, PathBuf};

pub use limits::CommandLimits;
pub use probe::ConfinementUnavailable;

use crate::tools::exec_helper::message::{Enforced, FileAccess};

/// Whether commands are shut in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellMode {
    /// Commands reach the workspace and the system's programs, no network, no other processes.
    #[default]
    Confined,
    /// Commands reach whatever the user reaches. Only ever the operator's own choice.
    Unconfined,
}

/// What the command tools run commands with. Having one means that the helper is there and, in
/// [`ShellMode::Confined`], that this machine was seen to enforce the confinement.
#[derive(Clone, Debug)]
pub struct Confinement {
    helper: PathBuf,
    mode: ShellMode,
    enforced: Enforced,
    readable: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    limits: CommandLimits,
    temporary_root: PathBuf,
}

impl Confinement {
    /// Tries the confinement out once, in a process of its own; takes some milliseconds and blocks, so make
    /// one when a program starts and share it. `helper` is an executable that calls
    /// [`exec_helper::main`](super::exec_helper::main) first thing, as a rule this very program.
    ///
    /// # Errors
    /// [`ConfinementUnavailable`] where the helper does not answer as one, or where `mode` is confined and
    /// the machine cannot enforce that. A command is confined or not offered, never silently bare.
    pub fn new(helper: PathBuf, mode: ShellMode) -> Result<Self, ConfinementUnavailable> {
        let enforced = probe::probe(&helper, mode)?;
        Ok(Self {
            helper,
            mode,
            enforced,
            readable: Vec::new(),
            variables: Vec::new(),
            limits: CommandLimits::default(),
            temporary_root: PathBuf::from("/tmp"),
        })
    }

    /// Lets commands read and execute what is at `path`: a tool chain outside the system directories, say.
    /// Where it has a `bin` directory, that is searched for programs after the system's own. What is not
    /// there is passed over.
    #[must_use]
    pub fn readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Gives commands one more environment variable. Nothing else of the host's environment reaches them.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Sets what commands may use up.
    #[must_use]
    pub fn limits(mut self, limits: CommandLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where the private temporary directory of each call is made. Default `/tmp`.
    #[must_use]
    pub fn temporary_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.temporary_root = path.into();
        self
    }

    /// The operator's choice.
    #[must_use]
    pub fn mode(&self) -> ShellMode {
        self.mode
    }

    /// In one line, what holds for commands.
    #[must_use]
    pub fn describe(&self) -> String {
        if self.mode == ShellMode::Unconfined {
            return "commands run unconfined: they reach all that this user reaches".to_owned();
        }
        let abi = self.enforced.landlock_abi;
        let signals = if abi >= SIGNALS_SINCE {
            "no signals to other processes"
        } else {
            "signals to other processes of this user are NOT held back (needs Linux 6.12)"
        };
        format!(
            "commands are confined: files by Landlock ABI {abi}, system calls by seccomp, no network, {signals}"
        )
    }

    pub(super) fn helper(&self) -> &Path {
        &self.helper
    }

    pub(super) fn command_limits(&self) -> CommandLimits {
        self.limits
    }

    /// What a command may reach; none where it runs unconfined.
    pub(super) fn access(&self, write_workspace: bool) -> Option<FileAccess> {
        let access = FileAccess { write_workspace, readable: self.readable.clone() };
        (self.mode == ShellMode::Confined).then_some(access)
    }

    /// A directory name for one call that nobody can guess.
    pub(super) fn temporary(&self) -> PathBuf {
        self.temporary_root.join(format!("deputy-{}", uuid::Uuid::now_v7().simple()))
    }

    /// The whole environment of a command.
    pub(super) fn environment(&self, temporary: &str) -> Vec<(String, String)> {
        environment::environment(temporary, &self.readable, &self.variables)
    }
}

/// The Landlock ABI that keeps signals inside.
const SIGNALS_SINCE: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn confinement(mode: ShellMode, landlock_abi: u32) -> Confinement {
        Confinement {
            helper: PathBuf::new(),
            mode,
            enforced: Enforced { landlock_abi },
            readable: Vec::new(),
            variables: Vec::new(),
            limits: CommandLimits::default(),
            temporary_root: PathBuf::from("/tmp"),
        }
    }

    #[test]
    fn the_description_says_what_does_not_hold() {
        assert!(confinement(ShellMode::Unconfined, 0).describe().contains("unconfined"));
        assert!(confinement(ShellMode::Confined, 5).describe().contains("NOT held back"));
        assert!(!confinement(ShellMode::Confined, 6).describe().contains("NOT"));
    }

    #[test]
    fn unconfined_commands_have_no_access_list_and_confined_ones_always() {
        assert!(confinement(ShellMode::Unconfined, 0).access(true).is_none());
        let access = confinement(ShellMode::Confined, 3).readable("/x").access(false).unwrap();
        assert!(!access.write_workspace);
        assert_eq!(access.readable, [PathBuf::from("/x")]);
    }

    #[test]
    fn each_call_has_a_temporary_directory_of_its_own() {
        let confinement = confinement(ShellMode::Confined, 7).temporary_root("/elsewhere");
        assert_ne!(confinement.temporary(), confinement.temporary());
        assert!(confinement.temporary().starts_with("/elsewhere"));
    }
}

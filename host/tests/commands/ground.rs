//! A workspace, a grant and the command tools on it: the ground that each test stands on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deputy::governance::{DenyAll, Effect, Governance, Policy};
use deputy::history::Arguments;
use deputy::ids::{AgentName, RunId, ToolName};
use deputy::tools::{
    BackgroundCommands, CallContext, CommandLimits, Confinement, ConfinementUnavailable, OperationTool,
    RunCommandTool, RunProgramTool, ShellMode, Tool, ToolError, ToolLimits,
};
use deputy::workspace::Workspace;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A value in the host's environment that no command may ever see.
pub(crate) const CANARY: &str = "canary-7f3a";

/// The variable by which a test finds the processes of its commands again.
const MARK: &str = "DEPUTY_TEST_MARK";

/// A workspace with the command tools.
pub(crate) struct Ground {
    pub(crate) directory: TempDir,
    pub(crate) context: CallContext,
    pub(crate) mark: String,
    pub(crate) confinement: Confinement,
    writes: bool,
    checks: bool,
}

/// This program, which is also the helper.
pub(crate) fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program has a path")
}

/// The confinement of this machine, or why it has none.
pub(crate) fn confinement() -> Result<Confinement, ConfinementUnavailable> {
    Confinement::new(this_program(), ShellMode::Confined)
}

impl Ground {
    /// Confined where the machine can; what is tested here does not depend on it.
    pub(crate) fn any() -> Self {
        Self::with(confinement().unwrap_or_else(|_| {
            Confinement::new(this_program(), ShellMode::Unconfined).expect("the helper is there")
        }))
    }

    pub(crate) fn with(confinement: Confinement) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mark = RunId::fresh().to_string();
        let cancel = CancellationToken::new();
        let context = CallContext {
            run: RunId::fresh(),
            workspace: Arc::new(Workspace::open(directory.path()).expect("a workspace")),
            background: BackgroundCommands::within(&cancel),
            cancel,
            limits: ToolLimits::default(),
        };
        let confinement = confinement.variable(MARK, mark.clone()).readable(this_program());
        Self { directory, context, mark, confinement, writes: true, checks: true }
    }

    /// The run has no tool that writes.
    pub(crate) fn read_only(mut self) -> Self {
        self.writes = false;
        self
    }

    /// The run has no tool that looks after commands in the background.
    pub(crate) fn without_check(mut self) -> Self {
        self.checks = false;
        self
    }

    pub(crate) fn limits(mut self, limits: CommandLimits) -> Self {
        self.confinement = self.confinement.limits(limits);
        self
    }

    pub(crate) fn readable(mut self, path: &Path) -> Self {
        self.confinement = self.confinement.readable(path);
        self
    }

    pub(crate) fn temporary_root(mut self, path: &Path) -> Self {
        self.confinement = self.confinement.temporary_root(path);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs a command line.
    pub(crate) fn shell(&self, command: &str) -> Result<Seen, ToolError> {
        self.block_on(self.call_shell(&json!({ "command": command })))
    }

    pub(crate) fn shell_within(&self, command: &str, timeout_ms: u64) -> Result<Seen, ToolError> {
        self.block_on(self.call_shell(&json!({ "command": command, "timeout_ms": timeout_ms })))
    }

    /// Runs a program.
    pub(crate) fn program(&self, program: &str, args: &[&str]) -> Result<Seen, ToolError> {
        let tool = OperationTool::new(RunProgramTool::new(Arc::new(self.confinement.clone())));
        self.block_on(self.call(&tool, &json!({ "program": program, "args": args })))
    }

    /// Runs this very program as an attacker.
    pub(crate) fn attack(&self, words: &[&str]) -> Seen {
        let program = this_program();
        let args = [&["--attack"], words].concat();
        self.program(program.to_str().expect("a path in UTF-8"), &args).expect("the attack runs")
    }

    pub(crate) async fn call_shell(&self, arguments: &serde_json::Value) -> Result<Seen, ToolError> {
        let tool = OperationTool::new(RunCommandTool::new(Arc::new(self.confinement.clone())));
        self.call(&tool, arguments).await
    }

    async fn call(&self, tool: &dyn Tool, arguments: &serde_json::Value) -> Result<Seen, ToolError> {
        self.call_text(tool, arguments).await.map(|text| Seen::read(&text))
    }

    /// One call as a model makes it.
    pub(crate) async fn call_text(
        &self,
        tool: &dyn Tool,
        arguments: &serde_json::Value,
    ) -> Result<String, ToolError> {
        let governance = Governance::new(Policy::default().yes_to_all(), Arc::new(DenyAll));
        let name = ToolName::from(tool.description().name.as_str());
        let mut tools = vec![(name.clone(), tool.effect())];
        if self.writes {
            tools.push((ToolName::from("write_file"), Effect::Write));
        }
        if self.checks {
            tools.push((ToolName::from("check_command"), Effect::Manage));
        }
        let rights = governance.root_rights(
            AgentName::from("tester"),
            tools.into_iter().map(|(name, effect)| (name, Ok(effect))),
        );
        let arguments = Arguments::from(arguments.to_string());
        let permit = governance.review(&rights, &name, arguments, "a test").await.expect("it is allowed");
        tool.call(permit, &self.context).await
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(future)
    }

    /// Processes of this ground's commands that are still there.
    pub(crate) fn processes_left(&self) -> Vec<String> {
        let entries = fs::read_dir("/proc").expect("a /proc").flatten();
        let marked = entries.filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&self.mark)
        });
        marked.map(|entry| fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default()).collect()
    }
}

/// A result as the model reads it, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) exit_code: Option<i32>,
    pub(crate) output: String,
    pub(crate) note: String,
}

impl Seen {
    fn read(text: &str) -> Self {
        let (end, rest) = text.split_once('\n').expect("a line with the exit code");
        let end = end.strip_prefix("exit code: ").expect("the exit code first");
        let (output, note) = match rest.rfind('[') {
            Some(at) if (at == 0 || rest[..at].ends_with('\n')) && rest.ends_with(']') => {
                (&rest[..at], &rest[at + 1..rest.len() - 1])
            }
            _ => (rest, ""),
        };
        Self {
            text: text.to_owned(),
            exit_code: end.parse().ok(),
            output: output.to_owned(),
            note: note.to_owned(),
        }
    }

    pub(crate) fn succeeded(&self) -> bool {
        self.exit_code == Some(0)
    }
}

//! Runs the binary in an environment made from scratch, over a temporary workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// One compiled-code cache for all tests of this process.
fn cache() -> &'static Path {
    static CACHE: OnceLock<TempDir> = OnceLock::new();
    CACHE.get_or_init(|| TempDir::new().unwrap()).path()
}

/// A workspace, and commands over it.
pub(crate) struct Deputy {
    pub(crate) workspace: TempDir,
    pub(crate) state: TempDir,
    environment: Vec<(String, String)>,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Deputy {
    pub(crate) fn new() -> Self {
        Self { workspace: TempDir::new().unwrap(), state: TempDir::new().unwrap(), environment: Vec::new() }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.workspace.path().join(path)
    }

    /// The command, with nothing of this process's environment but the search path.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deputy"));
        command
            .args(arguments)
            .current_dir(self.workspace.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("XDG_CACHE_HOME", cache())
            .env("XDG_STATE_HOME", self.state.path())
            .env("HOME", self.workspace.path())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(&self.command(arguments).output().unwrap())
    }

    /// How many processes have the workspace as their working directory.
    pub(crate) fn left_over(&self) -> usize {
        let workspace = self.workspace.path().canonicalize().unwrap();
        let processes = std::fs::read_dir("/proc").unwrap();
        let directories =
            processes.filter_map(|entry| std::fs::read_link(entry.ok()?.path().join("cwd")).ok());
        directories.filter(|directory| *directory == workspace).count()
    }

    /// `deputy run` with a scripted model whose steps are these, as JSON.
    pub(crate) fn scripted(&self, steps: &Value, arguments: &[&str]) -> Ended {
        let script = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
        std::fs::write(script.path(), serde_json::json!({ "steps": steps }).to_string()).unwrap();
        let model = format!("scripted:{}", script.path().display());
        self.run(&[&["run", "--model", &model], arguments].concat())
    }
}

pub(crate) fn ended(output: &Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr.clone()).expect("stderr is UTF-8"),
    }
}

impl Ended {
    /// The one object on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "expected `{part}` on stderr: {self:?}");
        }
        self
    }
}

impl std::fmt::Debug for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}\n--- stdout\n{}\n--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

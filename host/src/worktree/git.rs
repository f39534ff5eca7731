//! Runs one git process: fixed environment, no input but a file, a time limit, a cap on what it says, and its whole
//! process group killed when it is over. The only place that starts a process. Must not know what git is asked for.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::error::WorktreeError;
use super::settings::{ENVIRONMENT, OVERRIDES};

/// Longest that one git process may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Most bytes that are taken from one, where the caller names no other cap.
const OUTPUT_CAP: usize = 8 * 1024 * 1024;
/// Most bytes of complaints that are kept.
const STDERR_CAP: usize = 4 * 1024;

/// One git process about to be started.
#[derive(Debug)]
pub(super) struct GitCall {
    what: &'static str,
    program: PathBuf,
    directory: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    settings: Vec<(OsString, OsString)>,
    input: Option<File>,
    cap: usize,
}

/// What one said, and how it ended.
#[derive(Debug)]
pub(super) struct Output {
    /// Its standard output, up to the cap.
    pub(super) stdout: Vec<u8>,
    /// Its complaints, bounded.
    pub(super) stderr: String,
    /// True where there was more than the cap; it was killed then.
    pub(super) cut: bool,
    /// Its exit status; `None` where a signal ended it.
    pub(super) status: Option<i32>,
}

impl GitCall {
    /// A call of `program` in `directory`. `what` says what for, as in "git failed to …".
    pub(super) fn new(what: &'static str, program: &Path, directory: &Path) -> Self {
        let settings = OVERRIDES.iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self {
            what,
            program: program.to_owned(),
            directory: directory.to_owned(),
            arguments: vec!["--no-pager".into()],
            environment: Vec::new(),
            settings,
            input: None,
            cap: OUTPUT_CAP,
        }
    }

    /// With one more argument.
    pub(super) fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With more arguments.
    pub(super) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(OsString::from));
        self
    }

    /// With a variable set.
    pub(super) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// With a setting that wins over the repository's and over earlier ones.
    pub(super) fn setting(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.settings.push((key.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Reading from `file`; from nothing where this is not called.
    pub(super) fn input(mut self, file: File) -> Self {
        self.input = Some(file);
        self
    }

    /// With another cap on its output.
    pub(super) fn capped_at(mut self, cap: usize) -> Self {
        self.cap = cap;
        self
    }

    /// Runs it; a status other than 0, or more output than the cap, is an error.
    pub(super) async fn succeed(self) -> Result<Vec<u8>, WorktreeError> {
        let (what, cap) = (self.what, self.cap);
        let output = self.succeed_or_cut().await?;
        if output.cut { Err(WorktreeError::TooMuch { what, cap }) } else { Ok(output.stdout) }
    }

    /// Runs it; a status other than 0 is an error, unless it was killed for saying too much.
    pub(super) async fn succeed_or_cut(self) -> Result<Output, WorktreeError> {
        let what = self.what;
        let output = self.run().await?;
        if output.cut || output.status == Some(0) {
            return Ok(output);
        }
        Err(WorktreeError::Git { what, status: output.status, stderr: output.stderr })
    }

    /// Runs it.
    pub(super) async fn run(self) -> Result<Output, WorktreeError> {
        let (what, cap, program) = (self.what, self.cap, self.program.clone());
        let failed = |source| WorktreeError::Io { what: "run", path: program.clone(), source };
        let mut child = self.command().spawn().map_err(&failed)?;
        let group = ProcessGroup::of(&child);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(io::Error::other("no pipe to it")));
        };
        let work = async {
            let said = async {
                let said = read_capped(stdout, cap).await;
                if !matches!(said, Ok((_, false))) {
                    group.kill();
                }
                said
            };
            let (said, complaints) = tokio::join!(said, read_and_drain(stderr));
            let (stdout, cut) = said?;
            let status = child.wait().await?.code();
            Ok(Output { stdout, stderr: complaints?, cut, status })
        };
        let ended = tokio::time::timeout(TIME_LIMIT, work).await;
        match ended {
            Ok(output) => output.map_err(failed),
            Err(_) => Err(WorktreeError::TimedOut { what, seconds: TIME_LIMIT.as_secs() }),
        }
    }

    fn command(self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.directory).env_clear();
        command.envs(ENVIRONMENT.iter().copied());
        command.env("PATH", self.program.parent().unwrap_or(Path::new("/usr/bin")));
        command.envs(self.environment);
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (index, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{index}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        command.stdin(self.input.map_or_else(Stdio::null, Stdio::from));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command
    }
}

/// The process group of a child, killed when this is dropped: what the child started ends with it. Dropped before
/// the child is, or right after it was waited for.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    fn kill(&self) {
        if let Some(group) = self.0 {
            // It is gone already where this fails.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn read_capped(mut from: impl AsyncRead + Unpin, cap: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    (&mut from).take(cap as u64).read_to_end(&mut bytes).await?;
    let more = from.read(&mut [0; 1]).await? > 0;
    Ok((bytes, more))
}

async fn read_and_drain(mut from: impl AsyncRead + Unpin) -> io::Result<String> {
    let mut bytes = Vec::new();
    (&mut from).take(STDERR_CAP as u64).read_to_end(&mut bytes).await?;
    tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

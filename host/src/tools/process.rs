//! Runs one command under the helper and reads how it ended. Must not decide what may run.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use deputy_contract::render;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::confinement::Confinement;
use super::exec_helper::{Ended, HELPER, SUPERVISE, Spec, Start};
use super::{CallContext, ToolError};

/// Beyond its own time, what the helper may take to wind up.
const WIND_UP: Duration = Duration::from_secs(10);
/// Most bytes of what the helper says.
const SAID_BYTES: u64 = 16 * 1024 * 1024;

/// How a command ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// None where a signal ended it.
    pub exit_code: Option<i32>,
    /// Standard output and standard error as they came, head and tail kept.
    pub output: String,
    /// True where a size cap cut the output.
    pub cut: bool,
    /// Anything worth knowing.
    pub note: String,
}

impl Finished {
    pub(super) fn render(&self) -> String {
        render::finished(self.exit_code, &self.output, self.cut, &self.note)
    }
}

/// Runs a command and returns once nothing of it is left.
pub(super) async fn run(
    confinement: &Confinement,
    start: Start,
    timeout_ms: Option<u64>,
    writable: bool,
    context: &CallContext,
) -> Result<Finished, ToolError> {
    let mut notes = Vec::new();
    let most = context.limits.command_time_max;
    let mut time = timeout_ms.map_or(context.limits.command_time, Duration::from_millis);
    if time > most {
        notes
            .push(format!("the time limit was lowered to {} ms, the most that is allowed", most.as_millis()));
        time = most;
    }
    if !confinement.is_confined() {
        notes.push("ran unconfined, by the operator's choice".to_owned());
    }
    let spec = Spec {
        start,
        workspace: context.workspace.path().to_owned(),
        writable,
        confined: confinement.is_confined(),
        readable: confinement.also_readable().to_vec(),
        time_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        output_bytes: context.limits.result_bytes,
        temporary: std::env::temp_dir().join(format!("deputy-{}", uuid::Uuid::now_v7().simple())),
    };
    let ended = supervised(confinement.helper(), &spec, time, context).await?;
    if let Some(error) = ended.error {
        return Err(ToolError::Failed(format!("the command did not run: {error}")));
    }
    match ended.killed {
        0 => {}
        1 => notes.push("1 process that it left was killed".to_owned()),
        many => notes.push(format!("{many} processes that it left were killed")),
    }
    if ended.timed_out {
        return Err(ToolError::TimedOut(format!(
            "the command ran into its time limit of {} ms and was killed with all that it started; its output so far:\n{}",
            time.as_millis(),
            if ended.output.is_empty() { "(no output)" } else { &ended.output }
        )));
    }
    Ok(Finished {
        exit_code: ended.exit_code,
        output: if ended.output.is_empty() { "(no output)".to_owned() } else { ended.output },
        cut: ended.left_out > 0,
        note: notes.join("; "),
    })
}

/// Runs the helper. It holds the command for as long as we hold its input.
async fn supervised(
    helper: &Path,
    spec: &Spec,
    time: Duration,
    context: &CallContext,
) -> Result<Ended, ToolError> {
    let failed =
        |error: std::io::Error| ToolError::Failed(format!("the helper for commands does not run: {error}"));
    let mut child = Command::new(helper)
        .args([HELPER, SUPERVISE])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut held = child.stdin.take();
    let told = serde_json::to_string(spec).map_err(|error| ToolError::Failed(error.to_string()))?;
    if let Some(stdin) = &mut held {
        stdin.write_all(format!("{told}\n").as_bytes()).await.map_err(failed)?;
        stdin.flush().await.map_err(failed)?;
    }
    let ended = tokio::select! {
        biased;
        () = context.cancel.cancelled() => None,
        ended = tokio::time::timeout(time.saturating_add(WIND_UP), said(&mut child)) => Some(ended),
    };
    // Letting go of its input makes the helper kill whatever is left.
    drop(held);
    match ended {
        Some(Ok(ended)) => ended,
        Some(Err(_)) => {
            let _ = child.kill().await;
            Err(ToolError::Failed("the helper for commands did not end in time and was killed".to_owned()))
        }
        None => {
            // Dead means joined: the call ends when the helper has seen the last process die.
            if tokio::time::timeout(WIND_UP, child.wait()).await.is_err() {
                let _ = child.kill().await;
            }
            Err(ToolError::Cancelled)
        }
    }
}

/// What the helper says at its end.
async fn said(child: &mut Child) -> Result<Ended, ToolError> {
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let read = stdout.take(SAID_BYTES).read_to_end(&mut said).await;
        read.map_err(|error| ToolError::Failed(format!("the helper for commands broke off: {error}")))?;
    }
    let _ = child.wait().await;
    serde_json::from_slice(&said).map_err(|_| {
        ToolError::Failed(
            "the helper for commands ended without a word: the command may not have run".to_owned(),
        )
    })
}

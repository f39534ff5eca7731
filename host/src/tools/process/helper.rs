//! Starts the supervisor for one job and talks to it. Must not know what the job is.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::tools::exec_helper::message::{Job, Live, Report};
use crate::tools::exec_helper::{HIDDEN, SUPERVISE};
use crate::tools::{CallContext, ToolError};

/// What a supervisor may take beyond the command's own time: the grace of a command that does not end when
/// asked, killing what is left, starting up on a busy machine.
const OVERTIME: Duration = Duration::from_secs(20);

/// How long a supervisor may take to end everything once the host lets go.
const STOP_TIME: Duration = Duration::from_secs(8);

/// Room in a report beside the output.
const REPORT_FRAME_BYTES: usize = 128 * 1024;

/// Most bytes of one line of output that is followed: a read of the supervisor's, each byte in six.
const LINE_BYTES: u64 = 1024 * 1024;

/// Who hears of output as it comes.
pub(super) type Said<'a> = &'a mut (dyn FnMut(Live) + Send);

/// Does the job. Where the run is cancelled, or this future is dropped, the control pipe closes and the
/// supervisor kills everything below it; it is never killed itself before that, as its tree would go free.
pub(super) async fn supervise(
    helper: &Path,
    job: &Job,
    context: &CallContext,
    said: Option<Said<'_>>,
) -> Result<Report, ToolError> {
    if context.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let failed = |problem: String| {
        ToolError::Failed(format!("the helper `{}` that runs commands {problem}", helper.display()))
    };
    let mut line =
        serde_json::to_vec(job).map_err(|error| failed(format!("cannot take this job: {error}")))?;
    line.push(b'\n');
    let mut child = Command::new(helper)
        .arg(HIDDEN)
        .arg(SUPERVISE)
        .env_clear()
        .current_dir(context.workspace.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("cannot be started, so the command was not run: {error}")))?;
    let mut control = child.stdin.take();

    let time = Duration::from_millis(job.time_limit_ms).saturating_add(OVERTIME);
    let told = tokio::select! {
        biased;
        () = context.cancel.cancelled() => None,
        told = timeout(time, exchange(&mut child, &mut control, &line, job.output_bytes, said)) => Some(told),
    };
    let told = match told {
        Some(Ok(told)) => told,
        unfinished => {
            drop(control);
            // Nobody reads the report any more; the supervisor must not wait for somebody to.
            drop(child.stdout.take());
            stop(&mut child).await;
            return Err(unfinished.map_or(ToolError::Cancelled, |_| {
                failed(format!(
                    "did not report within {} s and was stopped; what the command did is unknown",
                    time.as_secs()
                ))
            }));
        }
    };
    drop(control);
    let status = stop(&mut child).await;
    match told.map(|text| serde_json::from_slice(&text)) {
        Ok(Ok(report)) => Ok(report),
        _ => Err(failed(format!("ended without a report ({status}); what the command did is unknown"))),
    }
}

async fn exchange(
    child: &mut Child,
    control: &mut Option<ChildStdin>,
    line: &[u8],
    output_bytes: usize,
    said: Option<Said<'_>>,
) -> std::io::Result<Vec<u8>> {
    if let Some(control) = control {
        // A helper that is gone already shows by its missing report.
        let _ = control.write_all(line).await;
    }
    let mut text = Vec::new();
    if let Some(output) = &mut child.stdout {
        if let Some(said) = said {
            return follow(output, said).await;
        }
        // JSON writes a control character in six bytes.
        let most = output_bytes.saturating_mul(6).saturating_add(REPORT_FRAME_BYTES);
        output.take(most as u64).read_to_end(&mut text).await?;
    }
    Ok(text)
}

/// Hands on what comes before the report, and answers that.
async fn follow(output: &mut ChildStdout, said: Said<'_>) -> std::io::Result<Vec<u8>> {
    let mut lines = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        (&mut lines).take(LINE_BYTES).read_until(b'\n', &mut line).await?;
        match serde_json::from_slice(&line) {
            Ok(live) => said(live),
            // The report, or nothing where there is none.
            Err(_) => return Ok(line),
        }
    }
}

/// Waits for the end of a helper that was let go, and ends it where it does not come. How it ended, in words.
async fn stop(child: &mut Child) -> String {
    match timeout(STOP_TIME, child.wait()).await {
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => {
            // Nothing more can be done for what it leaves.
            let _ = child.kill().await;
            format!("it hung and was killed after {} s", STOP_TIME.as_secs())
        }
    }
}

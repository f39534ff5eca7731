//! Supervises one command from a process of its own: starts it, reads its output, keeps its time limit and
//! leaves nothing of it running. Must not decide what it may reach.

use std::io::{self, BufRead, PipeReader, PipeWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, getpid, set_child_subreaper, setpriority_process, setsid};

use super::live::Live;
use super::message::{End, Job, Launch, Report, StartError};
use super::temporary::Temporary;
use super::watch::{self, Watched};
use super::{HIDDEN, LAUNCH, tree};

/// What is left when a command ends may take so long to end by itself.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// How long the last output may take once nothing runs any more.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Reads a job from standard input, does it, writes the report to standard output. Standard input stays
/// open as the control pipe: where it ends, the host wants no more of this or is gone.
pub(super) fn run() -> ExitCode {
    let report = supervise().unwrap_or_else(|error| Report {
        end: End::NotStarted(StartError::Failed(error.to_string())),
        head: String::new(),
        left_out: 0,
        tail: String::new(),
        killed: 0,
        surviving: 0,
        trouble: String::new(),
    });
    let Ok(mut line) = serde_json::to_vec(&report) else { return ExitCode::FAILURE };
    line.push(b'\n');
    match io::stdout().write_all(&line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn supervise() -> io::Result<Report> {
    // Out of the host's session: its terminal's signals are the host's to act on. Fails only where this
    // process leads a group, and then it is out already.
    let _ = setsid();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;

    tree::check()?;
    set_child_subreaper(Some(getpid()))?;
    let temporary = Temporary::make(job.launch.temporary.clone())?;
    let watched = start(&job.launch).and_then(|(child, output)| watch_to_the_end(&job, child, output));
    if watched.is_err() {
        tree::end_all();
    }
    let removed = temporary.remove();
    let mut report = watched?;
    if let Err(error) = removed {
        report.trouble = format!("the temporary directory could not be removed: {error}");
    }
    Ok(report)
}

/// Starts the launcher, which becomes the command.
fn start(launch: &Launch) -> io::Result<(Child, PipeReader)> {
    let (output, writer): (PipeReader, PipeWriter) = io::pipe()?;
    // The running program itself, even where its file was replaced meanwhile.
    let mut child = Command::new("/proc/self/exe")
        .arg(HIDDEN)
        .arg(LAUNCH)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()?;
    let text = serde_json::to_vec(launch)?;
    if let Some(mut input) = child.stdin.take() {
        // Where the launcher is gone already its status pipe says why.
        let _ = input.write_all(&text);
    }
    Ok((child, output))
}

fn watch_to_the_end(job: &Job, mut child: Child, output: PipeReader) -> io::Result<Report> {
    let pid = Pid::from_child(&child);
    let live = job.live.then(Live::new).transpose()?;
    let mut watch = watch::Watch::new(pid, output, child.stderr.take(), job.output_bytes, live)?;
    // Not to be crowded out by what it watches. Only root may; others cannot start as many processes.
    let _ = setpriority_process(None, -10);
    let limit = Duration::from_millis(job.time_limit_ms);
    let seen = watch.until_it_ends(limit, job.launch.limits.processes);
    if matches!(seen, Ok(Watched::Exited)) {
        // The rest may be about to end: a filter behind `>(...)`, say.
        let grace = Instant::now() + LEFTOVER_GRACE;
        while Instant::now() < grace && tree::running() > 0 {
            watch.read_output(Duration::from_millis(5))?;
            tree::reap_strays(pid);
        }
    }
    // How the command ended has to be asked before everything is reaped.
    let running = tree::end_group(pid);
    let end = seen.and_then(|seen| end_of(seen, &mut child));
    let ended = tree::end_all();
    watch.drain(DRAIN_TIME)?;
    let (captured, start_error) = watch.finish();
    let end = match start_error {
        Some(error) => End::NotStarted(error),
        None => end?,
    };
    Ok(Report {
        end,
        head: captured.head,
        left_out: captured.left_out,
        tail: captured.tail,
        killed: ended.killed.max(running),
        surviving: ended.surviving,
        trouble: String::new(),
    })
}

fn end_of(seen: Watched, child: &mut Child) -> io::Result<End> {
    Ok(match seen {
        Watched::Exited => {
            let status = child.wait()?;
            match (status.code(), status.signal()) {
                (Some(code), _) => End::Exited(code),
                (None, signal) => End::Signalled(signal.unwrap_or_default()),
            }
        }
        Watched::TimedOut => End::TimedOut,
        Watched::TooManyProcesses => End::TooManyProcesses,
        Watched::Stopped => End::Stopped,
    })
}

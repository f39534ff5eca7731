//! Watches over one command: its time, its output, and that nothing of it is left. Must not run in the
//! embedder's process: it becomes the parent of whatever the command leaves behind.

use std::fs::DirBuilder;
use std::io::{BufRead as _, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::head_tail::HeadTail;
use super::spec::{CONFINE, Ended, HELPER, Spec};
use super::sweep;

/// Time between the request to end and the end.
const GRACE: Duration = Duration::from_millis(500);
/// How long output may still come after everything is dead.
const DRAIN: Duration = Duration::from_millis(500);
/// Where programs are looked for.
pub(crate) const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What the supervisor hears of.
enum News {
    Exited(std::io::Result<ExitStatus>),
    HostGone,
}

pub(super) fn main() -> ExitCode {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).map_err(|error| error.to_string());
    let spec = read.and_then(|_| serde_json::from_str::<Spec>(&line).map_err(|error| error.to_string()));
    let ended = match spec {
        Ok(spec) => supervise(&spec).unwrap_or_else(|error| Ended { error: Some(error), ..Ended::default() }),
        Err(error) => Ended { error: Some(format!("no command was told: {error}")), ..Ended::default() },
    };
    let told = serde_json::to_string(&ended).unwrap_or_default();
    let _ = writeln!(std::io::stdout(), "{told}");
    ExitCode::SUCCESS
}

fn supervise(spec: &Spec) -> Result<Ended, String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("cannot become the parent of what the command leaves: {error}"))?;
    DirBuilder::new()
        .mode(0o700)
        .create(&spec.temporary)
        .map_err(|error| format!("cannot make a temporary directory: {error}"))?;
    let ended = watch(spec);
    let _ = std::fs::remove_dir_all(&spec.temporary);
    ended
}

fn watch(spec: &Spec) -> Result<Ended, String> {
    let (mut output, writer) = std::io::pipe().map_err(|error| format!("cannot make a pipe: {error}"))?;
    let child = start(spec, writer)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (tell, news) = channel();
    wait_for(child, tell.clone());
    watch_host(tell);
    let kept = Arc::new(Mutex::new(HeadTail::new(spec.output_bytes)));
    let (drained, drain) = channel();
    let sink = kept.clone();
    std::thread::spawn(move || {
        let mut piece = [0; 16 * 1024];
        while let Ok(read) = output.read(&mut piece) {
            let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        }
        let _ = drained.send(());
    });
    let (status, timed_out) = await_end(&news, group, Duration::from_millis(spec.time_ms));
    // A command that is done may have left its last words in the pipe, and others holding it open.
    let _ = drain.recv_timeout(if timed_out { Duration::ZERO } else { Duration::from_millis(20) });
    let killed = sweep::all();
    let _ = drain.recv_timeout(DRAIN);
    let kept = std::mem::replace(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner), HeadTail::new(0));
    let (text, left_out) = kept.finish();
    let exit_code = status.and_then(|status| status.code());
    Ok(Ended { exit_code, timed_out, output: text, left_out, killed, error: None })
}

/// Starts the process that confines itself and becomes the command, in an environment made from nothing.
fn start(spec: &Spec, writer: std::io::PipeWriter) -> Result<Child, String> {
    let failed = |error: std::io::Error| format!("cannot start the helper again: {error}");
    let us = std::env::current_exe().map_err(failed)?;
    let both = writer.try_clone().map_err(failed)?;
    let mut child = Command::new(us)
        .args([HELPER, CONFINE])
        .current_dir(&spec.workspace)
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("HOME", &spec.temporary)
        .env("TMPDIR", &spec.temporary)
        .env("LANG", "C.UTF-8")
        .env("TERM", "dumb")
        .env("PAGER", "cat")
        .env("GIT_PAGER", "cat")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(both)
        .spawn()
        .map_err(failed)?;
    let told = serde_json::to_string(spec).map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take().ok_or("the helper has no input")?;
    writeln!(stdin, "{told}").map_err(failed)?;
    Ok(child)
}

fn wait_for(mut child: Child, tell: Sender<News>) {
    std::thread::spawn(move || {
        let _ = tell.send(News::Exited(child.wait()));
    });
}

/// The host holds the other end of our input for as long as it wants the command to run.
fn watch_host(tell: Sender<News>) {
    std::thread::spawn(move || {
        let mut byte = [0];
        while std::io::stdin().lock().read(&mut byte).is_ok_and(|read| read > 0) {}
        let _ = tell.send(News::HostGone);
    });
}

/// Waits for the command's end, and brings it about where its time is over or the host is gone. The second
/// value says that its time was over.
fn await_end(news: &Receiver<News>, group: Option<Pid>, time: Duration) -> (Option<ExitStatus>, bool) {
    let timed_out = match news.recv_timeout(time) {
        Ok(News::Exited(status)) => return (status.ok(), false),
        Ok(News::HostGone) => false,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => true,
    };
    for (signal, wait) in [(Signal::TERM, GRACE), (Signal::KILL, DRAIN)] {
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
        let until = Instant::now() + wait;
        while let Ok(heard) = news.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if let News::Exited(status) = heard {
                // How a killed command ended says nothing about it.
                return (status.ok().filter(|status| status.signal().is_none()), timed_out);
            }
        }
    }
    (None, timed_out)
}

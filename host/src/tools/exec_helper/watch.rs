//! Waits on everything that can happen to a running command at once: output, its end, the host's word, its
//! time. One thread, no signals. Must not end processes beyond asking the command's own group to end.

use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ChildStderr;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::capture::{Capture, Captured};
use super::live::Live;
use super::message::StartError;
use super::tree;

/// Between being asked to end and being ended.
const TERMINATE_GRACE: Duration = Duration::from_millis(500);

/// How often the processes of a command are counted.
const COUNT_EVERY: Duration = Duration::from_millis(100);

/// How often a look is taken whether counting has to come earlier.
const GLANCE_EVERY: Duration = Duration::from_millis(10);

/// Most bytes that a launcher may say on why it failed.
const STATUS_BYTES: usize = 64 * 1024;

/// Why watching stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// The command's own process ended.
    Exited,
    /// Its time was over; it was asked to end and had its grace.
    TimedOut,
    /// It had too many processes at once.
    TooManyProcesses,
    /// The host closed the control pipe.
    Stopped,
}

/// A running command and the ends of its pipes.
pub(super) struct Watch {
    command: Pid,
    process: OwnedFd,
    output: Option<PipeReader>,
    status: Option<ChildStderr>,
    said: Vec<u8>,
    capture: Capture,
    /// Where the output goes as it comes, if anywhere.
    live: Option<Live>,
    buffer: Box<[u8]>,
}

/// What a wait brought.
#[derive(Default)]
struct Happened {
    exited: bool,
    stopped: bool,
}

impl Watch {
    /// Watches `command`, of whose output `output_bytes` are kept, and all is handed on where `live` is there.
    pub(super) fn new(
        command: Pid,
        output: PipeReader,
        status: Option<ChildStderr>,
        output_bytes: usize,
        live: Option<Live>,
    ) -> io::Result<Self> {
        Ok(Self {
            command,
            process: pidfd_open(command, PidfdFlags::empty())?,
            output: Some(output),
            status,
            said: Vec::new(),
            capture: Capture::new(output_bytes),
            live,
            buffer: vec![0; 64 * 1024].into_boxed_slice(),
        })
    }

    /// Waits for whatever ends the command first. At the time limit its process group is asked to end and
    /// has a grace; whatever remains is the caller's to end.
    pub(super) fn until_it_ends(&mut self, limit: Duration, processes: u32) -> io::Result<Watched> {
        let mut deadline = Instant::now() + limit;
        let mut count_at = Instant::now() + COUNT_EVERY;
        let mut threads = tree::threads_on_machine();
        let mut asked_to_end = false;
        loop {
            let time = deadline.saturating_duration_since(Instant::now()).min(GLANCE_EVERY);
            let happened = self.wait(time)?;
            let now = Instant::now();
            if happened.stopped {
                return Ok(Watched::Stopped);
            }
            if happened.exited || (asked_to_end && now >= deadline) {
                return Ok(if asked_to_end { Watched::TimedOut } else { Watched::Exited });
            }
            if now >= deadline {
                asked_to_end = true;
                deadline = now + TERMINATE_GRACE;
                // Gone already: then the next wait says so.
                let _ = kill_process_group(self.command, Signal::TERM);
            }
            let grown = tree::threads_on_machine().zip(threads).map(|(now, then)| now.saturating_sub(then));
            if now >= count_at || grown.is_some_and(|grown| grown > u64::from(processes / 2)) {
                tree::reap_strays(self.command);
                if tree::running() > processes as usize {
                    return Ok(Watched::TooManyProcesses);
                }
                threads = tree::threads_on_machine();
                // From now on, so that counting many never takes all of the time.
                count_at = Instant::now() + COUNT_EVERY;
            }
        }
    }

    /// Takes output that comes within `time`.
    pub(super) fn read_output(&mut self, time: Duration) -> io::Result<()> {
        if let Some(output) = &self.output {
            let mut fds = [PollFd::new(output, PollFlags::IN)];
            wait_for(&mut fds, time)?;
            if fds.iter().any(|fd| !fd.revents().is_empty()) {
                self.take_output()?;
            }
        } else {
            std::thread::sleep(time);
        }
        Ok(())
    }

    /// Takes what is left in the pipes. Everything that could write to them has been ended; should
    /// something have withstood, its output is waited for no longer than `time`.
    pub(super) fn drain(&mut self, time: Duration) -> io::Result<()> {
        let deadline = Instant::now() + time;
        while self.output.is_some() && Instant::now() < deadline {
            self.read_output(deadline.saturating_duration_since(Instant::now()))?;
        }
        while self.status.is_some() && Instant::now() < deadline {
            self.take_status()?;
        }
        Ok(())
    }

    /// What was kept of the output, and what the launcher said where it failed.
    pub(super) fn finish(self) -> (Captured, Option<StartError>) {
        let error = (!self.said.is_empty()).then(|| {
            serde_json::from_slice(&self.said).unwrap_or_else(|_| {
                StartError::Failed(format!("the launcher failed: {}", String::from_utf8_lossy(&self.said)))
            })
        });
        (self.capture.finish(), error)
    }

    fn wait(&mut self, time: Duration) -> io::Result<Happened> {
        let control = io::stdin();
        let control = control.as_fd();
        let mut fds =
            vec![PollFd::from_borrowed_fd(control, PollFlags::IN), PollFd::new(&self.process, PollFlags::IN)];
        let output_at = self.output.as_ref().map(|output| {
            fds.push(PollFd::new(output, PollFlags::IN));
            fds.len() - 1
        });
        let status_at = self.status.as_ref().map(|status| {
            fds.push(PollFd::new(status, PollFlags::IN));
            fds.len() - 1
        });
        wait_for(&mut fds, time)?;
        let ready =
            |at: Option<usize>| at.and_then(|at| fds.get(at)).is_some_and(|fd| !fd.revents().is_empty());
        // The host writes nothing after the job: whatever happens here is the end of it.
        let happened = Happened { stopped: ready(Some(0)), exited: ready(Some(1)) };
        let (output, status) = (ready(output_at), ready(status_at));
        drop(fds);
        if output {
            self.take_output()?;
        }
        if status {
            self.take_status()?;
        }
        if let Some(live) = &mut self.live {
            live.flush()?;
        }
        Ok(happened)
    }

    fn take_output(&mut self) -> io::Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        match output.read(&mut self.buffer) {
            Ok(0) => self.output = None,
            Ok(read) => {
                let bytes = self.buffer.get(..read).unwrap_or_default();
                self.capture.push(bytes);
                if let Some(live) = &mut self.live {
                    live.push(bytes, false);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn take_status(&mut self) -> io::Result<()> {
        let Some(status) = &mut self.status else { return Ok(()) };
        match status.read(&mut self.buffer) {
            Ok(0) => self.status = None,
            Ok(read) => {
                let room = STATUS_BYTES.saturating_sub(self.said.len());
                self.said.extend(self.buffer.iter().take(read.min(room)));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn wait_for(fds: &mut [PollFd<'_>], time: Duration) -> io::Result<()> {
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match poll(fds, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

//! The processes below the supervisor: finds them, counts them, ends them all.
//! Must not know why. Works only in a process that is the subreaper of what it started.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, kill_process_group, wait, waitpid,
};

/// How long ending everything may take. Only a process that hangs in the kernel needs more.
const END_TIME: Duration = Duration::from_secs(5);

/// Between two looks at processes that are about to end.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Quick looks between two thorough ones.
const QUICK_LOOKS: usize = 50;

/// A process below this one.
#[derive(Clone, Copy, Debug)]
struct Process {
    pid: Pid,
    /// Its process group.
    group: Option<Pid>,
    /// True where it has ended and nobody has asked how.
    ended: bool,
}

/// What [`end_all`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// Processes that were running and were killed.
    pub(super) killed: usize,
    /// Processes that are still there.
    pub(super) surviving: usize,
}

/// Makes sure that this process can see what is below it.
///
/// # Errors
/// Where `/proc` is not there or shows other process ids than ours.
pub(super) fn check() -> io::Result<()> {
    let this = getpid().as_raw_nonzero().get();
    let seen = fs::read_link("/proc/self")?;
    if seen.to_str() == Some(&this.to_string()) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "/proc shows this process as `{}`, its id is `{this}`; mount the /proc of this process namespace",
        seen.display()
    )))
}

/// How many processes below this one are running.
pub(super) fn running() -> usize {
    below().iter().filter(|process| !process.ended).count()
}

/// Takes note of the end of processes that were handed to this one, but not of `command`.
pub(super) fn reap_strays(command: Pid) {
    for process in below().iter().filter(|process| process.ended && process.pid != command) {
        // Not a child of ours or gone already: nothing to do either way.
        let _ = waitpid(Some(process.pid), WaitOptions::NOHANG);
    }
}

/// How many threads the whole machine has: cheap to ask, so that a sudden growth is noticed early.
pub(super) fn threads_on_machine() -> Option<u64> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    load.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}

/// Kills the whole process group of `command` at once, with what its members are just starting; finding
/// processes one by one would be too slow for what starts others fast. How many were running below this one
/// before. To be called while `command` is not reaped, so that its id cannot be anybody else's.
pub(super) fn end_group(command: Pid) -> usize {
    let before = running();
    // Without a group nothing was started.
    let _ = kill_process_group(command, Signal::KILL);
    before
}

/// Kills everything below this process, whatever group or session it moved to, and waits until nothing
/// is left.
pub(super) fn end_all() -> Ended {
    let deadline = Instant::now() + END_TIME;
    let mut killed = HashSet::new();
    loop {
        let found: Vec<Process> = below().into_iter().filter(|process| !process.ended).collect();
        // A group is killed as one, with what its members are just starting. Every group but our own has
        // only processes from below, as the command leads a session of its own.
        let groups: HashSet<Pid> = found.iter().filter_map(|process| process.group).collect();
        for group in groups.into_iter().filter(|group| *group != getpgrp()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for process in found {
            // Also where the group took it along already: a process that nobody reaped can be signalled.
            if kill_process(process.pid, Signal::KILL).is_ok() {
                killed.insert(process.pid);
            }
        }
        if none_left() {
            return Ended { killed: killed.len(), surviving: 0 };
        }
        for _ in 0..QUICK_LOOKS {
            killed.extend(kill_children());
        }
        if Instant::now() > deadline {
            return Ended { killed: killed.len(), surviving: running().max(1) };
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Kills what is directly below, found by one read: quick enough for processes that start another and end
/// before a look at the whole of `/proc` is over. Finds nothing on kernels without that file.
fn kill_children() -> Vec<Pid> {
    let this = getpid().as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{this}/task/{this}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
    let mut killed = Vec::new();
    for child in children {
        if matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None))
            && kill_process(child, Signal::KILL).is_ok()
        {
            killed.push(child);
        }
    }
    killed
}

/// Reaps what has ended. True where this process has no children any more; as it is the subreaper, nothing
/// is below it then.
fn none_left() -> bool {
    loop {
        // Any child: `waitpid` without a process looks at those of our own group only.
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Every process below this one, found by following parents.
fn below() -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        // A process that is gone in the meantime has no `stat` any more.
        let stat = pid.and_then(|_| fs::read_to_string(entry.path().join("stat")).ok());
        if let (Some(pid), Some((ended, parent, group))) = (pid, stat.as_deref().and_then(fields)) {
            children.entry(parent).or_default().push(Process { pid, group: Pid::from_raw(group), ended });
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            parents.push(child.pid.as_raw_nonzero().get());
            found.push(child);
        }
    }
    found
}

/// Reads `pid (name) state parent group ...`; the name may hold anything, brackets too. Whether it has ended,
/// its parent, its group.
fn fields(stat: &str) -> Option<(bool, i32, i32)> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let ended = matches!(fields.next()?, "Z" | "X");
    Some((ended, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_cannot_pass_for_other_fields() {
        assert_eq!(fields("12 (sh) S 7 12 12 0"), Some((false, 7, 12)));
        assert_eq!(fields("12 (a) Z 1 (b) R 9 13"), Some((false, 9, 13)));
        assert_eq!(fields("12 (gone) Z 3 0 0"), Some((true, 3, 0)));
        assert_eq!(fields("nothing"), None);
    }

    #[test]
    fn the_machine_has_threads() {
        assert!(threads_on_machine().unwrap() > 0);
    }
}

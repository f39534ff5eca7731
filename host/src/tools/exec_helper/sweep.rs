//! Ends every process that is left below this one. Works because this process is the subreaper: whatever a
//! command forks, and however it detaches it, ends up as its child. Must only run in the helper.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// How long a sweep goes on at most.
const MOST: Duration = Duration::from_secs(5);

/// Kills all children until there are none. Returns how many there were.
pub(super) fn all() -> usize {
    let until = Instant::now() + MOST;
    let mut killed = 0;
    loop {
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        // Those of a killed child become ours once it is dead, so this goes on until nothing comes.
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => killed += 1,
                Ok(None) => break,
                Err(_) => return killed,
            }
        }
        if Instant::now() >= until {
            return killed;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The processes whose parent this one is.
fn children() -> Vec<Pid> {
    let us = getpid().as_raw_nonzero().get();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let of = |pid: i32| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, so the fields are counted from its end.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| of(*pid) == Some(us)).filter_map(Pid::from_raw).collect()
}

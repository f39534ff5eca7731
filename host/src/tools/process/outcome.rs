//! What a report means for the model: a finished command, or why there is none. Must not do IO.

use std::fmt::Write as _;
use std::time::Duration;

use super::Finished;
use super::time_limit::TimeLimit;
use crate::tools::ToolError;
use crate::tools::confinement::ShellMode;
use crate::tools::exec_helper::message::{End, Report, StartError};

/// What the host knows of the call beside the report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// How commands are run.
    pub(super) mode: ShellMode,
    /// The time limit of this call.
    pub(super) time: TimeLimit,
    /// The longest that a call may ask for.
    pub(super) longest: Duration,
    /// The limit on processes.
    pub(super) processes: u32,
    /// True where output can be redirected into the workspace.
    pub(super) write_workspace: bool,
    /// True where the output was handed on as it came and is not in the report.
    pub(super) live: bool,
}

/// Reads a report.
pub(super) fn outcome(report: Report, of: &Circumstances) -> Result<Finished, ToolError> {
    let note = note(&report, of);
    let output = output(&report, of.write_workspace);
    let so_far = |why: String| {
        let note = if note.is_empty() { String::new() } else { format!("\nnote: {note}") };
        if of.live {
            return format!("{why}{note}");
        }
        let output = if output.is_empty() { "(none)" } else { output.as_str() };
        format!("{why}; output until then:\n{output}{note}")
    };
    let exit_code = match report.end {
        End::Exited(code) => Some(code),
        End::Signalled(_) => None,
        End::Stopped => return Err(ToolError::Cancelled),
        End::NotStarted(StartError::NotFound(what)) => return Err(ToolError::NotFound(what)),
        End::NotStarted(StartError::Failed(why)) => {
            return Err(ToolError::Failed(format!("the command was not run: {why}")));
        }
        End::TimedOut => {
            return Err(ToolError::TimedOut(so_far(format!(
                "the command ran into its time limit of {} ms and was ended; `timeout_ms` may ask for at most {}",
                of.time.limit.as_millis(),
                of.longest.as_millis()
            ))));
        }
        End::TooManyProcesses => {
            return Err(ToolError::Failed(so_far(format!(
                "the command had more than {} processes at once and was ended; start fewer side by side",
                of.processes
            ))));
        }
    };
    Ok(Finished { exit_code, output, cut: report.left_out > 0, note })
}

/// The output, with a line of its own where something was left out.
fn output(report: &Report, write_workspace: bool) -> String {
    if report.left_out == 0 {
        return report.head.clone();
    }
    let advice = if write_workspace {
        "redirect it to a file in the workspace, or narrow it by head, tail or grep"
    } else {
        "narrow it by head, tail or grep"
    };
    let gap = if report.head.is_empty() || report.head.ends_with('\n') { "" } else { "\n" };
    format!(
        "{}{gap}[{} bytes of output left out here; to see them, {advice}]\n{}",
        report.head, report.left_out, report.tail
    )
}

/// What the model should know beside output and exit code.
fn note(report: &Report, of: &Circumstances) -> String {
    let mut notes = Vec::new();
    if let End::Signalled(signal) = report.end {
        notes.push(format!("ended by signal {signal}{}", signal_name(signal)));
    }
    if let Some(asked) = of.time.asked {
        notes.push(format!(
            "the time limit was {} ms, the most that is allowed, not {} ms",
            of.time.limit.as_millis(),
            asked.as_millis()
        ));
    }
    if matches!(report.end, End::Exited(_) | End::Signalled(_)) && report.killed > 0 {
        notes.push(format!(
            "{} left running when the command ended {} killed: nothing outlives a call",
            count(report.killed),
            if report.killed == 1 { "was" } else { "were" }
        ));
    }
    if matches!(report.end, End::Exited(code) if code != 0)
        && !of.write_workspace
        && of.mode == ShellMode::Confined
    {
        notes.push(
            "the workspace is read-only for commands of this run, since no tool that writes is allowed"
                .to_owned(),
        );
    }
    if report.surviving > 0 {
        notes.push(format!("{} could not be killed", count(report.surviving)));
    }
    if !report.trouble.is_empty() {
        notes.push(report.trouble.clone());
    }
    if of.mode == ShellMode::Unconfined {
        notes.push("ran unconfined".to_owned());
    }
    notes.iter().fold(String::new(), |mut text, note| {
        let gap = if text.is_empty() { "" } else { "; " };
        // Writing to a string does not fail.
        let _ = write!(text, "{gap}{note}");
        text
    })
}

fn count(processes: usize) -> String {
    if processes == 1 { "1 process".to_owned() } else { format!("{processes} processes") }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        6 => " (ABRT)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        15 => " (TERM)",
        24 => " (XCPU)",
        25 => " (XFSZ: a file grew over its limit)",
        31 => " (SYS: a system call that is not allowed)",
        _ => "",
    }
}

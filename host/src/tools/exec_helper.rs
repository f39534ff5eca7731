//! The helper process that runs commands: this program started again with hidden arguments, so that the
//! embedder's own process never becomes a subreaper and never runs code between fork and exec.
//! Must not be reached but through [`main`].
//!
//! ```text
//! host ─ job ─► supervisor (subreaper, time limit, output) ─ launch ─► launcher (confines itself) ─ exec ─► command
//! ```

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) mod message;

#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod filesystem;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod system_calls;
#[cfg(target_os = "linux")]
mod temporary;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod watch;

/// The first argument by which a program knows that it was started as the helper.
pub(crate) const HIDDEN: &str = "--deputy-exec-helper";

/// Supervise the job on standard input.
pub(crate) const SUPERVISE: &str = "supervise";
/// Confine this process, then become the command on standard input.
#[cfg(target_os = "linux")]
pub(crate) const LAUNCH: &str = "launch";
/// Confine this process and say what holds.
pub(crate) const PROBE: &str = "probe";
/// Say only that the helper is there.
pub(crate) const PROBE_UNCONFINED: &str = "probe-unconfined";

/// Acts as the helper where this process was started as one. A program that offers commands calls this
/// before anything else:
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     if let Some(code) = deputy::tools::exec_helper::main(std::env::args_os()) {
///         return code;
///     }
///     // The program itself.
///     ExitCode::SUCCESS
/// }
/// ```
///
/// `arguments` are those of the process, its name first. None: this process is not the helper; go on.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != HIDDEN {
        return None;
    }
    let part = arguments.next();
    Some(run(part.as_deref().and_then(std::ffi::OsStr::to_str).unwrap_or_default()))
}

#[cfg(target_os = "linux")]
fn run(part: &str) -> ExitCode {
    match part {
        SUPERVISE => supervisor::run(),
        LAUNCH => launcher::run(),
        PROBE => probe::run(true),
        PROBE_UNCONFINED => probe::run(false),
        _ => ExitCode::FAILURE,
    }
}

#[cfg(not(target_os = "linux"))]
fn run(_part: &str) -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_program_that_was_not_started_as_the_helper_goes_on() {
        assert!(main(arguments(&[])).is_none());
        assert!(main(arguments(&["deputy"])).is_none());
        assert!(main(arguments(&["deputy", "run", HIDDEN])).is_none());
        assert!(main(arguments(&[HIDDEN])).is_none());
    }

    #[test]
    fn an_unknown_part_ends_the_process() {
        assert_eq!(main(arguments(&["deputy", HIDDEN])), Some(ExitCode::FAILURE));
        assert_eq!(main(arguments(&["deputy", HIDDEN, "else"])), Some(ExitCode::FAILURE));
    }
}

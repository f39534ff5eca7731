//! The helper process that a command runs under: a supervisor that leaves nothing of it behind, and, started
//! again by the supervisor, the process that confines itself and becomes the command. A binary calls [`main`]
//! first thing, so that it can be its own helper. Must never run in the embedder's process.

mod confine;
mod head_tail;
mod seccomp;
mod spec;
mod supervise;
mod sweep;

use std::ffi::OsString;
use std::process::ExitCode;

pub(super) use spec::{Ended, HELPER, PROBE, Probed, SUPERVISE, Spec, Start};
pub(super) use supervise::SEARCH_PATH;

/// Does the helper's work where the process was started for it; none where it was not.
///
/// Call it first in `main`, with the arguments after the program's name:
///
/// ```no_run
/// # use std::process::ExitCode;
/// fn main() -> ExitCode {
///     if let Some(code) = deputy::tools::exec_helper::main(std::env::args_os().skip(1)) {
///         return code;
///     }
///     // What the program is for.
///     ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    if arguments.next()? != HELPER {
        return None;
    }
    Some(match arguments.next().as_deref().and_then(|role| role.to_str()) {
        Some(SUPERVISE) => supervise::main(),
        Some(spec::CONFINE) => confine::main(),
        Some(PROBE) => confine::probe(),
        _ => ExitCode::from(2),
    })
}

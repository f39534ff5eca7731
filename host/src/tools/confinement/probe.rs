//! Asks the helper, in a process of its own, what this machine enforces. Must not run commands.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::ShellMode;
use crate::tools::exec_helper::message::Enforced;
use crate::tools::exec_helper::{HIDDEN, PROBE, PROBE_UNCONFINED};

/// How long the helper may take to answer. It takes milliseconds.
const ANSWER_TIME: Duration = Duration::from_secs(20);

/// Longer than any answer.
const ANSWER_BYTES: u64 = 64 * 1024;

/// Why commands cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfinementUnavailable {
    /// The machine does not enforce what confinement needs.
    #[error(
        "commands cannot be confined on this machine: {missing}; use Linux 6.2 or later with Landlock and seccomp turned on, or let commands run unconfined by `--shell unconfined`"
    )]
    NotEnforced {
        /// What is missing.
        missing: String,
    },
    /// The helper did not answer as one.
    #[error(
        "`{}` cannot be used as the helper that runs commands: {problem}; name an executable that calls `exec_helper::main` first", helper.display()
    )]
    Helper {
        /// The executable that was named.
        helper: PathBuf,
        /// What went wrong.
        problem: String,
    },
    /// This very process was started as the helper and did not act as one.
    #[error(
        "this program was started as the helper that runs commands and went on without acting as one; call `exec_helper::main` first in its `main`"
    )]
    NotDispatched,
}

/// What the helper says holds.
pub(super) fn probe(helper: &Path, mode: ShellMode) -> Result<Enforced, ConfinementUnavailable> {
    // Without this a program that forgot its call to the helper would start itself for ever.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == HIDDEN) {
        return Err(ConfinementUnavailable::NotDispatched);
    }
    let part = match mode {
        ShellMode::Confined => PROBE,
        ShellMode::Unconfined => PROBE_UNCONFINED,
    };
    let answer = ask(helper, part)
        .map_err(|problem| ConfinementUnavailable::Helper { helper: helper.to_owned(), problem })?;
    answer.map_err(|missing| ConfinementUnavailable::NotEnforced { missing })
}

fn ask(helper: &Path, part: &str) -> Result<Result<Enforced, String>, String> {
    let mut child = Command::new(helper)
        .arg(HIDDEN)
        .arg(part)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let (send, receive) = mpsc::channel();
    let output = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = output.map(|output| output.take(ANSWER_BYTES).read_to_string(&mut text));
        // The other side is gone only where it waited long enough.
        let _ = send.send(read.is_some_and(|read| read.is_ok()).then_some(text));
    });
    let text = receive.recv_timeout(ANSWER_TIME);
    // It has said what it had to say, or never will.
    let _ = child.kill();
    let status = child.wait().map_err(|error| error.to_string())?;
    let text = text.map_err(|_| format!("it gave no answer within {} s", ANSWER_TIME.as_secs()))?;
    let _ = reader.join();
    let answer = text.as_deref().map(serde_json::from_str);
    let Some(Ok(answer)) = answer else {
        return Err(format!("it did not answer as the helper ({status})"));
    };
    Ok(answer)
}

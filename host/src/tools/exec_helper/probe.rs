//! Tries on itself whether this machine enforces a confinement, and says so. Must not run anything.

use std::fs;
use std::io::{self, Write};
use std::net::UdpSocket;
use std::process::ExitCode;

use super::message::{Enforced, FileAccess};
use super::{filesystem, resources, system_calls};

/// Writes one line of JSON: what is enforced, or in words why nothing is.
pub(super) fn run(confined: bool) -> ExitCode {
    let answer: Result<Enforced, String> =
        if confined { confine() } else { Ok(Enforced { landlock_abi: 0 }) };
    let Ok(mut line) = serde_json::to_vec(&answer) else { return ExitCode::FAILURE };
    line.push(b'\n');
    match io::stdout().write_all(&line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn confine() -> Result<Enforced, String> {
    let landlock_abi = filesystem::confine(&FileAccess::default(), None)?;
    resources::drop_capabilities()?;
    system_calls::confine()?;
    // Believed when seen: one thing that files and one that system calls must refuse now.
    if fs::read_dir("/").is_ok() {
        return Err("Landlock was accepted and does not hold: `/` can still be listed".to_owned());
    }
    if UdpSocket::bind("127.0.0.1:0").is_ok() {
        return Err("seccomp was accepted and does not hold: a socket could be opened".to_owned());
    }
    Ok(Enforced { landlock_abi })
}

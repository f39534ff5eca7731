//! Finds descriptors that a command would inherit beside its three streams. Must not use them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::filesystem::DEVICES;

/// The flag in `/proc/self/fdinfo` of a descriptor that a new program does not get.
const CLOSED_ON_EXEC: u32 = 0o2_000_000;

/// A descriptor that whoever started the host left open for its children, if there is one.
///
/// The host's own close by themselves; one that a foreign library or a parent process left open could be a
/// socket, a file or a terminal, and a command with it would not be confined. Let through is what gives
/// nothing away: pipes, which build tools hand down to share work, and devices that hold nothing.
pub(super) fn inherited() -> io::Result<Option<(u32, PathBuf)>> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let link = format!("/proc/self/fd/{number}");
        // The one that reads this very list is gone by now or closed on exec.
        if let (3.., Ok(target), Ok(info)) =
            (number, fs::read_link(&link), fs::read_to_string(format!("/proc/self/fdinfo/{number}")))
            && !is_closed_on_exec(&info)
            && !is_harmless(&target)
        {
            return Ok(Some((number, target)));
        }
    }
    Ok(None)
}

fn is_closed_on_exec(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSED_ON_EXEC != 0)
}

fn is_harmless(target: &Path) -> bool {
    target.as_os_str().as_encoded_bytes().starts_with(b"pipe:[")
        || DEVICES.iter().any(|device| target == Path::new(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_read_from_what_the_kernel_writes() {
        assert!(is_closed_on_exec("pos:\t0\nflags:\t02100000\nmnt_id:\t1\n"));
        assert!(!is_closed_on_exec("pos:\t0\nflags:\t0100000\nmnt_id:\t1\n"));
        assert!(!is_closed_on_exec(""), "what cannot be read counts as inherited");
    }

    #[test]
    fn only_nameless_pipes_and_empty_devices_are_harmless() {
        for harmless in ["pipe:[123]", "/dev/null", "/dev/urandom"] {
            assert!(is_harmless(Path::new(harmless)), "{harmless}");
        }
        for other in [
            "socket:[123]",
            "/dev/pts/1",
            "/dev/tty",
            "/dev/null/x",
            "/tmp/pipe:[1]",
            "/",
            "anon_inode:[io_uring]",
        ] {
            assert!(!is_harmless(Path::new(other)), "{other}");
        }
    }
}

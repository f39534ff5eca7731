//! Reads one small regular file without ever waiting for what is none. Must not leave its directory or interpret.

use std::fs::{File, Metadata, OpenOptions, canonicalize, symlink_metadata};
use std::io::Read;
use std::path::Path;

/// Most bytes of a declaration file.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// The bytes of the file at `path`, which lies in `root` (canonical).
///
/// # Errors
/// What is wrong with it, for a refusal.
pub(super) fn bytes(root: &Path, path: &Path) -> Result<Vec<u8>, String> {
    at_most(MOST_BYTES, root, path)
}

/// The same, of at most `most` bytes.
///
/// # Errors
/// What is wrong with it, for a refusal.
pub(super) fn at_most(most: u64, root: &Path, path: &Path) -> Result<Vec<u8>, String> {
    let file = regular(root, path)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > most {
        return Err(format!(
            "expected a file of at most {} KiB, found a larger one: shorten it, or move what is no agent elsewhere",
            most / 1024
        ));
    }
    Ok(bytes)
}

/// Opens the regular file at `path`; a link may lead to another file of `root`, not out of it.
///
/// # Errors
/// What it is instead.
pub(super) fn regular(root: &Path, path: &Path) -> Result<File, String> {
    let linked =
        symlink_metadata(path).map_err(|error| format!("cannot be looked at: {error}"))?.is_symlink();
    let target = canonicalize(path).map_err(|error| match linked {
        true => format!("a link that leads nowhere ({error}): remove it, or put the file in its place"),
        false => format!("cannot be looked at: {error}"),
    })?;
    if !target.starts_with(root) {
        return Err(format!(
            "a link that leads out of its directory, to {}: put the file itself here",
            target.display()
        ));
    }
    // Looked at before opening, since opening a device can already do something, and once more on the open file,
    // since the name may stand for another one by then.
    let before = target.metadata().map_err(|error| format!("cannot be looked at: {error}"))?;
    is_regular(&before)?;
    let file = without_waiting().open(&target).map_err(|error| format!("cannot be opened: {error}"))?;
    let opened = file.metadata().map_err(|error| format!("cannot be looked at: {error}"))?;
    is_regular(&opened)?;
    Ok(file)
}

fn is_regular(metadata: &Metadata) -> Result<(), String> {
    match metadata {
        regular if regular.is_file() => Ok(()),
        directory if directory.is_dir() => Err("expected a file, found a directory: rename it".to_owned()),
        _ => Err("expected a regular file, found a pipe, socket or device: remove it".to_owned()),
    }
}

/// Opening a pipe would wait for a writer; this does not.
#[cfg(unix)]
fn without_waiting() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;

    /// `O_NONBLOCK`, which std does not name.
    const NON_BLOCKING: i32 =
        if cfg!(any(target_os = "linux", target_os = "android")) { 0o4000 } else { 0x4 };
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(NON_BLOCKING);
    options
}

/// Here no file makes its opener wait.
#[cfg(not(unix))]
fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

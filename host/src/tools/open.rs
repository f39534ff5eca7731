//! Opens and reads regular files of the workspace without ever waiting for what is none.
//! Must not interpret what it reads.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::{Dir, FileType, FileTypeExt, Metadata, MetadataExt, OpenOptions};

use super::blocking::going_on;
use super::path::{io_error, openable, shown};
use super::{CallContext, ToolError};

/// What tells one file or directory from another, whatever its name: device and inode.
pub(super) type Identity = (u64, u64);

/// Device and inode.
pub(super) fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

/// What was read of a file.
#[derive(Debug)]
pub(super) struct Content {
    /// The bytes, from the start.
    pub(super) bytes: Vec<u8>,
    /// False where the file goes on after them.
    pub(super) whole: bool,
    /// What the file said its size was when it was opened.
    pub(super) size: u64,
}

/// Opens the regular file at `path` below `dir`; messages name it `name`.
///
/// # Errors
/// Where it is not there, is no regular file, or leads out of `dir`.
pub(super) fn open_regular(dir: &Dir, path: &Path, name: &Path) -> Result<(File, Metadata), ToolError> {
    let path = openable(path);
    // Looked at before opening, since opening a device can already do something; and once more on the open
    // file, since the name may stand for another one by then. A pipe is opened without waiting.
    let before = dir.metadata(path).map_err(|error| io_error("open", name, &error))?;
    regular(&before, name)?;
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true);
    let file = dir.open_with(path, &options).map_err(|error| io_error("open", name, &error))?;
    let metadata = file.metadata().map_err(|error| io_error("open", name, &error))?;
    regular(&metadata, name)?;
    Ok((file.into_std(), metadata))
}

/// Refuses what is no regular file.
///
/// # Errors
/// [`ToolError::Failed`] that says what it is.
pub(super) fn regular(metadata: &Metadata, name: &Path) -> Result<(), ToolError> {
    if metadata.is_file() {
        return Ok(());
    }
    let name = shown(openable(name));
    Err(ToolError::Failed(if metadata.is_dir() {
        format!("`{name}` is a directory, not a file; list_files shows what is in it")
    } else {
        format!(
            "`{name}` is {}; only regular files can be read and written",
            kind_in_words(metadata.file_type())
        )
    }))
}

fn kind_in_words(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "no regular file"
    }
}

/// Reads the file at `path` below `dir`, at most the context's `file_bytes`.
///
/// # Errors
/// As [`open_regular`], and [`ToolError::Cancelled`].
pub(super) fn read_regular(
    context: &CallContext,
    dir: &Dir,
    path: &Path,
    name: &Path,
) -> Result<Content, ToolError> {
    let (file, metadata) = open_regular(dir, path, name)?;
    read_capped(context, file, metadata.len(), name)
}

/// Reads an open file from where it stands, at most the context's `file_bytes`. Goes by what comes, not by
/// the size that the file claims: that is 0 for generated files, and more than there is for growing ones.
fn read_capped(context: &CallContext, file: impl Read, size: u64, name: &Path) -> Result<Content, ToolError> {
    const CHUNK: u64 = 1024 * 1024;
    let cap = context.limits.file_bytes;
    let mut bytes = Vec::new();
    let mut file = file.take(cap.saturating_add(1));
    loop {
        going_on(context)?;
        match file.by_ref().take(CHUNK).read_to_end(&mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_error("read", name, &error)),
        }
    }
    let keep = usize::try_from(cap).unwrap_or(usize::MAX);
    let whole = bytes.len() <= keep;
    bytes.truncate(keep);
    Ok(Content { bytes, whole, size })
}

#[cfg(test)]
mod tests;

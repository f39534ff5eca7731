//! Replaces a file's content in one step: readers see the old content or the new, a failure leaves the old.
//! Must not decide what is written.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use cap_std::fs::MetadataExt;
use cap_tempfile::TempFile;
use rustix::fs::{FlockOperation, Mode, OFlags};

use super::blocking::going_on;
use super::open::{Content, identity, read_regular};
use super::path::io_error;
use super::target::{Target, identity_of};
use super::{CallContext, ToolError};

/// How long a write waits for another one in the same directory.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// Held while a file of a directory is read and replaced, by every writer that is a Deputy tool, in this
/// process or another. Ends when dropped.
#[derive(Debug)]
pub(super) struct WriteTurn {
    _directory: OwnedFd,
}

impl Target {
    /// Waits for its turn to write in the directory.
    ///
    /// # Errors
    /// [`ToolError::Cancelled`]; [`ToolError::TimedOut`] where somebody else holds it too long.
    pub(super) fn turn(&self, context: &CallContext) -> Result<WriteTurn, ToolError> {
        let failed = |error: rustix::io::Errno| self.failed(&error.into());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&self.parent, ".", flags, Mode::empty()).map_err(failed)?;
        let started = Instant::now();
        loop {
            going_on(context)?;
            match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(ToolError::TimedOut(format!(
                        "another program keeps the directory of `{}` locked; nothing was written, try again",
                        self.asked.shown()
                    )));
                }
                // A file system without locks: the comparison before the replacement is what is left.
                Ok(()) | Err(_) => return Ok(WriteTurn { _directory: directory }),
            }
        }
    }

    /// The content now, none where there is no file.
    ///
    /// # Errors
    /// As [`read_regular`].
    pub(super) fn read(&self, context: &CallContext) -> Result<Option<Content>, ToolError> {
        match read_regular(context, &self.parent, Path::new(&self.name), self.asked.as_path()) {
            Ok(content) => Ok(Some(content)),
            Err(ToolError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts `bytes` in the file's place, permissions kept. With `expected`, only where the content is still
    /// that.
    ///
    /// # Errors
    /// Where something went wrong, changed meanwhile, or was cancelled; the old content then stands.
    pub(super) fn replace(
        &self,
        context: &CallContext,
        bytes: &[u8],
        expected: Option<&[u8]>,
    ) -> Result<(), ToolError> {
        let failed = |error: io::Error| self.failed(&error);
        if let Some(existing) = &self.existing
            && existing.mode() & 0o222 == 0
        {
            let name = self.asked.shown();
            return Err(ToolError::Failed(format!(
                "`{name}` is read-only by its permissions; nothing was written"
            )));
        }
        let mut file = TempFile::new(&self.parent).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        if let Some(existing) = &self.existing {
            file.as_file().set_permissions(existing.permissions()).map_err(failed)?;
        }
        // A full disk may show only here; the old content must still stand then.
        file.as_file().sync_all().map_err(failed)?;

        if let Some(expected) = expected
            && self.read(context)?.is_none_or(|now| now.bytes != expected)
        {
            return Err(self.changed("its content"));
        }
        let root = context.workspace.root();
        let parent = self.parent.dir_metadata().map_err(failed)?;
        if identity_of(root, &self.parent_path) != Some(identity(&parent)) {
            return Err(self.changed("its directory"));
        }
        going_on(context)?;
        file.replace(&self.name).map_err(failed)
    }

    /// Other names of the same file, which keep the old content when it is replaced.
    pub(super) fn other_names(&self) -> u64 {
        self.existing.as_ref().map_or(0, |existing| existing.nlink().saturating_sub(1))
    }

    fn changed(&self, what: &str) -> ToolError {
        ToolError::Failed(format!(
            "`{}` was not written: {what} changed in the meantime; read it again and repeat the change on what is there now",
            self.asked.shown()
        ))
    }

    fn failed(&self, error: &io::Error) -> ToolError {
        io_error("write", self.asked.as_path(), error)
    }
}

#[cfg(test)]
mod tests;

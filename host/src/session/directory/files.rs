//! The files of a private directory: read with a bound, replaced in one step, removed. Never waits for what is no
//! regular file and follows no link. Must not know what the files hold.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;

use super::super::error::SessionError;

/// How the name of a session's file ends, after 64 hexadecimal digits.
pub(super) const SUFFIX: &str = ".json";
/// How the name of a file that is being written ends.
const UNFINISHED: &str = ".tmp";
/// Most bytes of a file.
pub(super) const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// How old an unfinished file is before nobody is writing it any more.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// An open directory that only its owner can enter.
#[derive(Debug)]
pub(super) struct Files {
    directory: File,
    path: PathBuf,
}

impl Files {
    /// Opens `path`, and makes it where it is not there.
    ///
    /// # Errors
    /// [`SessionError::Directory`].
    pub(super) fn open(path: &Path) -> Result<Self, SessionError> {
        let refused = |message: String| SessionError::Directory { path: path.to_owned(), message };
        let failed =
            |error: io::Error| refused(format!("{error}; name a directory that can be made or used"));
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(refused("expected a directory, found a link; name the directory itself".into()));
            }
            opened => File::from(opened.map_err(|error| failed(error.into()))?),
        };
        let metadata = directory.metadata().map_err(failed)?;
        let (owner, us) = (metadata.uid(), rustix::process::geteuid().as_raw());
        if owner != us {
            return Err(refused(format!(
                "expected a directory of user {us}, found one of user {owner}; name a directory of your own"
            )));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(refused(format!(
                "expected that only its owner can enter it (mode 700), found mode {:o}; run `chmod 700` on it or name another one",
                metadata.mode() & 0o777
            )));
        }
        let files = Self { directory, path: path.to_owned() };
        files.clear_unfinished(SystemTime::now())?;
        Ok(files)
    }

    /// Where the directory was when it was opened: for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The names that sessions' files have, in their order. What else is in the directory is not ours.
    ///
    /// # Errors
    /// [`SessionError::Io`].
    pub(super) fn names(&self) -> Result<Vec<String>, SessionError> {
        let mut names = self.entries()?;
        names.retain(|name| {
            name.strip_suffix(SUFFIX).is_some_and(|digits| {
                digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            })
        });
        names.sort();
        Ok(names)
    }

    fn entries(&self) -> Result<Vec<String>, SessionError> {
        let failed = |error: Errno| SessionError::Io {
            path: self.path.clone(),
            message: format!("could not read the directory: {}", io::Error::from(error)),
        };
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.directory).map_err(failed)? {
            if let Ok(name) = entry.map_err(failed)?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// What the file holds, `None` where there is none.
    ///
    /// # Errors
    /// [`SessionError::Damaged`] where it is no regular file, [`SessionError::TooLarge`], [`SessionError::Io`].
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SessionError> {
        let failed = |error: io::Error| self.failed(name, "read it", &error);
        // Looked at before opening, since opening a device can already do something; and once more on the open
        // file, since the name may stand for another one by then. A pipe is opened without waiting.
        match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            found => self.regular(name, found.map_err(|error| failed(error.into()))?.st_mode)?,
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.directory, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(self.irregular(name, "a link")),
            opened => File::from(opened.map_err(|error| failed(error.into()))?),
        };
        let found = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
        self.regular(name, found.st_mode)?;
        let size = u64::try_from(found.st_size).unwrap_or(u64::MAX);
        self.within_bounds(name, size)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // The size is what it was: what comes is what counts.
        file.take(MOST_BYTES.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        self.within_bounds(name, u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
        Ok(Some(bytes))
    }

    /// Puts `bytes` in the file's place, on the disk when this returns.
    ///
    /// # Errors
    /// [`SessionError::TooLarge`], or [`SessionError::Io`]; unless the system only refused to confirm the new
    /// name, what was there stands.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), SessionError> {
        self.within_bounds(name, u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
        let unfinished = format!("{name}.{}{UNFINISHED}", uuid::Uuid::now_v7().simple());
        let written = self
            .write(&unfinished, bytes)
            .and_then(|()| Ok(rustix::fs::renameat(&self.directory, &unfinished, &self.directory, name)?));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&self.directory, &unfinished, AtFlags::empty());
        }
        written
            .and_then(|()| self.directory.sync_all())
            .map_err(|error| self.failed(name, "write it", &error))
    }

    /// A new file with `bytes`, on the disk when this returns.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.directory, name, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Removes the file, or the link, pipe or empty directory in its place. False where there is none.
    ///
    /// # Errors
    /// [`SessionError::Io`].
    pub(super) fn remove(&self, name: &str) -> Result<bool, SessionError> {
        let failed = |error: io::Error| self.failed(name, "remove it", &error);
        let removed = match rustix::fs::unlinkat(&self.directory, name, AtFlags::empty()) {
            // A directory, in the words of Linux and of others.
            Err(Errno::ISDIR | Errno::PERM) => {
                rustix::fs::unlinkat(&self.directory, name, AtFlags::REMOVEDIR)
            }
            removed => removed,
        };
        match removed {
            Err(Errno::NOENT) => return Ok(false),
            removed => removed.map_err(|error| failed(error.into()))?,
        }
        self.directory.sync_all().map_err(failed)?;
        Ok(true)
    }

    /// Removes what writers left half written, where they must have broken off long before `now`.
    fn clear_unfinished(&self, now: SystemTime) -> Result<(), SessionError> {
        for name in self.entries()? {
            if name.ends_with(UNFINISHED) && name.contains(SUFFIX) && self.age(&name, now) > Some(ABANDONED) {
                let _ = rustix::fs::unlinkat(&self.directory, &name, AtFlags::empty());
            }
        }
        Ok(())
    }

    /// How long ago the file was written.
    fn age(&self, name: &str, now: SystemTime) -> Option<Duration> {
        let found = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let written = Duration::from_secs(u64::try_from(found.st_mtime).ok()?);
        now.duration_since(SystemTime::UNIX_EPOCH).ok()?.checked_sub(written)
    }

    fn within_bounds(&self, name: &str, bytes: u64) -> Result<(), SessionError> {
        if bytes <= MOST_BYTES {
            return Ok(());
        }
        Err(SessionError::TooLarge { path: self.path.join(name), bytes, most: MOST_BYTES })
    }

    fn regular(&self, name: &str, mode: RawMode) -> Result<(), SessionError> {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(self.irregular(name, "a directory")),
            FileType::Symlink => Err(self.irregular(name, "a link")),
            FileType::Fifo => Err(self.irregular(name, "a pipe")),
            _ => Err(self.irregular(name, "a device or a socket")),
        }
    }

    fn irregular(&self, name: &str, found: &str) -> SessionError {
        let message = format!("expected a regular file, found {found}");
        SessionError::Damaged { path: self.path.join(name), byte: 0, message }
    }

    fn failed(&self, name: &str, what: &str, error: &io::Error) -> SessionError {
        SessionError::Io { path: self.path.join(name), message: format!("could not {what}: {error}") }
    }
}

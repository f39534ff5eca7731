//! The directory and the file of a store: whose they are, what kind, what mode. Must not run SQL.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::{OpenError, schema};

const FILE: &str = "tasks.db";

/// The start of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Makes directory and file where there are none, checks those that are there, and answers
/// the absolute path of a file that may be given to SQLite.
pub(super) async fn prepare(dir: PathBuf) -> Result<PathBuf, OpenError> {
    let dir = blocking(dir, |dir| directory(&dir)).await?;
    let file = dir.join(FILE);
    if blocking(file.clone(), |file| exists(&file)).await? {
        blocking(file.clone(), |file| examine(&file)).await?;
        return Ok(file);
    }
    let draft = dir.join(format!("{FILE}.new-{}", uuid::Uuid::now_v7()));
    blocking(draft.clone(), |draft| reserve(&draft)).await?;
    let written = schema::write_new(&draft).await;
    let published = match written {
        Ok(()) => blocking(draft.clone(), |draft| publish(&draft)).await,
        Err(fault) => Err(fault),
    };
    // Nothing of value is in the draft, and its name is nobody else's.
    let _ = fs::remove_file(&draft);
    published?;
    blocking(file.clone(), |file| examine(&file)).await?;
    Ok(file)
}

async fn blocking<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(PathBuf) -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let at = path.clone();
    match tokio::task::spawn_blocking(move || work(path)).await {
        Ok(outcome) => outcome,
        Err(fault) => Err(OpenError::io("look at", &at)(io::Error::other(fault))),
    }
}

/// The directory, real and private; made with 0700 where there is none.
fn directory(dir: &Path) -> Result<PathBuf, OpenError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Err(fault) if fault.kind() != ErrorKind::AlreadyExists => {
            return Err(OpenError::io("make the directory", dir)(fault));
        }
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(dir).map_err(OpenError::io("look at", dir))?;
    if !found.is_dir() {
        return Err(wrong_kind(dir, &found, "a directory"));
    }
    owned(dir, &found)?;
    let mode = found.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(OpenError::OpenToOthers { path: dir.to_owned(), mode });
    }
    let ignore = dir.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&ignore) {
        Ok(mut file) => file.write_all(b"*\n").map_err(OpenError::io("write", &ignore))?,
        Err(fault) if fault.kind() == ErrorKind::AlreadyExists => {}
        Err(fault) => return Err(OpenError::io("write", &ignore)(fault)),
    }
    // An absolute path is never taken for a `file:` URI by SQLite.
    fs::canonicalize(dir).map_err(OpenError::io("resolve", dir))
}

fn exists(file: &Path) -> Result<bool, OpenError> {
    match fs::symlink_metadata(file) {
        Ok(_) => Ok(true),
        Err(fault) if fault.kind() == ErrorKind::NotFound => Ok(false),
        Err(fault) => Err(OpenError::io("look at", file)(fault)),
    }
}

/// An empty file that only its owner may read, for SQLite to fill.
fn reserve(draft: &Path) -> Result<(), OpenError> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft);
    made.map(drop).map_err(OpenError::io("create", draft))
}

/// Gives a finished draft its name in one step, unless another process was first.
fn publish(draft: &Path) -> Result<(), OpenError> {
    let file = draft.with_file_name(FILE);
    File::open(draft).and_then(|draft| draft.sync_all()).map_err(OpenError::io("sync", draft))?;
    match fs::hard_link(draft, &file) {
        Err(fault) if fault.kind() != ErrorKind::AlreadyExists => {
            return Err(OpenError::io("create", &file)(fault));
        }
        Ok(()) | Err(_) => {}
    }
    fs::remove_file(draft).map_err(OpenError::io("remove", draft))?;
    let dir = draft.parent().unwrap_or(Path::new("/"));
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(OpenError::io("sync", dir))
}

/// Refuses what is not this user's own, regular, sound-looking store of this program.
fn examine(file: &Path) -> Result<(), OpenError> {
    for side in ["-wal", "-shm", "-journal"] {
        let path = file.with_file_name(format!("{FILE}{side}"));
        match fs::symlink_metadata(&path) {
            Ok(found) => regular(&path, &found)?,
            Err(fault) if fault.kind() == ErrorKind::NotFound => {}
            Err(fault) => return Err(OpenError::io("look at", &path)(fault)),
        }
    }
    let found = fs::symlink_metadata(file).map_err(OpenError::io("look at", file))?;
    regular(file, &found)?;
    // Not followed and not waited for, should it have been swapped since.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags, Mode::empty())
        .map_err(|fault| OpenError::io("open", file)(fault.into()))?;
    let opened = File::from(opened);
    let found = opened.metadata().map_err(OpenError::io("look at", file))?;
    regular(file, &found)?;
    if found.len() == 0 {
        return Err(OpenError::Empty { path: file.to_owned() });
    }
    header(file, &opened)?;
    if found.mode() & 0o077 != 0 {
        opened.set_permissions(Permissions::from_mode(0o600)).map_err(OpenError::io("chmod", file))?;
    }
    Ok(())
}

/// Reads the one hundred bytes that say whose database it is, before SQLite sees the file.
fn header(file: &Path, mut opened: &File) -> Result<(), OpenError> {
    let not_a_database = || OpenError::NotADatabase { path: file.to_owned() };
    let mut magic = [0; 16];
    let mut rest = [0; 52];
    let mut application = [0; 4];
    for part in [&mut magic[..], &mut rest[..], &mut application[..]] {
        opened.read_exact(part).map_err(|fault| match fault.kind() {
            ErrorKind::UnexpectedEof => not_a_database(),
            _ => OpenError::io("read", file)(fault),
        })?;
    }
    if magic != *MAGIC {
        return Err(not_a_database());
    }
    let found = u32::from_be_bytes(application);
    if found != schema::APPLICATION_ID {
        return Err(OpenError::Foreign { path: file.to_owned(), found });
    }
    Ok(())
}

fn regular(path: &Path, found: &Metadata) -> Result<(), OpenError> {
    if !found.is_file() {
        return Err(wrong_kind(path, found, "a regular file"));
    }
    owned(path, found)
}

fn owned(path: &Path, found: &Metadata) -> Result<(), OpenError> {
    let (owner, user) = (found.uid(), rustix::process::geteuid().as_raw());
    if owner != user {
        return Err(OpenError::WrongOwner { path: path.to_owned(), owner, user });
    }
    Ok(())
}

fn wrong_kind(path: &Path, found: &Metadata, wanted: &'static str) -> OpenError {
    let kind = found.file_type();
    let found = match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a directory",
        () if kind.is_file() => "a regular file",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    OpenError::WrongKind { path: path.to_owned(), found, wanted }
}

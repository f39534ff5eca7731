//! One line of the trust list: a hash, two spaces, a directory. Must not open anything.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use deputy::sandbox::sha256;

use crate::config::{File, NAME};

/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// What no configuration begins with, so that none has the hash of an agent file.
const DECLARATION: &[u8] = b"\xff agent file\n";

/// A workspace and the hash of something that is trusted there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// SHA-256 in hexadecimal, of its `deputy.toml` or over an agent file.
    pub(crate) hash: String,
    /// Its canonical path.
    pub(crate) directory: PathBuf,
}

impl Entry {
    /// What a file would be trusted as.
    pub(crate) fn of(file: &File) -> anyhow::Result<Self> {
        let directory = file.directory();
        let is_named_so = file.path().file_name().is_some_and(|name| name == NAME);
        if !directory.is_absolute() || !is_named_so {
            bail!("{} cannot be trusted: only a workspace's own file can", file.path().display());
        }
        Self::new(sha256(file.bytes()), directory)
    }

    /// An entry of this hash in a workspace, given by its canonical path.
    pub(crate) fn new(hash: String, directory: &Path) -> anyhow::Result<Self> {
        if directory.as_os_str().as_bytes().contains(&b'\n') {
            bail!("{} cannot be trusted: its path has a line break", directory.display());
        }
        Ok(Self { hash, directory: directory.to_owned() })
    }

    /// What a line without its break says.
    pub(super) fn from_line(line: &[u8]) -> Option<Self> {
        let (hash, rest) = line.split_at_checked(DIGITS)?;
        let hash = std::str::from_utf8(hash).ok()?;
        let directory = PathBuf::from(OsString::from_vec(rest.strip_prefix(b"  ")?.to_vec()));
        let plain = hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (plain && directory.is_absolute()).then(|| Self { hash: hash.to_owned(), directory })
    }

    /// The line with its break.
    pub(super) fn line(&self) -> Vec<u8> {
        [self.hash.as_bytes(), b"  ", self.directory.as_os_str().as_bytes(), b"\n"].concat()
    }
}

/// The hash over an agent file, where it is, and the component that runs it: none of them changes alone.
pub(crate) fn hash_of_declaration(path: &Path, text: &str, component: Option<(&Path, &str)>) -> String {
    let mut bytes = DECLARATION.to_vec();
    let (component, code) = component.unwrap_or((Path::new(""), ""));
    for part in
        [path.as_os_str().as_bytes(), text.as_bytes(), component.as_os_str().as_bytes(), code.as_bytes()]
    {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    sha256(&bytes)
}

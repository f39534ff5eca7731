//! The list of what is trusted in workspaces: their `deputy.toml` and agent files. Bound to what a file holds: a changed
//! file is no longer trusted. Must not read the files itself, so that nothing else can be parsed than what was checked.

mod entry;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use rustix::fs::{FlockOperation, OFlags};

use crate::config::File;
pub(crate) use entry::{Entry, hash_of_declaration};

/// Most bytes of the list that are read.
const MOST: u64 = 1024 * 1024;

/// The list, in a file of the state directory.
#[derive(Clone, Debug)]
pub(crate) struct TrustList {
    state: PathBuf,
}

impl TrustList {
    /// The list that is kept in a private directory.
    pub(crate) fn kept_in(state: PathBuf) -> Self {
        Self { state }
    }

    /// Whether the file counts whole: its directory is on the list with exactly these bytes.
    pub(crate) fn is_trusted(&self, file: &File) -> anyhow::Result<bool> {
        match Entry::of(file) {
            Ok(wanted) if !self.lies_in(file.directory()) => Ok(self.list()?.contains(&wanted)),
            _ => Ok(false),
        }
    }

    /// The hashes of what is trusted in a workspace, given by its canonical path.
    pub(crate) fn hashes(&self, workspace: &Path) -> anyhow::Result<BTreeSet<String>> {
        if self.lies_in(workspace) {
            return Ok(BTreeSet::new());
        }
        let there = self.list()?.into_iter().filter(|entry| entry.directory == workspace);
        Ok(there.map(|entry| entry.hash).collect())
    }

    /// Trusts these, which are all of one workspace, and nothing that was trusted there before.
    pub(crate) fn trust(&self, workspace: &Path, trusted: &[Entry]) -> anyhow::Result<()> {
        if self.lies_in(workspace) {
            bail!(
                "{} holds the list of what is trusted: a run there could trust itself",
                workspace.display()
            );
        }
        self.change(|entries| {
            entries.retain(|one| one.directory != workspace);
            entries.extend(trusted.iter().cloned());
        })
    }

    /// Takes a directory off the list, also one that is gone; whether it was on it.
    pub(crate) fn revoke(&self, directory: &Path) -> anyhow::Result<bool> {
        let absolute = directory.canonicalize().or_else(|_| std::path::absolute(directory));
        let absolute = absolute.with_context(|| format!("cannot find {}", directory.display()))?;
        let mut was_on_it = false;
        self.change(|entries| {
            let before = entries.len();
            entries.retain(|one| one.directory != absolute);
            was_on_it = entries.len() != before;
        })?;
        Ok(was_on_it)
    }

    /// What is trusted, in the order of its trusting.
    pub(crate) fn list(&self) -> anyhow::Result<Vec<Entry>> {
        let path = self.file();
        let bytes = self.read().with_context(|| format!("cannot read {}", path.display()))?;
        let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let entries = lines.map(|(number, line)| {
            Entry::from_line(line).ok_or_else(|| {
                anyhow!(
                    "{}:{}: expected a SHA-256 in hexadecimal, two spaces and a full path: remove the line",
                    path.display(),
                    number + 1
                )
            })
        });
        entries.collect()
    }

    fn file(&self) -> PathBuf {
        self.state.join("trusted")
    }

    /// Whether a run in the workspace could write the list.
    fn lies_in(&self, workspace: &Path) -> bool {
        self.state.canonicalize().unwrap_or_else(|_| self.state.clone()).starts_with(workspace)
    }

    /// The bytes of the list, none where there is no list yet.
    fn read(&self) -> io::Result<Vec<u8>> {
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
        let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(self.file()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let meta = file.metadata()?;
        let ours = meta.uid() == rustix::process::geteuid().as_raw();
        if !meta.is_file() || !ours || meta.mode() & 0o022 != 0 {
            return Err(io::Error::other("it is not a plain file that only its owner, you, can write"));
        }
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Changes the list while nobody else does, and all at once for those who read it.
    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> anyhow::Result<()> {
        let place = || format!("cannot write {}", self.file().display());
        let directory = fs::File::open(&self.state).with_context(place)?;
        rustix::fs::flock(&directory, FlockOperation::LockExclusive).with_context(place)?;
        let mut entries = self.list()?;
        change(&mut entries);
        let lines: Vec<u8> = entries.iter().flat_map(Entry::line).collect();
        if lines.len() as u64 > MOST {
            bail!(
                "{} would be longer than {MOST} bytes: revoke what you no longer need",
                self.file().display()
            );
        }
        self.replace(&lines, &directory).with_context(place)
    }

    fn replace(&self, bytes: &[u8], directory: &fs::File) -> io::Result<()> {
        let fresh = self.state.join("trusted.new");
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&fresh, self.file())?;
        directory.sync_all()
    }
}

#[cfg(test)]
mod tests;

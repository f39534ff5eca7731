//! Where worktrees of a workspace lie, and what is written down of each beside it, out of its reach. Must not call git.

use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::WorktreeError;
use super::lock::{Held, try_lock};

/// Longest part of an id that comes from the name.
const NAME_CAP: usize = 32;
/// Tries for an id that is free.
const TRIES: usize = 16;

/// `.deputy/worktrees` of a workspace.
#[derive(Debug, Clone)]
pub(super) struct Store {
    workspace: PathBuf,
    root: PathBuf,
}

/// What is known of one worktree: `base`, the commit that it began with; `ready`, written last, the tree to compare
/// with; `in-use`, locked by the host that works in it; `git`, the sealed git directory.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The id.
    pub(super) id: String,
    /// The checkout.
    pub(super) path: PathBuf,
    /// The directory of what is known of it.
    pub(super) state: PathBuf,
}

impl Store {
    /// That of `workspace`; nothing is made yet.
    pub(super) fn of(workspace: &Path) -> Self {
        Self { workspace: workspace.to_owned(), root: workspace.join(".deputy").join("worktrees") }
    }

    /// Makes the directories, hidden from git. None may be a link: it would lead out of the workspace.
    pub(super) fn make(&self) -> Result<(), WorktreeError> {
        let deputy = self.workspace.join(".deputy");
        for directory in [&deputy, &self.root, &self.states()] {
            make_directory(directory)?;
        }
        hide(&deputy)?;
        hide(&self.root)
    }

    /// Claims an id that nobody has, made of `name`, and its state directory.
    pub(super) fn claim(&self, name: &str) -> Result<Entry, WorktreeError> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let entry = self.entry_at(format!("{}-{:08x}", cleaned(name), random()));
            if entry.path.symlink_metadata().is_ok() {
                continue;
            }
            match fs::create_dir(&entry.state) {
                Ok(()) => return Ok(entry),
                Err(error) => last = error,
            }
        }
        Err(WorktreeError::io("make a directory in", &self.states())(last))
    }

    /// The one called `id`.
    pub(super) fn entry(&self, id: &str) -> Result<Entry, WorktreeError> {
        let plain = id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        let known = || self.is_ours() && self.entry_at(id.to_owned()).state.is_dir();
        if plain && !id.is_empty() && known() {
            return Ok(self.entry_at(id.to_owned()));
        }
        Err(WorktreeError::Unknown { id: id.to_owned() })
    }

    /// All of them, sorted by id.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, WorktreeError> {
        let states = self.states();
        if !self.is_ours() {
            return Ok(Vec::new());
        }
        let listed = fs::read_dir(&states).map_err(WorktreeError::io("list", &states))?;
        let names = listed.filter_map(|it| it.ok()?.file_name().into_string().ok());
        let mut entries: Vec<Entry> = names.filter_map(|id| self.entry(&id).ok()).collect();
        entries.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(entries)
    }

    /// True where each directory on the way is there and is no link.
    fn is_ours(&self) -> bool {
        let deputy = self.workspace.join(".deputy");
        [&deputy, &self.root, &self.states()].into_iter().all(|it| is_directory(it))
    }

    fn states(&self) -> PathBuf {
        self.root.join(".state")
    }

    fn entry_at(&self, id: String) -> Entry {
        Entry { path: self.root.join(&id), state: self.states().join(&id), id }
    }
}

impl Entry {
    /// Its branch.
    pub(super) fn branch(&self) -> String {
        format!("deputy/{}", self.id)
    }

    /// The commit that it began with; `None` where it was not written.
    pub(super) fn base(&self) -> Option<String> {
        self.read("base")
    }

    /// The tree to compare with; `None` where its making never ended.
    pub(super) fn ready(&self) -> Option<String> {
        self.read("ready")
    }

    /// Writes down the commit that it begins with.
    pub(super) fn write_base(&self, commit: &str) -> Result<(), WorktreeError> {
        self.write("base", commit)
    }

    /// Writes down that it is made, and the tree to compare with.
    pub(super) fn write_ready(&self, tree: &str) -> Result<(), WorktreeError> {
        self.write("ready", tree)
    }

    /// Writes down that it is being removed.
    pub(super) fn unmake(&self) -> Result<(), WorktreeError> {
        let path = self.state.join("ready");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(WorktreeError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Marks it as in use until the lock is dropped; `None` where it is in use by another.
    pub(super) fn use_it(&self) -> Result<Option<Held>, WorktreeError> {
        let path = self.state.join("in-use");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        Ok(try_lock(opened.map_err(WorktreeError::io("open", &path))?, &path)?.ok())
    }

    /// True where its checkout is a directory and no link.
    pub(super) fn has_checkout(&self) -> bool {
        is_directory(&self.path)
    }

    fn read(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.state.join(name)).ok()?;
        text.strip_suffix('\n').map(str::to_owned)
    }

    /// Whole or not at all: what has no line end yet does not count.
    fn write(&self, name: &str, text: &str) -> Result<(), WorktreeError> {
        let path = self.state.join(name);
        let write = || -> io::Result<()> {
            let mut file = File::create(&path)?;
            file.write_all(format!("{text}\n").as_bytes())?;
            file.sync_all()
        };
        write().map_err(WorktreeError::io("write", &path))
    }
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_dir())
}

fn make_directory(path: &Path) -> Result<(), WorktreeError> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(WorktreeError::io("make", path)(error))
        }
        _ if !is_directory(path) => Err(WorktreeError::NotADirectory { path: path.to_owned() }),
        _ => Ok(()),
    }
}

/// Makes git ignore all that is in `directory`; one that has rules already keeps them.
fn hide(directory: &Path) -> Result<(), WorktreeError> {
    let path = directory.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(b"*\n").map_err(WorktreeError::io("write", &path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(WorktreeError::io("write", &path)(error)),
    }
}

/// `name` in small letters, digits and single dashes.
fn cleaned(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars().map(|it| it.to_ascii_lowercase()) {
        match letter {
            'a'..='z' | '0'..='9' => text.push(letter),
            _ if !text.is_empty() && !text.ends_with('-') => text.push('-'),
            _ => {}
        }
        if text.len() >= NAME_CAP {
            break;
        }
    }
    let text = text.trim_end_matches('-');
    if text.is_empty() { "worktree".to_owned() } else { text.to_owned() }
}

/// A number that others are unlikely to draw: each `RandomState` has keys of its own.
fn random() -> u32 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u128(std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos());
    (hasher.finish() >> 32) as u32
}

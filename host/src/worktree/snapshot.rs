//! What is in a worktree's directory right now, compared with what it began with. Nothing is written but a scratch
//! directory of ours: neither the repository nor the worktree. Must not believe the worktree's `.git` or its index,
//! which its subagent can write.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::diff::{ChangeKind, ChangedFile};
use super::error::WorktreeError;
use super::git::GitCall;
use super::parse::{lossy, parts, summary, text};
use super::sealed::SealedGit;
use super::store::Entry;

/// The files of a worktree, as they were when it was taken.
#[derive(Debug)]
pub(super) struct Snapshot {
    sealed: SealedGit,
    work_tree: PathBuf,
    scratch: Scratch,
    /// What it began with, as git names a tree.
    base: String,
    /// What is named and not compared.
    named: Vec<ChangedFile>,
}

impl Snapshot {
    /// Looks at all files of `entry`. Those that the base has and git would now ignore are compared too.
    pub(super) async fn take(sealed: SealedGit, entry: &Entry) -> Result<Self, WorktreeError> {
        let broken =
            |reason| WorktreeError::Broken { id: entry.id.clone(), path: entry.path.clone(), reason };
        if !entry.has_checkout() {
            return Err(broken("its directory is gone"));
        }
        let commit = entry.base().ok_or_else(|| broken("its base commit was never written down"))?;
        let made = entry.ready();
        let scratch = Scratch::new(&entry.state)?;
        let mut snapshot = Self {
            sealed,
            work_tree: entry.path.clone(),
            scratch,
            base: made.clone().unwrap_or_else(|| format!("{commit}^{{tree}}")),
            named: Vec::new(),
        };
        if made.is_some() {
            snapshot.scratch.copy_index(&snapshot.sealed.index())?;
        } else {
            let base = snapshot.base.clone();
            snapshot.call("read the base commit").arguments(&["read-tree"]).argument(base).succeed().await?;
        }
        let embedded = snapshot.name_what_is_not_compared().await?;
        snapshot.add_all(&embedded).await?;
        Ok(snapshot)
    }

    /// Every file that differs.
    pub(super) async fn files(&self) -> Result<Vec<ChangedFile>, WorktreeError> {
        let call = self.call("compare with the base commit");
        let listed = call
            .arguments(&["diff-index", "--cached", "--raw", "--numstat", "-z", "-M"])
            .arguments(&["--no-ext-diff", "--no-textconv", "--end-of-options"])
            .argument(&self.base)
            .argument("--")
            .succeed()
            .await?;
        let mut files = summary(&listed);
        files.extend(self.named.iter().cloned());
        Ok(files)
    }

    /// The changes as text of at most `cap` bytes, and whether there was more.
    pub(super) async fn text(&self, cap: usize) -> Result<(String, bool), WorktreeError> {
        let call = self.call("write the diff").capped_at(cap);
        let output = call
            .arguments(&["diff-index", "--cached", "-p", "-M", "--no-color"])
            .arguments(&["--no-ext-diff", "--no-textconv", "--end-of-options"])
            .argument(&self.base)
            .argument("--")
            .succeed_or_cut()
            .await?;
        Ok((text(&output.stdout, output.cut), output.cut))
    }

    /// A file with the whole changes, binary ones too, for `git apply`. It lives as long as this snapshot.
    pub(super) async fn patch(&self) -> Result<PathBuf, WorktreeError> {
        let path = self.scratch.0.join("patch");
        let mut output = std::ffi::OsString::from("--output=");
        output.push(&path);
        self.call("write the patch")
            .arguments(&["diff-index", "--cached", "--binary", "--full-index", "--no-renames", "--no-color"])
            .arguments(&["--no-ext-diff", "--no-textconv"])
            .argument(output)
            .argument("--end-of-options")
            .argument(&self.base)
            .argument("--")
            .succeed()
            .await?;
        Ok(path)
    }

    /// Notes what git ignores, and repositories in the worktree, and gives the paths of the latter.
    async fn name_what_is_not_compared(&mut self) -> Result<Vec<Vec<u8>>, WorktreeError> {
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let untracked = self.call("list new files").arguments(&others).succeed().await?;
        // Git does not look into a repository in the worktree, and names it with a slash at its end.
        let embedded: Vec<Vec<u8>> =
            parts(&untracked).filter(|path| path.ends_with(b"/")).map(<[u8]>::to_vec).collect();
        let call = self.call("list ignored files").arguments(&others);
        let ignored = call.arguments(&["--ignored", "--directory"]).succeed().await?;
        let ignored = parts(&ignored).map(|path| ChangedFile::named(lossy(path), ChangeKind::Ignored));
        self.named.extend(ignored);
        let named =
            embedded.iter().map(|path| ChangedFile::named(lossy(path), ChangeKind::EmbeddedRepository));
        self.named.extend(named);
        Ok(embedded)
    }

    /// Brings the scratch index to the state of the files, without those in `embedded` repositories.
    async fn add_all(&self, embedded: &[Vec<u8>]) -> Result<(), WorktreeError> {
        let mut paths = b".\0".to_vec();
        for path in embedded {
            paths.extend(b":(exclude,literal)");
            paths.extend(path.strip_suffix(b"/").unwrap_or(path));
            paths.push(0);
        }
        let call = self.call("read the files").arguments(&["add", "--all", "--pathspec-file-nul"]);
        let call = call.argument("--pathspec-from-file=-").input(self.scratch.file_of(&paths)?);
        call.succeed().await?;
        Ok(())
    }

    fn call(&self, what: &'static str) -> GitCall {
        self.sealed.scratch_call(what, &self.work_tree, &self.scratch.0)
    }
}

/// A directory that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// A new one in `parent`, with an `objects` directory in it.
    pub(super) fn new(parent: &Path) -> Result<Self, WorktreeError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("scratch-{}-{number}", std::process::id()));
        // One of a host that died, whose process number came again.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(WorktreeError::io("make", &path))?;
        let scratch = Self(path);
        let objects = scratch.0.join("objects");
        fs::create_dir(&objects).map_err(WorktreeError::io("make", &objects))?;
        Ok(scratch)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Copies an index into it with its time: git tells by that which files it must look at closely.
    pub(super) fn copy_index(&self, from: &Path) -> Result<(), WorktreeError> {
        let to = self.0.join("index");
        let copy = || -> std::io::Result<()> {
            let time = fs::metadata(from)?.modified()?;
            fs::copy(from, &to)?;
            File::options().write(true).open(&to)?.set_modified(time)
        };
        copy().map_err(WorktreeError::io("copy", from))
    }

    /// A file of it that holds `bytes`, open for reading.
    pub(super) fn file_of(&self, bytes: &[u8]) -> Result<File, WorktreeError> {
        let path = self.0.join("input");
        let made = fs::write(&path, bytes).and_then(|()| File::open(&path));
        made.map_err(WorktreeError::io("write", &path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind goes with the worktree.
        let _ = fs::remove_dir_all(&self.0);
    }
}

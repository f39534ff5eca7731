//! What the tests share: a real repository in a directory of its own. Must not test anything itself.

mod applying;
mod changes;
mod hostile;
mod making;
mod processes;
mod removing;
mod unusable;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{Condition, Diff, Finished, Worktree, Worktrees};

const CAP: usize = 64 * 1024;

/// A repository with one commit: `a.txt`, `dir/b.txt`, and `.gitignore` with `*.log` in it.
struct Fixture {
    directory: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let fixture = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(fixture.root()).unwrap();
        git(&fixture.root(), &["init", "-q", "-b", "main"]);
        fixture.write("a.txt", "one\ntwo\nthree\n");
        fixture.write("dir/b.txt", "b\n");
        fixture.write(".gitignore", "*.log\n");
        fixture.commit();
        fixture
    }

    fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("repository")
    }

    /// Beside the repository.
    fn outside(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.root().join(path), text);
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    fn commit(&self) {
        commit(&self.root());
    }

    /// What git says of the workspace: nothing where it is clean.
    fn status(&self) -> String {
        git(&self.root(), &["status", "--porcelain"])
    }

    async fn open(&self) -> Worktrees {
        Worktrees::open(&self.root()).await.unwrap()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn commit(directory: &Path) {
    git(directory, &["add", "-A"]);
    git(directory, &["commit", "-q", "--allow-empty", "-m", "commit"]);
}

fn plain_git(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=test", "-c", "user.email=test@localhost"]).args(arguments);
    command.current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command
}

/// Git as anybody would run it.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = plain_git(directory, arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn names(diff: &Diff) -> Vec<&str> {
    diff.files.iter().map(|file| file.path.as_str()).collect()
}

async fn only_condition(worktrees: &Worktrees) -> Condition {
    let states = worktrees.list().await.unwrap();
    assert_eq!(states.len(), 1, "{states:?}");
    states[0].state
}

/// Ends the use of `worktree`, which must have work in it, and gives its id and its diff.
async fn kept(worktrees: &Worktrees, worktree: Worktree) -> (String, Diff) {
    match worktrees.finish(worktree, CAP).await.unwrap() {
        Finished::Kept { id, diff, .. } => (id, diff),
        Finished::Removed => panic!("expected it to be kept"),
    }
}

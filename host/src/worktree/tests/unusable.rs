//! Workspaces that no worktree can be made of: each says what it is.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::super::program::find_git;
use super::super::{WorktreeError, Worktrees};
use super::{Fixture, git};

#[tokio::test]
async fn no_repository() {
    let directory = tempfile::tempdir().unwrap();
    let error = Worktrees::open(directory.path()).await.unwrap_err();
    assert!(matches!(error, WorktreeError::NotARepository { .. }), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn within_a_git_directory() {
    let fixture = Fixture::new();
    let error = Worktrees::open(&fixture.root().join(".git/refs")).await.unwrap_err();
    assert!(matches!(error, WorktreeError::NotARepository { .. }), "{error}");
}

#[tokio::test]
async fn a_bare_repository() {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "-q", "--bare"]);
    let error = Worktrees::open(directory.path()).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Bare { .. }), "{error}");
}

#[tokio::test]
async fn a_repository_without_a_commit() {
    let directory = tempfile::tempdir().unwrap();
    git(directory.path(), &["init", "-q"]);
    let error = Worktrees::open(directory.path()).await.unwrap().create("x").await.unwrap_err();
    assert!(matches!(error, WorktreeError::NoCommit { .. }), "{error}");
    assert!(!directory.path().join(".deputy").exists());
}

#[tokio::test]
async fn a_repository_that_claims_another_directory() {
    let fixture = Fixture::new();
    for claimed in [fixture.outside(), "/".into()] {
        git(&fixture.root(), &["config", "core.worktree", claimed.to_str().unwrap()]);
        let error = Worktrees::open(&fixture.root()).await.unwrap_err();
        assert!(matches!(error, WorktreeError::Refused { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there() {
    let error = Worktrees::open("/nonexistent/workspace".as_ref()).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Io { .. }), "{error}");
}

#[tokio::test]
async fn a_creation_that_fails_leaves_nothing() {
    let fixture = Fixture::new();
    // Git cannot make a branch below another branch.
    git(&fixture.root(), &["branch", "deputy"]);
    let worktrees = fixture.open().await;
    let error = worktrees.create("x").await.unwrap_err();
    assert!(matches!(error, WorktreeError::Git { .. }), "{error}");
    assert_eq!(worktrees.list().await.unwrap(), []);
    assert_eq!(git(&fixture.root(), &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn git_is_looked_for_in_absolute_directories_outside_the_workspace() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for place in ["workspace/bin", "good"] {
        fs::create_dir_all(root.join(place)).unwrap();
        let program = root.join(place).join("git");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (workspace, bad, good) = (root.join("workspace"), root.join("workspace/bin"), root.join("good"));
    let search = |parts: &[&std::path::Path]| -> OsString { std::env::join_paths(parts).unwrap() };
    let found = find_git(&search(&["".as_ref(), ".".as_ref(), "bin".as_ref(), &bad, &good]), &workspace);
    assert_eq!(found.unwrap(), good.join("git"));
    let none = find_git(&search(&[".".as_ref(), &bad]), &workspace);
    assert!(matches!(none, Err(WorktreeError::GitMissing)));
}

//! Bringing changes into the workspace: all or nothing, and nowhere else.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::WorktreeError;
use super::{Fixture, git, kept, write};

#[tokio::test]
async fn changes_arrive_and_nothing_is_staged() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("a.txt"), "one\n2\nthree\n");
    fs::write(made.path.join("data.bin"), [0, 1, 2, 255]).unwrap();
    fs::remove_file(made.path.join("dir/b.txt")).unwrap();
    write(&made.path.join("run.log"), "ignored\n");
    let (id, _) = kept(&worktrees, made).await;
    fixture.write("other.txt", "the operator's own\n");
    let applied = worktrees.apply(&id).await.unwrap();
    assert_eq!((applied.files.len(), applied.left_out.len()), (3, 1));
    assert_eq!(fixture.read("a.txt"), "one\n2\nthree\n");
    assert_eq!(fs::read(fixture.root().join("data.bin")).unwrap(), [0, 1, 2, 255]);
    assert!(!fixture.root().join("dir/b.txt").exists());
    assert!(!fixture.root().join("run.log").exists());
    assert_eq!(git(&fixture.root(), &["diff", "--cached", "--name-only"]), "");
    // It stays until it is discarded.
    worktrees.diff(&id, super::CAP).await.unwrap();
}

#[tokio::test]
async fn a_conflict_names_the_files_and_leaves_the_workspace_alone() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("a.txt"), "one\n2\nthree\n");
    write(&made.path.join("dir/b.txt"), "fits\n");
    write(&made.path.join("taken: here.txt"), "theirs\n");
    let (id, _) = kept(&worktrees, made).await;
    fixture.write("a.txt", "one\nzwei\nthree\n");
    fixture.write("taken: here.txt", "mine\n");
    let before = fixture.status();
    let Err(WorktreeError::Conflict { files, .. }) = worktrees.apply(&id).await else {
        panic!("expected a conflict")
    };
    assert_eq!(files, ["a.txt", "taken: here.txt"]);
    assert_eq!(fixture.read("a.txt"), "one\nzwei\nthree\n");
    assert_eq!(fixture.read("dir/b.txt"), "b\n");
    assert_eq!(fixture.read("taken: here.txt"), "mine\n");
    assert_eq!(fixture.status(), before);
}

#[tokio::test]
async fn a_link_in_the_workspace_is_not_followed() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("dir/new.txt"), "new\n");
    write(&made.path.join("fresh/new.txt"), "new\n");
    let (id, _) = kept(&worktrees, made).await;
    let target = fixture.outside().join("target");
    write(&target.join("b.txt"), "b\n");
    fs::remove_dir_all(fixture.root().join("dir")).unwrap();
    symlink(&target, fixture.root().join("dir")).unwrap();
    symlink(&target, fixture.root().join("fresh")).unwrap();
    let error = worktrees.apply(&id).await.unwrap_err();
    assert!(
        matches!(&error, WorktreeError::Conflict { detail, .. } if detail.contains("beyond a symbolic link"))
    );
    assert_eq!(fs::read_dir(&target).unwrap().count(), 1);
}

#[tokio::test]
async fn a_link_of_the_worktree_is_not_written_through() {
    let fixture = Fixture::new();
    let target = fixture.outside().join("target");
    fs::create_dir(&target).unwrap();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    symlink(&target, made.path.join("out")).unwrap();
    write(&made.path.join("out/new.txt"), "new\n");
    let (id, diff) = kept(&worktrees, made).await;
    assert_eq!(super::names(&diff), ["out"]);
    fs::remove_file(target.join("new.txt")).unwrap();
    worktrees.apply(&id).await.unwrap();
    assert!(fixture.root().join("out").is_symlink());
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
}

#[tokio::test]
async fn one_in_use_is_refused() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("new.txt"), "new\n");
    assert!(matches!(worktrees.apply(&made.id).await, Err(WorktreeError::InUse { .. })));
    assert!(!fixture.root().join("new.txt").exists());
}

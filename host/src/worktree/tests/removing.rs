//! What is removed, when, and what never is.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::WorktreeError;
use super::{CAP, Condition, Finished, Fixture, git, kept, only_condition, write};

#[tokio::test]
async fn an_untouched_one_is_removed_with_its_branch() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    let path = made.path.clone();
    assert_eq!(worktrees.finish(made, CAP).await.unwrap(), Finished::Removed);
    assert!(!path.exists());
    assert_eq!(git(&fixture.root(), &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(worktrees.list().await.unwrap(), []);
}

#[tokio::test]
async fn one_with_work_stays_until_it_is_discarded() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("new.txt"), "new\n");
    let path = made.path.clone();
    let (id, _) = kept(&worktrees, made).await;
    let again = fixture.open().await;
    assert_eq!(only_condition(&again).await, Condition::HasWork);
    assert!(path.join("new.txt").exists());
    again.discard(&id).await.unwrap();
    assert!(!path.exists());
    assert_eq!(git(&fixture.root(), &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(git(&fixture.root(), &["worktree", "list"]).lines().count(), 1);
    assert!(matches!(again.discard(&id).await, Err(WorktreeError::Unknown { .. })));
}

#[tokio::test]
async fn one_in_use_is_not_discarded() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    let other = fixture.open().await;
    assert!(matches!(other.discard(&made.id).await, Err(WorktreeError::InUse { .. })));
    assert!(made.path.join("a.txt").exists());
}

#[tokio::test]
async fn removal_removes_links_and_not_what_they_lead_to() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    let keep = fixture.outside().join("keep");
    write(&keep.join("file.txt"), "keep\n");
    symlink(&keep, made.path.join("link")).unwrap();
    let (id, _) = kept(&worktrees, made).await;
    worktrees.discard(&id).await.unwrap();
    assert_eq!(fs::read_to_string(keep.join("file.txt")).unwrap(), "keep\n");
}

#[tokio::test]
async fn one_that_cannot_be_compared_is_kept_and_named() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join(".gitattributes"), "x working-tree-encoding=nonsense\n");
    write(&made.path.join("x"), "work\n");
    let (id, path, expected) = (made.id.clone(), made.path.clone(), made.branch.clone());
    match worktrees.finish(made, CAP).await {
        Err(WorktreeError::Unread { path: named, branch, .. }) => {
            assert_eq!((named, branch), (path.clone(), expected));
        }
        other => panic!("expected it to be unread, got {other:?}"),
    }
    assert_eq!(fs::read_to_string(path.join("x")).unwrap(), "work\n");
    assert_eq!(only_condition(&worktrees).await, Condition::Broken);
    worktrees.discard(&id).await.unwrap();
}

#[tokio::test]
async fn one_half_made_is_swept_where_it_holds_nothing() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let half = worktrees.create("half").await.unwrap();
    let (id, path) = (half.id.clone(), half.path.clone());
    drop(half);
    fs::remove_file(fixture.root().join(".deputy/worktrees/.state").join(&id).join("ready")).unwrap();
    fs::remove_file(path.join("a.txt")).unwrap();
    // One that was killed before anything was written.
    fs::create_dir(fixture.root().join(".deputy/worktrees/.state/early-1")).unwrap();
    let states = worktrees.list().await.unwrap();
    assert!(states.len() == 2 && states.iter().all(|one| one.state == Condition::Broken), "{states:?}");
    let made = worktrees.create("x").await.unwrap();
    assert!(!path.exists());
    let ids: Vec<_> = worktrees.list().await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, [made.id]);
    assert_eq!(git(&fixture.root(), &["branch", "--list", "deputy/half*"]), "");
}

#[tokio::test]
async fn one_half_made_is_kept_where_it_holds_more_than_its_commit() {
    for (file, text) in [("mine.txt", "work\n"), ("a.txt", "edited\n"), ("x.log", "ignored\n")] {
        let fixture = Fixture::new();
        let worktrees = fixture.open().await;
        let half = worktrees.create("half").await.unwrap();
        let (id, path) = (half.id.clone(), half.path.clone());
        drop(half);
        fs::remove_file(fixture.root().join(".deputy/worktrees/.state").join(&id).join("ready")).unwrap();
        write(&path.join(file), text);
        drop(worktrees.create("x").await.unwrap());
        assert_eq!(fs::read_to_string(path.join(file)).unwrap(), text);
        assert!(matches!(worktrees.apply(&id).await, Err(WorktreeError::Broken { .. })));
        worktrees.discard(&id).await.unwrap();
        assert!(!path.exists());
    }
}

#[tokio::test]
async fn one_that_a_person_removed_by_hand_is_broken_and_can_be_discarded() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    let id = made.id.clone();
    git(&fixture.root(), &["worktree", "remove", made.path.to_str().unwrap()]);
    drop(made);
    assert_eq!(only_condition(&worktrees).await, Condition::Broken);
    worktrees.discard(&id).await.unwrap();
    assert_eq!(worktrees.list().await.unwrap(), []);
}

#[tokio::test]
async fn an_id_is_no_path() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    drop(worktrees.create("x").await.unwrap());
    for id in ["", ".", "..", ".state", "../../dir", "/", "a/b", "-x", "x\0"] {
        assert!(matches!(worktrees.discard(id).await, Err(WorktreeError::Unknown { .. })), "{id:?}");
    }
    assert!(fixture.root().join("dir/b.txt").exists());
}

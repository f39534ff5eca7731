//! Making a worktree: what it starts from, what lies where. Must not test its diff.

use std::fs;

use tokio::task::JoinSet;

use super::super::WorktreeError;
use super::{Condition, Fixture, commit, git, only_condition, write};

#[tokio::test]
async fn starts_from_what_is_checked_out_and_hides_from_git() {
    let fixture = Fixture::new();
    git(&fixture.root(), &["checkout", "-q", "-b", "feature"]);
    fixture.write("feature.txt", "f\n");
    fixture.commit();
    let worktrees = fixture.open().await;
    let made = worktrees.create("Fix the Bug!/../x").await.unwrap();
    assert!(made.id.starts_with("fix-the-bug-x-"), "{}", made.id);
    assert_eq!(made.branch, format!("deputy/{}", made.id));
    assert_eq!(made.path, fixture.root().join(".deputy/worktrees").join(&made.id));
    assert_eq!(made.working_directory, made.path);
    assert_eq!(made.base_commit, git(&fixture.root(), &["rev-parse", "HEAD"]));
    assert_eq!(made.note, None);
    assert_eq!(fs::read_to_string(made.path.join("feature.txt")).unwrap(), "f\n");
    assert_eq!(git(&made.path, &["status", "--porcelain"]), "");
    assert_eq!(git(&made.path, &["branch", "--show-current"]), made.branch);
    assert_eq!(fixture.status(), "");
    assert_eq!(only_condition(&worktrees).await, Condition::InUse);
}

#[tokio::test]
async fn starts_from_a_detached_head() {
    let fixture = Fixture::new();
    let first = git(&fixture.root(), &["rev-parse", "HEAD"]);
    fixture.write("a.txt", "later\n");
    fixture.commit();
    git(&fixture.root(), &["checkout", "-q", "--detach", &first]);
    let made = fixture.open().await.create("x").await.unwrap();
    assert_eq!(made.base_commit, first);
}

#[tokio::test]
async fn a_dirty_workspace_is_counted_and_not_copied() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "changed\n");
    fixture.write("new.txt", "new\n");
    let made = fixture.open().await.create("x").await.unwrap();
    assert!(made.note.unwrap().starts_with("2 uncommitted changes"));
    assert_eq!(fs::read_to_string(made.path.join("a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!made.path.join("new.txt").exists());
}

#[tokio::test]
async fn a_subdirectory_as_workspace_works_in_the_same_subdirectory() {
    let fixture = Fixture::new();
    let workspace = fixture.root().join("dir");
    let worktrees = super::Worktrees::open(&workspace).await.unwrap();
    let made = worktrees.create("x").await.unwrap();
    assert_eq!(made.path, workspace.join(".deputy/worktrees").join(&made.id));
    assert_eq!(made.working_directory, made.path.join("dir"));
    write(&made.working_directory.join("new.txt"), "n\n");
    let (id, _) = super::kept(&worktrees, made).await;
    worktrees.apply(&id).await.unwrap();
    assert_eq!(fixture.read("dir/new.txt"), "n\n");
}

#[tokio::test]
async fn a_linked_worktree_as_workspace_gets_worktrees_of_its_own_commit() {
    let fixture = Fixture::new();
    let linked = fixture.outside().join("linked");
    git(&fixture.root(), &["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    write(&linked.join("other.txt"), "o\n");
    commit(&linked);
    let worktrees = super::Worktrees::open(&linked).await.unwrap();
    let (first, second) = tokio::join!(worktrees.create("x"), worktrees.create("x"));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.path.starts_with(&linked) && first.path.join("other.txt").exists());
    write(&first.path.join("mine.txt"), "m\n");
    assert!(!second.path.join("mine.txt").exists());
    let (id, _) = super::kept(&worktrees, first).await;
    worktrees.apply(&id).await.unwrap();
    assert!(linked.join("mine.txt").exists());
    assert!(!fixture.root().join("mine.txt").exists());
}

#[tokio::test]
async fn submodules_stay_empty() {
    let fixture = Fixture::new();
    let other = Fixture::new();
    let url = other.root();
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url.to_str().unwrap(), "sub"];
    git(&fixture.root(), &add);
    fixture.commit();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    assert_eq!(fs::read_dir(made.path.join("sub")).unwrap().count(), 0);
    write(&made.path.join("a.txt"), "changed\n");
    let diff = worktrees.diff(&made.id, super::CAP).await.unwrap();
    assert_eq!(super::names(&diff), ["a.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_at_once_succeed() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let worktrees = worktrees.clone();
        tasks.spawn(async move { worktrees.create("same name").await });
    }
    let made: Vec<_> = tasks.join_all().await.into_iter().map(Result::unwrap).collect();
    for one in &made {
        assert!(one.path.join("a.txt").exists());
        assert_eq!(one.note, None);
    }
    assert_eq!(worktrees.list().await.unwrap().len(), 8);
    for one in made {
        assert_eq!(worktrees.finish(one, super::CAP).await.unwrap(), super::Finished::Removed);
    }
    assert_eq!(worktrees.list().await.unwrap(), []);
    assert_eq!(git(&fixture.root(), &["branch", "--list", "deputy/*"]), "");
    assert_eq!(git(&fixture.root(), &["worktree", "list"]).lines().count(), 1);
}

#[tokio::test]
async fn a_link_in_place_of_the_directory_is_refused() {
    for place in [".deputy", ".deputy/worktrees"] {
        let fixture = Fixture::new();
        let elsewhere = fixture.outside().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let link = fixture.root().join(place);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let error = fixture.open().await.create("x").await.unwrap_err();
        assert!(matches!(error, WorktreeError::NotADirectory { path } if path == link));
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}

//! What a diff holds. Must not test what is done with it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::super::{ChangeKind, ChangedFile};
use super::{CAP, Fixture, commit, git, kept, names, write};

fn changed(path: &str, kind: ChangeKind, added: u64, removed: u64) -> ChangedFile {
    ChangedFile { path: path.to_owned(), kind, binary: false, added, removed }
}

#[tokio::test]
async fn tracked_new_removed_and_renamed_files_are_told_apart() {
    let fixture = Fixture::new();
    fixture.write("long.txt", &"line\n".repeat(50));
    fixture.write("gone.txt", "gone\n");
    fixture.commit();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("a.txt"), "one\n2\nthree\n");
    write(&made.path.join("new/deep.txt"), "new\n");
    fs::remove_file(made.path.join("gone.txt")).unwrap();
    fs::rename(made.path.join("long.txt"), made.path.join("moved.txt")).unwrap();
    let diff = worktrees.diff(&made.id, CAP).await.unwrap();
    let renamed = ChangeKind::Renamed { from: "long.txt".to_owned() };
    assert_eq!(
        diff.files,
        [
            changed("a.txt", ChangeKind::Modified, 1, 1),
            changed("gone.txt", ChangeKind::Deleted, 0, 1),
            changed("moved.txt", renamed, 0, 0),
            changed("new/deep.txt", ChangeKind::Added, 1, 0),
        ]
    );
    assert!(diff.text.contains("-two\n+2\n"), "{}", diff.text);
    assert!(!diff.cut && !diff.committed);
    // The repository is as it was: no index, no object of ours.
    assert_eq!(git(&made.path, &["diff", "--cached", "--name-only"]), "");
}

#[tokio::test]
async fn what_was_committed_and_what_came_after_are_both_in_it() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("committed.txt"), "c\n");
    commit(&made.path);
    write(&made.path.join("after.txt"), "a\n");
    let (_, diff) = kept(&worktrees, made).await;
    assert_eq!(names(&diff), ["after.txt", "committed.txt"]);
    assert!(diff.committed);
}

#[tokio::test]
async fn a_commit_that_changes_nothing_is_work() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    commit(&made.path);
    let (_, diff) = kept(&worktrees, made).await;
    assert!(diff.files.is_empty() && diff.committed && !diff.is_empty());
}

#[tokio::test]
async fn a_binary_file_is_named_and_not_dumped() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    fs::write(made.path.join("data.bin"), [0, 1, 2, 255]).unwrap();
    let diff = worktrees.diff(&made.id, CAP).await.unwrap();
    assert!(diff.files[0].binary);
    assert!(diff.text.contains("Binary files /dev/null and b/data.bin differ"), "{}", diff.text);
}

#[tokio::test]
async fn a_huge_diff_is_cut_at_a_line_and_names_every_file() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("huge.txt"), &"a line of text\n".repeat(400_000));
    write(&made.path.join("last.txt"), "z\n");
    let diff = worktrees.diff(&made.id, 1000).await.unwrap();
    assert!(diff.cut && diff.text.len() <= 1000 && diff.text.ends_with('\n'));
    assert_eq!(names(&diff), ["huge.txt", "last.txt"]);
    assert_eq!(diff.files[0].added, 400_000);
    let none = worktrees.diff(&made.id, 0).await.unwrap();
    assert!(none.cut && none.text.is_empty());
}

#[tokio::test]
async fn odd_file_names_come_through_and_apply() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    let odd =
        ["-n", "--help", " space ", "new\nline", "quo\"te", "tab\t", ":(top)x", "ünï", "back\\slash", "*"];
    for name in odd {
        write(&made.path.join(name), "x\n");
    }
    fs::write(made.path.join(OsStr::from_bytes(b"bad\xff")), "x\n").unwrap();
    let (id, diff) = kept(&worktrees, made).await;
    let mut found = names(&diff);
    found.sort_unstable();
    let mut expected: Vec<&str> = odd.into_iter().chain(["bad\u{fffd}"]).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(diff.files.iter().all(|file| file.kind == ChangeKind::Added && file.added == 1), "{diff:?}");
    worktrees.apply(&id).await.unwrap();
    for name in odd {
        assert_eq!(fixture.read(name), "x\n", "{name:?}");
    }
    assert!(fixture.root().join(OsStr::from_bytes(b"bad\xff")).exists());
}

#[tokio::test]
async fn ignored_files_and_embedded_repositories_are_named_as_work() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    write(&made.path.join("build.log"), "log\n");
    for (name, commits) in [("with", true), ("without", false)] {
        let embedded = made.path.join(name);
        fs::create_dir(&embedded).unwrap();
        git(&embedded, &["init", "-q"]);
        write(&embedded.join("file.txt"), "f\n");
        if commits {
            commit(&embedded);
        }
    }
    let (_, diff) = kept(&worktrees, made).await;
    let expected = [
        changed("build.log", ChangeKind::Ignored, 0, 0),
        changed("with/", ChangeKind::EmbeddedRepository, 0, 0),
        changed("without/", ChangeKind::EmbeddedRepository, 0, 0),
    ];
    assert_eq!(diff.files, expected);
}

#[tokio::test]
async fn an_index_that_hides_changes_is_not_believed() {
    let fixture = Fixture::new();
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    git(&made.path, &["update-index", "--assume-unchanged", "a.txt"]);
    git(&made.path, &["update-index", "--skip-worktree", "dir/b.txt"]);
    write(&made.path.join("a.txt"), "hidden\n");
    write(&made.path.join("dir/b.txt"), "hidden\n");
    assert_eq!(git(&made.path, &["status", "--porcelain"]), "");
    let (_, diff) = kept(&worktrees, made).await;
    assert_eq!(names(&diff), ["a.txt", "dir/b.txt"]);
}

#[tokio::test]
async fn a_directory_replaced_by_a_link_is_not_followed() {
    let fixture = Fixture::new();
    write(&fixture.outside().join("keep/b.txt"), "secret\n");
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    fs::remove_dir_all(made.path.join("dir")).unwrap();
    std::os::unix::fs::symlink(fixture.outside().join("keep"), made.path.join("dir")).unwrap();
    let diff = worktrees.diff(&made.id, CAP).await.unwrap();
    assert_eq!(names(&diff), ["dir", "dir/b.txt"]);
    assert!(!diff.text.contains("secret"));
}

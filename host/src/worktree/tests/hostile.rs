//! Repositories and subagents that want git to run a program of theirs: none ever runs. Each program leaves a mark.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{CAP, Condition, Finished, Fixture, commit, git, kept, names, only_condition, plain_git, write};

/// A program that leaves a mark, and the settings that name it.
struct Trap {
    program: PathBuf,
    mark: PathBuf,
}

impl Trap {
    fn new(directory: &Path) -> Self {
        let (program, mark) = (directory.join("evil"), directory.join("mark"));
        fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { program, mark }
    }

    /// Sets the trap in the git directory `git_dir`, in every way that we know of.
    fn set_in(&self, git_dir: &Path) {
        let evil = self.program.display();
        let hooks = self.program.parent().unwrap().join("hooks");
        fs::create_dir_all(&hooks).unwrap();
        fs::create_dir_all(git_dir.join("hooks")).unwrap();
        for hook in [
            "post-checkout",
            "reference-transaction",
            "post-index-change",
            "pre-commit",
            "fsmonitor-watchman",
        ] {
            fs::copy(&self.program, hooks.join(hook)).unwrap();
            fs::copy(&self.program, git_dir.join("hooks").join(hook)).unwrap();
        }
        let drivers = |name: &str| {
            format!(
                "[filter \"{name}\"]\nclean = {evil}\nsmudge = {evil}\nprocess = {evil}\nrequired = true\n\
                 [diff \"{name}\"]\ncommand = {evil}\ntextconv = {evil}\n[merge \"{name}\"]\ndriver = {evil}\n"
            )
        };
        let included = self.program.with_file_name("included");
        fs::write(&included, drivers("included")).unwrap();
        let settings = format!(
            "[core]\nfsmonitor = {evil}\nhooksPath = {}\nsshCommand = {evil}\npager = {evil}\neditor = {evil}\n\
             askPass = {evil}\ngitProxy = {evil}\nalternateRefsCommand = {evil}\n\
             [sequence]\neditor = {evil}\n[diff]\nexternal = {evil}\n[interactive]\ndiffFilter = {evil}\n\
             [credential]\nhelper = {evil}\n[gpg]\nprogram = {evil}\n[gpg \"ssh\"]\nprogram = {evil}\n\
             [commit]\ngpgSign = true\n[tag]\ngpgSign = true\n[pager]\nworktree = {evil}\nconfig = {evil}\n\
             [uploadpack]\npackObjectsHook = {evil}\n[protocol]\nallow = always\n[submodule]\nrecurse = true\n\
             [alias]\nworktree = !{evil}\nadd = !{evil}\napply = !{evil}\nls-files = !{evil}\n\
             [hook \"evil\"]\ncommand = {evil}\nevent = post-checkout\nevent = reference-transaction\n\
             [remote \"origin\"]\nurl = ext::{evil}\npromisor = true\nuploadpack = {evil}\nvcs = {evil}\n\
             [include]\npath = {}\n{}{}",
            hooks.display(),
            included.display(),
            drivers("evil"),
            drivers("a=b.c"),
        );
        let path = git_dir.join("config");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + &settings).unwrap();
        write(&git_dir.join("info/attributes"), "*.info filter=evil diff=evil\n");
    }

    fn was_sprung(&self) -> bool {
        self.mark.exists()
    }

    fn assert_not_sprung(&self, after: &str) {
        assert!(!self.was_sprung(), "after {after}: {}", fs::read_to_string(&self.mark).unwrap());
    }
}

const ATTRIBUTES: &str = "*.evil filter=evil diff=evil merge=evil\n*.included filter=included diff=included\n\
                          *.odd filter=a=b.c diff=a=b.c\n";

fn with_traps() -> (Fixture, Trap) {
    let fixture = Fixture::new();
    for name in ["x.evil", "x.included", "x.odd", "x.info"] {
        fixture.write(name, "text\n");
    }
    fixture.write(".gitattributes", ATTRIBUTES);
    fixture.commit();
    let trap = Trap::new(&fixture.outside());
    trap.set_in(&fixture.root().join(".git"));
    (fixture, trap)
}

#[tokio::test]
async fn the_traps_work() {
    let (fixture, trap) = with_traps();
    fixture.write("x.evil", "changed\n");
    let _ = plain_git(&fixture.root(), &["status"]).output().unwrap();
    assert!(trap.was_sprung());
}

#[tokio::test]
async fn nothing_that_the_repository_names_is_run() {
    let (fixture, trap) = with_traps();
    let worktrees = fixture.open().await;
    let untouched = worktrees.create("untouched").await.unwrap();
    trap.assert_not_sprung("create");
    assert_eq!(untouched.note, None);
    assert_eq!(worktrees.finish(untouched, CAP).await.unwrap(), Finished::Removed);
    trap.assert_not_sprung("finish");

    let made = worktrees.create("x").await.unwrap();
    for name in ["x.evil", "x.included", "x.odd", "x.info", "new.evil"] {
        write(&made.path.join(name), "changed\n");
    }
    write(&made.path.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n");
    let diff = worktrees.diff(&made.id, CAP).await.unwrap();
    trap.assert_not_sprung("diff");
    assert_eq!(names(&diff), [".gitattributes", "new.evil", "x.evil", "x.included", "x.info", "x.odd"]);
    assert!(diff.text.contains("-text\n+changed\n"), "{}", diff.text);
    let (id, _) = kept(&worktrees, made).await;
    worktrees.list().await.unwrap();
    trap.assert_not_sprung("list");
    worktrees.apply(&id).await.unwrap();
    trap.assert_not_sprung("apply");
    assert_eq!(fixture.read("x.evil"), "changed\n");
    worktrees.discard(&id).await.unwrap();
    drop(worktrees.create("after a dirty workspace").await.unwrap());
    trap.assert_not_sprung("all of it");
}

#[tokio::test]
async fn a_half_made_one_is_swept_without_running_anything() {
    let (fixture, trap) = with_traps();
    let worktrees = fixture.open().await;
    let half = worktrees.create("half").await.unwrap();
    let state = fixture.root().join(".deputy/worktrees/.state").join(&half.id);
    drop(half);
    fs::remove_file(state.join("ready")).unwrap();
    drop(worktrees.create("x").await.unwrap());
    assert_eq!(only_condition(&worktrees).await, Condition::Clean);
    trap.assert_not_sprung("the sweep");
}

#[tokio::test]
async fn a_replaced_git_file_changes_nothing() {
    let fixture = Fixture::new();
    let trap = Trap::new(&fixture.outside());
    let attacker = fixture.outside().join("attacker");
    fs::create_dir(&attacker).unwrap();
    git(&attacker, &["init", "-q"]);
    write(&attacker.join("other.txt"), "o\n");
    commit(&attacker);
    trap.set_in(&attacker.join(".git"));
    for as_directory in [false, true] {
        let worktrees = fixture.open().await;
        let made = worktrees.create("x").await.unwrap();
        let link = made.path.join(".git");
        fs::remove_file(&link).unwrap();
        if as_directory {
            assert!(
                std::process::Command::new("cp")
                    .arg("-r")
                    .args([attacker.join(".git"), link])
                    .status()
                    .unwrap()
                    .success()
            );
        } else {
            fs::write(&link, format!("gitdir: {}\n", attacker.join(".git").display())).unwrap();
        }
        write(&made.path.join("a.txt"), "one\n2\nthree\n");
        let path = made.path.clone();
        let (id, diff) = kept(&worktrees, made).await;
        assert_eq!(names(&diff), ["a.txt"]);
        assert!(!diff.committed);
        assert_eq!(only_condition(&worktrees).await, Condition::HasWork);
        worktrees.apply(&id).await.unwrap();
        git(&fixture.root(), &["checkout", "-q", "--", "a.txt"]);
        worktrees.discard(&id).await.unwrap();
        assert!(!path.exists() && attacker.join(".git/HEAD").exists());
        assert_eq!(git(&fixture.root(), &["worktree", "list"]).lines().count(), 1);
        trap.assert_not_sprung("all of it");
    }
}

#[tokio::test]
async fn an_embedded_repository_runs_nothing() {
    let fixture = Fixture::new();
    let trap = Trap::new(&fixture.outside());
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    // One in a new directory, one in a directory with tracked files.
    for name in ["embedded", "dir"] {
        let embedded = made.path.join(name);
        fs::create_dir_all(&embedded).unwrap();
        git(&embedded, &["init", "-q"]);
        write(&embedded.join("new.txt"), "n\n");
        commit(&embedded);
        trap.set_in(&embedded.join(".git"));
    }
    let (id, diff) = kept(&worktrees, made).await;
    assert_eq!(names(&diff), ["dir/new.txt", "embedded/"]);
    worktrees.apply(&id).await.unwrap();
    worktrees.discard(&id).await.unwrap();
    trap.assert_not_sprung("all of it");
}

#[tokio::test]
async fn a_repository_in_place_of_a_submodule_runs_nothing() {
    let fixture = Fixture::new();
    let other = Fixture::new();
    let url = other.root();
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url.to_str().unwrap(), "sub"];
    git(&fixture.root(), &add);
    fixture.commit();
    let trap = Trap::new(&fixture.outside());
    trap.set_in(&fixture.root().join(".git/modules/sub"));
    let worktrees = fixture.open().await;
    let made = worktrees.create("x").await.unwrap();
    trap.assert_not_sprung("create");
    let sub = made.path.join("sub");
    git(&sub, &["init", "-q"]);
    write(&sub.join("new.txt"), "n\n");
    commit(&sub);
    trap.set_in(&sub.join(".git"));
    let (_, diff) = kept(&worktrees, made).await;
    assert_eq!(names(&diff), ["sub/"]);
    trap.assert_not_sprung("finish");
}

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::tools::testing::Place;
use crate::tools::{FindFilesTool, FoundPaths, ToolError};

async fn find(place: &Place, under: &str) -> FoundPaths {
    place.run(FindFilesTool, json!({"glob":"**","under":under})).await.unwrap()
}

#[tokio::test]
async fn ignore_files_hold_for_their_directory_and_below_and_deeper_ones_win() {
    let place = Place::new();
    place.put(".gitignore", "\u{feff}/out\nlogs/*.txt\n*.tmp\n[z-a\nbuild/\n");
    place.put("pkg/.gitignore", "!keep.tmp\n/only_here\n");
    for path in [
        "out/x",
        "pkg/out/x",
        "logs/a.txt",
        "pkg/logs/a.txt",
        "a.tmp",
        "pkg/keep.tmp",
        "pkg/b.tmp",
        "build/x",
        "pkg/build/x",
        "only_here",
        "pkg/only_here",
        "pkg/sub/only_here",
        ".hidden/x",
        "pkg/.env",
        "file",
    ] {
        place.put(path, "");
    }
    let kept = ["pkg/keep.tmp", "pkg/logs/a.txt", "pkg/out/x", "pkg/sub/only_here"];
    assert_eq!(find(&place, "pkg").await.paths, kept);
    assert_eq!(find(&place, "./pkg/../pkg/").await.paths, kept);
    let all: Vec<&str> = ["file", "only_here"].into_iter().chain(kept).collect();
    assert_eq!(find(&place, ".").await.paths, all);
    // What is named is searched, ignored and hidden or not.
    assert_eq!(find(&place, "out").await.paths, ["out/x"]);
    assert_eq!(find(&place, ".hidden").await.paths, [".hidden/x"]);
}

#[tokio::test]
async fn a_file_named_ignore_stands_over_gitignore_and_git_is_never_entered() {
    let place = Place::new();
    place.put(".gitignore", "*.log\n").put(".ignore", "!a.log\n!.git\n!.config\n*.md\n");
    place.put("a.log", "").put("b.log", "").put("c.md", "").put(".git/HEAD", "").put(".config", "");
    assert_eq!(find(&place, ".").await.paths, [".config", "a.log"]);
}

#[tokio::test]
async fn links_inside_are_followed_under_their_names_and_circles_are_cut() {
    let place = Place::new();
    place
        .put("real/deep/x.txt", "")
        .link("link", "real")
        .link("real/deep/up", "../..")
        .link("file", "real/deep/x.txt");
    let found = find(&place, ".").await;
    assert_eq!(found.paths, ["file", "link/deep/x.txt", "real/deep/x.txt"]);
    assert_eq!(find(&place, "link").await.paths[..1], ["link/deep/up/file"]);
    assert!(find(&place, "link").await.paths.contains(&"link/deep/x.txt".to_owned()));
}

#[tokio::test]
async fn links_to_each_other_do_not_multiply_the_tree() {
    let place = Place::new();
    for from in 0..8 {
        place.put(&format!("d{from}/f"), "");
        for to in 0..8 {
            place.link(&format!("d{from}/to{to}"), format!("../d{to}"));
        }
    }
    let found = find(&place, ".").await;
    for n in 0..8 {
        assert!(found.paths.contains(&format!("d{n}/f")), "{found:?}");
    }
    assert!(found.paths.len() < 100, "{}", found.paths.len());
    assert!(found.note.contains("under another link already"), "{}", found.note);
}

#[tokio::test]
async fn links_out_are_named_and_dead_ones_passed_over() {
    let place = Place::new();
    std::fs::write(place.outside().join("secret"), "").unwrap();
    place
        .put("a", "")
        .link("out", "..")
        .link("dead", "nothing")
        .link("secret", "../secret")
        .link("circle", "circle");
    let found = find(&place, ".").await;
    assert_eq!(found.paths, ["a"]);
    assert!(found.note.ends_with("were not followed: `circle`, `out`, `secret`"), "{}", found.note);
}

#[tokio::test]
async fn pipes_are_no_files_and_are_not_opened() {
    let place = Place::new();
    mknodat(CWD, place.root().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    mknodat(CWD, place.root().join(".gitignore"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    place.put("a", "");
    assert_eq!(find(&place, ".").await.paths, ["a"]);
}

#[tokio::test]
async fn what_is_too_deep_is_named() {
    let place = Place::new();
    let deep = vec!["d"; 150].join("/");
    place.put(&format!("{deep}/x"), "").put("a", "");
    let found = find(&place, ".").await;
    assert_eq!(found.paths, ["a"]);
    assert!(found.note.contains("too deep"), "{}", found.note);
    assert_eq!(find(&place, &deep).await.paths, [format!("{deep}/x")]);
}

#[tokio::test]
async fn a_stopped_run_stops_the_walk() {
    let place = Place::new();
    place.put("a", "").put("b", "");
    let start = crate::tools::path::WorkspacePath::root();
    let mut seen = 0;
    let ended = super::walk(&place.context, &start, &mut |_| {
        seen += 1;
        place.context.cancel.cancel();
        Ok(std::ops::ControlFlow::Continue(()))
    });
    assert_eq!(ended.unwrap_err(), ToolError::Cancelled);
    assert_eq!(seen, 1);
}

use serde_json::json;

use crate::tools::testing::Place;
use crate::tools::{EditFileTool, WriteFileTool};

async fn refused(place: &Place, path: &str) -> String {
    let before = place.names();
    let message = place.refusal(WriteFileTool, json!({"path":path,"content":"evil"})).await;
    assert_eq!(place.names(), before, "{path}");
    message
}

#[tokio::test]
async fn what_belongs_to_the_operator_is_not_written_under_any_name() {
    let place = Place::new();
    place.put(".git/config", "old").put("deputy.toml", "old").put("sub/x", "").link("link", ".git");
    place.link("sub/toml", "../deputy.toml").link("chain", "link");
    for path in [
        ".git/config",
        ".git/hooks/new",
        ".git",
        ".GIT/config",
        "sub/.git",
        "sub/.git/config",
        "new/.git/x",
        "link/config",
        "link/new/x",
        "chain/config",
        "deputy.toml",
        "Deputy.TOML",
        ".deputy/store",
        "new/.deputy/x",
        "sub/toml",
        "sub/../.git/config",
    ] {
        let message = refused(&place, path).await;
        assert!(message.contains("belongs to the operator"), "{path}: {message}");
        assert!(!place.root().join("new").exists(), "{path}");
    }
    let message = place.refusal(EditFileTool, json!({"path":"link/config","old":"old","new":"new"})).await;
    assert!(message.contains("belongs to the operator"), "{message}");
    for path in ["deputy.toml.example", ".gitignore", ".github/x.yml", "git/config"] {
        place.run(WriteFileTool, json!({"path":path,"content":""})).await.unwrap();
    }
}

#[tokio::test]
async fn a_repository_that_git_points_to_is_protected_as_well() {
    let place = Place::new();
    place.put("store/config", "").link(".git", "store");
    assert!(refused(&place, "store/config").await.contains("belongs to the operator"));
    assert!(refused(&place, "store/hooks/new").await.contains("belongs to the operator"));
    let place = Place::new();
    place.put("store/x/config", "").put("store/y/config", "").put(".git", "gitdir: store/x\n");
    assert!(refused(&place, "store/x/hooks/new").await.contains("belongs to the operator"));
    place.run(WriteFileTool, json!({"path":"store/y/config","content":""})).await.unwrap();
}

#[tokio::test]
async fn nothing_is_made_outside_through_links() {
    let place = Place::new();
    std::fs::write(place.outside().join("canary"), "untouched").unwrap();
    place.put("a/x", "").link("out", "..").link("absolute", place.outside()).link("file", "../canary");
    place
        .link("new", "../made")
        .link("a/up", "../..")
        .link("one", "two")
        .link("two", "one")
        .link("dead", "nowhere/x");
    for path in [
        "out/new.txt",
        "out/deep/new.txt",
        "absolute/new.txt",
        "file",
        "new",
        "a/up/new.txt",
        "out/../made",
        "one",
        "one/x",
        "out/",
        "new/",
        "a/..",
        "a/../..",
        "missing/../../x",
    ] {
        refused(&place, path).await;
    }
    assert_eq!(std::fs::read(place.outside().join("canary")).unwrap(), b"untouched");
    assert_eq!(std::fs::read_dir(place.outside()).unwrap().count(), 2);
    // A link to what is not there yet, but inside, makes it there.
    place.run(WriteFileTool, json!({"path":"dead","content":"x"})).await.unwrap();
    assert_eq!(place.bytes("nowhere/x"), b"x");
}

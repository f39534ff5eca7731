use serde_json::json;

use super::FindFilesTool;
use crate::tools::testing::{Place, cases, outcome_of_case};
use crate::tools::{GrepFilesTool, ToolLimits};

#[tokio::test]
async fn each_case_searches_as_expected() {
    for case in cases("search") {
        let place = Place::new();
        copy(&case.join("tree"), place.root());
        let call: serde_json::Value =
            serde_json::from_slice(&std::fs::read(case.join("call.json")).unwrap()).unwrap();
        let arguments = call["arguments"].clone();
        let outcome = match call["tool"].as_str().unwrap() {
            "find_files" => place.call(FindFilesTool, arguments).await,
            "grep_files" => place.call(GrepFilesTool, arguments).await,
            other => panic!("{other} is no search tool"),
        };
        outcome_of_case(&case, outcome);
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[tokio::test]
async fn the_list_is_cut_at_the_caps_and_says_so() {
    let place = Place::with(ToolLimits { items: 2, ..ToolLimits::default() });
    place.put("a", "").put("b", "").put("c", "");
    let found = place.run(FindFilesTool, json!({"glob":"*"})).await.unwrap();
    assert!(found.cut && found.paths == ["a", "b"], "{found:?}");
    let text = place.call(FindFilesTool, json!({"glob":"*"})).await.unwrap();
    assert_eq!(text, "a\nb\n[cut after 2 paths; narrow it down with `under` or the glob]");
    let found = place.run(FindFilesTool, json!({"glob":"[ab]"})).await.unwrap();
    assert!(!found.cut, "{found:?}");
}

#[tokio::test]
async fn an_empty_workspace_and_an_empty_directory_are_said() {
    let place = Place::new();
    let found = place.run(FindFilesTool, json!({"glob":"*"})).await.unwrap();
    assert_eq!(found.note, "the workspace is empty");
    std::fs::create_dir(place.root().join("d")).unwrap();
    let found = place.run(FindFilesTool, json!({"glob":"*","under":"d"})).await.unwrap();
    assert_eq!(found.note, "the directory `d` is empty");
    assert!(place.refusal(FindFilesTool, json!({"glob":"*","under":"e"})).await.contains("does not exist"));
    place.put("f", "");
    assert!(place.refusal(FindFilesTool, json!({"glob":"*","under":"f"})).await.contains("not a directory"));
}

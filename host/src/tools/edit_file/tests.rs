use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::EditFileTool;
use crate::tools::testing::{Place, assert_refused, cases};
use crate::tools::{ToolError, ToolLimits};

#[tokio::test]
async fn each_case_edits_as_expected() {
    for case in cases("edit") {
        let place = Place::new();
        let before = std::fs::read(case.join("before.txt")).unwrap();
        place.put("before.txt", &before);
        let call = serde_json::from_slice(&std::fs::read(case.join("call.json")).unwrap()).unwrap();
        let outcome = place.call(EditFileTool, call).await;
        let expected = match std::fs::read(case.join("after.txt")) {
            Ok(after) => {
                outcome.unwrap_or_else(|error| panic!("{}: {error}", case.display()));
                after
            }
            Err(_) => {
                assert_refused(&case, outcome);
                before
            }
        };
        assert_eq!(
            place.bytes("before.txt").escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{}",
            case.display()
        );
        assert_eq!(place.names(), ["before.txt"], "{}", case.display());
    }
}

#[tokio::test]
async fn the_result_counts_the_places() {
    let place = Place::new();
    place.put("a.txt", "x y x\nx\n");
    assert_eq!(place.run(EditFileTool, json!({"path":"a.txt","old":"x","new":"z","all":true})).await, Ok(3));
    let text =
        place.call(EditFileTool, json!({"path":"a.txt","old_string":"y","new_string":""})).await.unwrap();
    assert_eq!(text, "changed 1 place");
    assert_eq!(place.bytes("a.txt"), b"z  z\nz\n");
}

#[tokio::test]
async fn many_places_are_counted_and_the_first_lines_named() {
    let place = Place::new();
    place.put("a.txt", "same\n".repeat(50));
    let message = place.refusal(EditFileTool, json!({"path":"a.txt","old":"same","new":"other"})).await;
    assert!(message.contains("50 times") && message.contains("19, 20, 30 more"), "{message}");
}

#[tokio::test]
async fn permissions_are_kept_and_a_link_stays_a_link() {
    let place = Place::new();
    place.put("tool.sh", "echo a\n").link("link.sh", "tool.sh");
    let path = place.root().join("tool.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
    place.run(EditFileTool, json!({"path":"link.sh","old":"a","new":"b"})).await.unwrap();
    assert_eq!(place.bytes("tool.sh"), b"echo b\n");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    assert!(std::fs::symlink_metadata(place.root().join("link.sh")).unwrap().is_symlink());
}

#[tokio::test]
async fn a_file_beyond_the_byte_cap_is_refused_and_kept() {
    let place = Place::with(ToolLimits { file_bytes: 5, ..ToolLimits::default() });
    place.put("big.txt", "abcdef");
    let message = place.refusal(EditFileTool, json!({"path":"big.txt","old":"a","new":"b"})).await;
    assert!(message.contains("bigger than the 5 bytes"), "{message}");
    assert_eq!(place.bytes("big.txt"), b"abcdef");
}

#[tokio::test]
async fn a_missing_file_is_not_made() {
    let place = Place::new();
    let error = place.call(EditFileTool, json!({"path":"a/b.txt","old":"a","new":"b"})).await.unwrap_err();
    assert!(matches!(error, ToolError::NotFound(_)), "{error:?}");
    assert!(std::fs::read_dir(place.root()).unwrap().next().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_of_one_file_side_by_side_all_count_or_are_told() {
    let place = std::sync::Arc::new(Place::new());
    place.put("a.txt", (0..20).map(|n| format!("<{n}>\n")).collect::<String>());
    let edits: Vec<_> = (0..20)
        .map(|n| {
            let place = place.clone();
            tokio::spawn(async move {
                let call = json!({"path":"a.txt","old":format!("<{n}>"),"new":format!("({n})")});
                place.run(EditFileTool, call).await.is_ok()
            })
        })
        .collect();
    let mut done = Vec::new();
    for edit in edits {
        done.push(edit.await.unwrap());
    }
    let text = String::from_utf8(place.bytes("a.txt")).unwrap();
    for (n, done) in done.into_iter().enumerate() {
        assert_eq!(text.contains(&format!("({n})")), done, "{n}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_edits_of_one_place_one_loses_and_is_told() {
    let place = std::sync::Arc::new(Place::new());
    place.put("a.txt", "one place\n");
    let edit = |new: &'static str| {
        let place = place.clone();
        tokio::spawn(
            async move { place.call(EditFileTool, json!({"path":"a.txt","old":"one","new":new})).await },
        )
    };
    let (left, right) = (edit("left"), edit("right"));
    let (left, right) = (left.await.unwrap(), right.await.unwrap());
    assert_ne!(left.is_ok(), right.is_ok(), "{left:?} {right:?}");
    let winner = if left.is_ok() { "left place\n" } else { "right place\n" };
    assert_eq!(place.bytes("a.txt"), winner.as_bytes());
}

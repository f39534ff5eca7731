use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{GrepFilesTool, Hit};
use crate::tools::testing::Place;
use crate::tools::{ReadFileTool, ToolLimits};

#[tokio::test]
async fn a_long_line_keeps_the_match_and_counts_what_is_hidden() {
    let place = Place::with(ToolLimits { line_bytes: 30, ..ToolLimits::default() });
    place.put("min.js", format!("{}needle{}", "a".repeat(1000), "b".repeat(500)));
    let hits = place.run(GrepFilesTool, json!({"pattern":"need.e"})).await.unwrap();
    let text = &hits.hits[0].text;
    assert!(text.contains("aneedleb"), "{text}");
    assert!(
        text.starts_with("[… 992 characters hidden]") && text.ends_with("[… 484 characters hidden]"),
        "{text}"
    );
}

#[tokio::test]
async fn hits_below_a_linked_directory_can_be_read_under_their_path() {
    let place = Place::new();
    place.put("real/x", "one\nhit\n").link("link", "real");
    let hits = place.run(GrepFilesTool, json!({"pattern":"hit","under":"link"})).await.unwrap();
    assert_eq!(hits.hits, [Hit { path: "link/x".into(), line: 2, text: "hit".into() }]);
    assert!(place.call(ReadFileTool, json!({"path":hits.hits[0].path})).await.is_ok());
}

#[tokio::test]
async fn the_list_is_cut_at_the_caps_and_says_so() {
    let place = Place::with(ToolLimits { items: 3, ..ToolLimits::default() });
    place.put("a", "x\nx\n").put("b", "x\nx\n");
    let hits = place.run(GrepFilesTool, json!({"pattern":"x"})).await.unwrap();
    assert!(hits.cut && hits.hits.len() == 3, "{hits:?}");
    let text = place.call(GrepFilesTool, json!({"pattern":"x"})).await.unwrap();
    assert_eq!(
        text,
        "a:1:x\na:2:x\nb:1:x\n[cut after 3 lines; narrow it down with `under`, `glob` or the pattern]"
    );
    let place = Place::with(ToolLimits { result_bytes: 40, ..ToolLimits::default() });
    place.put("a", "x\n".repeat(100));
    let hits = place.run(GrepFilesTool, json!({"pattern":"x"})).await.unwrap();
    assert!(hits.cut && !hits.hits.is_empty() && hits.hits.len() < 10, "{hits:?}");
}

#[tokio::test]
async fn a_file_beyond_the_byte_cap_is_searched_up_to_it_and_named() {
    let place = Place::with(ToolLimits { file_bytes: 4, ..ToolLimits::default() });
    place.put("big", "hit\nhit\n");
    let hits = place.run(GrepFilesTool, json!({"pattern":"hit"})).await.unwrap();
    assert_eq!(hits.hits.len(), 1);
    assert_eq!(hits.note, "too big, only the start was searched: `big`");
}

#[tokio::test]
async fn a_named_file_that_is_not_searched_is_said_and_a_pipe_refused() {
    let place = Place::new();
    place.put("a.bin", "hit\0").put("a.txt", "hit\n").put(".hidden", "hit\n").put(".gitignore", "a.txt\n");
    let note = async |call| place.run(GrepFilesTool, call).await.unwrap().note;
    assert_eq!(
        note(json!({"pattern":"hit","under":"a.bin"})).await,
        "`a.bin` is binary and was not searched"
    );
    assert!(
        note(json!({"pattern":"hit","under":"a.txt","glob":"*.rs"}))
            .await
            .contains("does not match the glob")
    );
    for named in ["a.txt", ".hidden"] {
        let hits = place.run(GrepFilesTool, json!({"pattern":"hit","under":named})).await.unwrap();
        assert_eq!(hits.hits.len(), 1, "{named}");
    }
    mknodat(CWD, place.root().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert!(place.refusal(GrepFilesTool, json!({"pattern":"x","under":"pipe"})).await.contains("a pipe"));
}

#[tokio::test]
async fn odd_names_and_bytes_are_shown_escaped_or_replaced() {
    let place = Place::new();
    place.put("a\nb", b"caf\xe9 hit\n");
    let text = place.call(GrepFilesTool, json!({"pattern":"hit"})).await.unwrap();
    assert_eq!(text, "\"a\\nb\":1:caf\u{fffd} hit");
}

#[tokio::test]
async fn an_empty_match_is_a_hit() {
    let place = Place::new();
    place.put("a", "\nx\n\n");
    let hits = place.run(GrepFilesTool, json!({"pattern":"^$"})).await.unwrap();
    assert_eq!(hits.hits.iter().map(|hit| hit.line).collect::<Vec<_>>(), [1, 3]);
}

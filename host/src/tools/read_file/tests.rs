use std::io::Write;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::ReadFileTool;
use crate::tools::testing::{Place, cases, outcome_of_case};
use crate::tools::{Operation, ToolError, ToolLimits};

#[tokio::test]
async fn each_case_reads_as_expected() {
    for case in cases("read") {
        let place = Place::new();
        place.put("file", std::fs::read(case.join("file")).unwrap());
        let call = serde_json::from_slice(&std::fs::read(case.join("call.json")).unwrap()).unwrap();
        outcome_of_case(&case, place.call(ReadFileTool, call).await);
    }
}

#[tokio::test]
async fn a_long_file_comes_in_parts_that_join_to_the_whole() {
    let place = Place::with(ToolLimits { result_bytes: 64, ..ToolLimits::default() });
    let text: String = (1..200).map(|line| format!("line {line}\n")).collect();
    place.put("long.txt", &text);
    let (mut joined, mut next, mut total) = (String::new(), 1, u32::MAX);
    while next <= total {
        let page = place.run(ReadFileTool, json!({"path":"long.txt","first_line":next})).await.unwrap();
        assert!(page.text.len() <= 64, "{page:?}");
        assert_eq!(page.first_line, next);
        next += u32::try_from(page.text.lines().count()).unwrap();
        total = page.total_lines;
        assert_eq!(page.cut, next <= total);
        joined.push_str(&page.text);
    }
    assert_eq!(joined, text);
}

#[tokio::test]
async fn a_line_longer_than_the_cap_keeps_its_head_and_says_what_is_hidden() {
    let place = Place::with(ToolLimits { result_bytes: 10, ..ToolLimits::default() });
    place.put("min.js", format!("{}\nnext\n", "ä".repeat(20)));
    let page = place.run(ReadFileTool, json!({"path":"min.js"})).await.unwrap();
    assert!(page.cut);
    let text = ReadFileTool.render(page);
    assert!(text.starts_with("äääää\n[line 1 is cut: its last 30 bytes are hidden]"), "{text}");
    assert!(text.ends_with("[lines 1-1 of 2; read on with first_line=2]"), "{text}");
    let text = place.call(ReadFileTool, json!({"path":"min.js","first_line":2})).await.unwrap();
    assert_eq!(text, "next\n[lines 2-2 of 2]");
}

#[tokio::test]
async fn a_file_beyond_the_byte_cap_is_read_up_to_it_and_marked() {
    let place = Place::with(ToolLimits { file_bytes: 7, ..ToolLimits::default() });
    // The cap falls into the second character of the second line.
    place.put("big.txt", "abc\naä ä more\n");
    let page = place.run(ReadFileTool, json!({"path":"big.txt"})).await.unwrap();
    assert!(
        page.cut && page.text == "abc\naä" && page.note.starts_with("only the first 7 of 16 bytes"),
        "{page:?}"
    );
    let sparse = std::fs::File::create(place.root().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let message = place.refusal(ReadFileTool, json!({"path":"sparse"})).await;
    assert!(message.contains("binary file of 1099511627776 bytes"), "{message}");
    let message = place.refusal(ReadFileTool, json!({"path":"big.txt","first_line":3})).await;
    assert!(message.contains("only the first 7 of 16 bytes"), "{message}");
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_without_waiting() {
    let place = Place::new();
    mknodat(CWD, place.root().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.root().join("socket")).unwrap();
    place.link("to_pipe", "pipe").put("dir/x", "");
    for (name, kind) in
        [("pipe", "a pipe"), ("to_pipe", "a pipe"), ("socket", "a socket"), ("dir", "a directory")]
    {
        let message = place.refusal(ReadFileTool, json!({"path":name})).await;
        assert!(message.contains(kind), "{message}");
    }
}

#[tokio::test]
async fn links_inside_are_read_and_links_out_are_refused() {
    let place = Place::new();
    std::fs::write(place.outside().join("secret"), "canary").unwrap();
    place.put("real/x.txt", "here\n").link("link", "real").link("real/up.txt", "../real/x.txt");
    for path in ["link/x.txt", "real/up.txt", "link/up.txt", "./link//x.txt", "link/../real/x.txt"] {
        assert_eq!(place.call(ReadFileTool, json!({"path":path})).await.unwrap(), "here\n", "{path}");
    }
    place.link("relative", "../secret").link("absolute", place.outside().join("secret"));
    place.link("chain", "relative").link("out", "..").link("slash", "../").link("memory", "/proc/self/mem");
    for path in [
        "relative",
        "absolute",
        "chain",
        "out/secret",
        "slash/secret",
        "memory",
        "out",
        "out/",
        "out//",
        "out/.",
        "relative/",
        "link/../../secret",
    ] {
        let message = place.refusal(ReadFileTool, json!({"path":path})).await;
        assert!(message.contains("workspace") && !message.contains("canary"), "{path}: {message}");
    }
    place.link("one", "two").link("two", "one");
    let message = place.refusal(ReadFileTool, json!({"path":"one"})).await;
    assert!(message.contains("circle"), "{message}");
}

#[tokio::test]
async fn a_missing_file_is_not_found() {
    let place = Place::new();
    let error = place.call(ReadFileTool, json!({"path":"none.txt"})).await.unwrap_err();
    assert!(matches!(&error, ToolError::NotFound(text) if text.contains("`none.txt`")), "{error:?}");
}

#[tokio::test]
async fn an_absolute_path_inside_the_workspace_is_taken() {
    let place = Place::new();
    place.put("a/b.txt", "b\n");
    let path = place.root().join("a/b.txt");
    assert_eq!(place.call(ReadFileTool, json!({"path":path})).await.unwrap(), "b\n");
}

#[tokio::test]
async fn a_cancelled_call_reads_nothing() {
    let place = Place::new();
    place.put("a.txt", "a");
    place.context.cancel.cancel();
    assert_eq!(place.call(ReadFileTool, json!({"path":"a.txt"})).await, Err(ToolError::Cancelled));
}

#[tokio::test]
async fn odd_times_and_names_are_read() {
    let place = Place::new();
    let mut file = std::fs::File::create(place.root().join("CON:x\u{202e}")).unwrap();
    file.write_all(b"odd\n").unwrap();
    file.set_modified(std::time::UNIX_EPOCH - std::time::Duration::from_secs(9_000_000)).unwrap();
    assert_eq!(place.call(ReadFileTool, json!({"path":"CON:x\u{202e}"})).await.unwrap(), "odd\n");
}

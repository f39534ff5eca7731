use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{Entry, EntryKind, ListFilesTool};
use crate::tools::ToolLimits;
use crate::tools::testing::Place;

#[tokio::test]
async fn entries_are_sorted_and_told_apart_hidden_ones_included() {
    let place = Place::new();
    place.put("d/b.txt", "12345").put("d/.hidden", "").put("d/a/x", "").link("d/link", "b.txt");
    mknodat(CWD, place.root().join("d/pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let text = place.call(ListFilesTool, json!({"path":"d"})).await.unwrap();
    assert_eq!(
        text,
        "d/.hidden (0 bytes)\nd/a/\nd/b.txt (5 bytes)\nd/link (symlink)\nd/pipe (neither file nor directory)"
    );
    let listing = place.run(ListFilesTool, json!({})).await.unwrap();
    assert_eq!(listing.entries, [Entry { path: "d".into(), kind: EntryKind::Directory, size: 0 }]);
}

#[tokio::test]
async fn odd_names_are_shown_escaped() {
    let place = Place::new();
    place.put("a\nb", "");
    std::fs::write(place.root().join(OsStr::from_bytes(b"caf\xe9")), "").unwrap();
    let text = place.call(ListFilesTool, json!({"path":"."})).await.unwrap();
    assert_eq!(text, "\"a\\nb\" (0 bytes)\n\"caf\\xe9\" (0 bytes)");
}

#[tokio::test]
async fn a_big_directory_is_cut_at_the_caps_and_says_so() {
    let place = Place::with(ToolLimits { items: 3, ..ToolLimits::default() });
    for n in (0..50).rev() {
        place.put(&format!("f{n:02}"), "");
    }
    let listing = place.run(ListFilesTool, json!({"path":"."})).await.unwrap();
    assert!(listing.cut);
    assert_eq!(
        listing.entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(),
        ["f00", "f01", "f02"]
    );
    let text = place.call(ListFilesTool, json!({"path":"."})).await.unwrap();
    assert!(text.ends_with("a narrow glob finds others]") && text.contains("cut after 3 entries"), "{text}");
}

#[tokio::test]
async fn nothing_is_said_in_words_and_what_is_no_directory_is_refused() {
    let place = Place::new();
    assert_eq!(place.call(ListFilesTool, json!({})).await.unwrap(), "[the directory is empty]");
    place.put("a.txt", "").link("out", "..");
    assert!(place.refusal(ListFilesTool, json!({"path":"a.txt"})).await.contains("not a directory"));
    assert!(place.refusal(ListFilesTool, json!({"path":"none"})).await.contains("does not exist"));
    assert!(place.refusal(ListFilesTool, json!({"path":"out"})).await.contains("leads out of the workspace"));
}

#[tokio::test]
async fn a_linked_directory_is_listed_under_the_name_that_was_asked() {
    let place = Place::new();
    place.put("real/x", "").link("link", "real");
    assert_eq!(place.call(ListFilesTool, json!({"path":"link"})).await.unwrap(), "link/x (0 bytes)");
}

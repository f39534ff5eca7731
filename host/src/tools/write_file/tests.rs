use std::os::unix::fs::PermissionsExt;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{WriteFileTool, Written};
use crate::tools::testing::Place;

#[tokio::test]
async fn a_new_file_is_made_with_its_directories() {
    let place = Place::new();
    let written = place.run(WriteFileTool, json!({"path":"a/b/c.txt","content":"é\n"})).await.unwrap();
    assert_eq!(written, Written { bytes: 3, created: true, note: String::new() });
    let text = place.call(WriteFileTool, json!({"file_path":"a/b/c.txt","content":"x"})).await.unwrap();
    assert_eq!(text, "replaced the content of the file, 1 bytes");
    assert_eq!((place.bytes("a/b/c.txt"), place.names()), (b"x".to_vec(), vec!["a/b/c.txt".to_owned()]));
}

#[tokio::test]
async fn what_a_write_changes_beside_the_text_is_said() {
    for (old, new, expected, note) in [
        (&b"\xff\xfea\0"[..], "b", &b"b"[..], "the file was UTF-16LE and is UTF-8 now"),
        (
            b"\xfe\xff\0a\0\r\0\n",
            "b\n",
            b"b\n",
            "UTF-16BE and is UTF-8 now; the file had CRLF line ends and has LF",
        ),
        (b"caf\xe9", "café", "café".as_bytes(), "was not UTF-8"),
        (b"a\0", "b", b"b", "was binary"),
        (b"\xef\xbb\xbfa", "b", b"\xef\xbb\xbfb", "byte order mark of the file was kept"),
        (b"\xef\xbb\xbfa", "\u{feff}b", b"\xef\xbb\xbfb", ""),
        (b"a\r\n", "b\n", b"b\n", "had CRLF line ends and has LF line ends now"),
        (b"a\r\n", "b\r\n", b"b\r\n", ""),
        (b"a\n", "b\n", b"b\n", ""),
    ] {
        let place = Place::new();
        place.put("a", old);
        let written = place.run(WriteFileTool, json!({"path":"a","content":new})).await.unwrap();
        assert_eq!(place.bytes("a"), expected, "{note}");
        assert_eq!(written.bytes, expected.len() as u64);
        assert!(
            written.note.contains(note) && written.note.is_empty() == note.is_empty(),
            "{}",
            written.note
        );
    }
}

#[tokio::test]
async fn a_link_inside_stays_and_its_target_is_written_with_its_permissions() {
    let place = Place::new();
    place.put("real/a", "old").link("link", "real/a");
    std::fs::set_permissions(place.root().join("real/a"), std::fs::Permissions::from_mode(0o640)).unwrap();
    let written = place.run(WriteFileTool, json!({"path":"link","content":"new"})).await.unwrap();
    assert!(written.note.contains("`real/a`") && !written.created, "{written:?}");
    assert_eq!(place.bytes("real/a"), b"new");
    assert!(std::fs::symlink_metadata(place.root().join("link")).unwrap().is_symlink());
    let mode = std::fs::metadata(place.root().join("real/a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o640);
}

#[tokio::test]
async fn another_name_of_the_file_keeps_the_old_content_and_that_is_said() {
    let place = Place::new();
    place.put("a", "old");
    std::fs::hard_link(place.root().join("a"), place.outside().join("b")).unwrap();
    let written = place.run(WriteFileTool, json!({"path":"a","content":"new"})).await.unwrap();
    assert!(written.note.contains("hard link"), "{}", written.note);
    assert_eq!(std::fs::read(place.outside().join("b")).unwrap(), b"old");
}

#[tokio::test]
async fn directories_and_special_files_are_refused() {
    let place = Place::new();
    place.put("d/x", "").link("to_d", "d");
    mknodat(CWD, place.root().join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    for (path, part) in [
        ("d", "directory"),
        ("to_d", "directory"),
        ("new/", "directory"),
        (".", "directory"),
        ("pipe", "a pipe"),
        ("d/x/y", "not a directory"),
    ] {
        let message = place.refusal(WriteFileTool, json!({"path":path,"content":"x"})).await;
        assert!(message.contains(part), "{path}: {message}");
    }
    let message = place.refusal(WriteFileTool, json!({"path":"n".repeat(300),"content":"x"})).await;
    assert!(message.contains("too long"), "{message}");
}

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use proptest::prelude::*;

use super::{WorkspacePath, shown};
use crate::tools::testing::Place;

#[test]
fn paths_inside_are_taken_and_cleaned_of_what_says_nothing() {
    let place = Place::new();
    let inside = place.root().join("a//b.txt");
    let many = format!("{}a", "./".repeat(10_000));
    for (text, path) in [
        ("a", "a"),
        ("./a/./b", "a/b"),
        ("a//b", "a/b"),
        ("a/../b", "a/../b"),
        (".", "."),
        ("a/..", "a/.."),
        ("C:x", "C:x"),
        ("CON", "CON"),
        ("--follow", "--follow"),
        (" a", " a"),
        (inside.to_str().unwrap(), "a/b.txt"),
        (place.root().to_str().unwrap(), "."),
        (many.as_str(), "a"),
    ] {
        let parsed = WorkspacePath::parse(text, &place.context.workspace).unwrap();
        assert_eq!(parsed.as_path(), Path::new(path), "{text}");
    }
}

#[test]
fn paths_that_leave_or_are_none_are_refused_with_a_reason() {
    let place = Place::new();
    let beside = format!("{}-beside/x", place.root().display());
    let above = format!("{}/../x", place.root().display());
    let long = "a/".repeat(500_000);
    for (text, reason) in [
        ("", "is empty"),
        (" \n", "is empty"),
        ("a\0b", "NUL"),
        ("..", "leaves the workspace"),
        ("../x", "leaves the workspace"),
        ("a/../../x", "leaves the workspace"),
        ("a/b/../../../x", "leaves the workspace"),
        ("/etc/passwd", "relative to the workspace root"),
        ("//", "relative to the workspace root"),
        (beside.as_str(), "relative to the workspace root"),
        (above.as_str(), "leaves the workspace"),
        (long.as_str(), "999999 bytes long"),
    ] {
        let error = WorkspacePath::parse(text, &place.context.workspace).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(error.len() < 1000, "{} bytes", error.len());
    }
}

#[test]
fn names_that_cannot_be_read_are_shown_escaped_in_quotes() {
    for (name, text) in [
        (&b"plain name"[..], "plain name"),
        ("größe".as_bytes(), "größe"),
        (b"back\\slash", "back\\slash"),
        (b"a\nb", r#""a\nb""#),
        (b"a\\n\tb", r#""a\\n\tb""#),
        (b"caf\xe9", r#""caf\xe9""#),
        (b"\"quoted\"", r#""\"quoted\"""#),
        (b"\x1b[31mred", r#""\u{1b}[31mred""#),
        ("a\u{202e}txt".as_bytes(), r#""a\u{202e}txt""#),
    ] {
        assert_eq!(shown(Path::new(OsStr::from_bytes(name))), text);
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_taken_never_climbs_above_the_root(text in "[a./\\\\ \\n\\PC]{0,30}") {
        let place = Place::new();
        if let Ok(path) = WorkspacePath::parse(&text, &place.context.workspace) {
            let mut depth = 0_i32;
            for part in path.prefix().components() {
                depth += if part.as_os_str() == ".." { -1 } else { 1 };
                prop_assert!(depth >= 0);
            }
            prop_assert!(!path.prefix().has_root());
        }
    }

    #[test]
    fn different_names_are_never_shown_alike(left: Vec<u8>, right: Vec<u8>) {
        let show = |bytes: &[u8]| shown(Path::new(OsStr::from_bytes(bytes)));
        prop_assert_eq!(show(&left) == show(&right), left == right);
    }
}

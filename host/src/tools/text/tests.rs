use proptest::prelude::*;

use super::{Encoding, LineEnds, cut_around, decode_utf16, encode_utf16, head, view};

#[test]
fn encodings_are_told_apart() {
    for (bytes, encoding) in [
        (&b""[..], Encoding::Utf8),
        ("ä\n".as_bytes(), Encoding::Utf8),
        (b"\xef\xbb\xbfx", Encoding::Utf8Marked),
        (b"\xff\xfex\0", Encoding::Utf16Le),
        (b"\xfe\xff\0x", Encoding::Utf16Be),
        (b"caf\xe9", Encoding::Unknown),
        (b"a\0b", Encoding::Binary),
        (b"\xff\xfe\0\0x\0\0\0", Encoding::Binary),
    ] {
        assert_eq!(Encoding::of(bytes, true), encoding, "{bytes:?}");
    }
}

#[test]
fn a_character_cut_by_the_cap_is_no_other_encoding() {
    let bytes = &"aä".as_bytes()[..2];
    assert_eq!(Encoding::of(bytes, false), Encoding::Utf8);
    assert_eq!(Encoding::of(bytes, true), Encoding::Unknown);
    assert_eq!(view(bytes, false).unwrap().text, "a");
}

#[test]
fn line_ends_are_told_apart() {
    for (text, ends) in [
        ("", LineEnds::None),
        ("a\rb", LineEnds::None),
        ("a\n", LineEnds::Lf),
        ("\n\n", LineEnds::Lf),
        ("a\r\nb\r\n", LineEnds::CrLf),
        ("a\r\nb\n", LineEnds::Mixed),
        ("\n\r\n", LineEnds::Mixed),
    ] {
        assert_eq!(LineEnds::of(text.as_bytes()), ends, "{text:?}");
    }
}

#[test]
fn a_long_line_is_cut_around_the_match_and_counts_characters() {
    let before = "ä".repeat(100);
    let after = "z".repeat(50);
    let line = cut_around(&before, "MATCH", &after, 35);
    assert_eq!(
        line,
        format!("[… 95 characters hidden]{}MATCH{}[… 30 characters hidden]", "ä".repeat(5), "z".repeat(20))
    );
    assert_eq!(cut_around("", "MATCH", &after, 10), "MATCHzzzzz[… 45 characters hidden]");
    assert_eq!(cut_around(&after, "MATCH", "", 10), "[… 45 characters hidden]zzzzzMATCH");
    assert_eq!(
        cut_around("a", &"m".repeat(20), "b", 6),
        "[… 1 character hidden]mmmmmm[… 15 characters hidden]"
    );
}

proptest! {
    #[test]
    fn utf_16_comes_back(text in "\\PC{0,20}") {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encode_utf16(&text, encoding);
            prop_assert_eq!(decode_utf16(&bytes, encoding), (text.as_str().into(), false));
        }
    }

    #[test]
    fn a_cut_keeps_the_match_to_be_seen_and_stays_in_its_size(
        before in "\\PC{0,30}", found in "[a-z]{1,5}", after in "\\PC{0,30}", most in 5_usize..40,
    ) {
        let line = cut_around(&before, &found, &after, most);
        prop_assert!(line.contains(&found));
        let shown: usize = line.split("[… ").enumerate().map(|(at, part)| {
            if at == 0 { part.len() } else { part.split_once("hidden]").map_or(0, |(_, rest)| rest.len()) }
        }).sum();
        prop_assert!(shown <= most || before.contains("[…") || after.contains("[…"), "{}", line);
    }

    #[test]
    fn any_bytes_have_a_view_or_are_binary(bytes in prop::collection::vec(any::<u8>(), 0..60), whole: bool, most in 0_usize..20) {
        if let Some(view) = view(&bytes, whole) {
            prop_assert!(view.text.starts_with(head(&view.text, most)));
        }
    }
}

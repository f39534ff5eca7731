use proptest::prelude::*;

use super::*;

const LIMIT: usize = 4096;

/// All events of `chunks`.
fn events(chunks: &[&[u8]]) -> Result<Vec<SseEvent>, EventTooLong> {
    let mut parser = SseParser::new(LIMIT);
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut events)?;
    }
    events.extend(parser.finish());
    Ok(events)
}

fn whole(event: Option<&str>, data: &str) -> SseEvent {
    SseEvent { event: event.map(str::to_owned), data: data.to_owned(), whole: true }
}

fn cut(event: Option<&str>, data: &str) -> SseEvent {
    SseEvent { whole: false, ..whole(event, data) }
}

/// Parses `text` uncut, cut at every byte and one byte a chunk; all must agree.
fn parsed(text: &[u8]) -> Vec<SseEvent> {
    let uncut = events(&[text]).unwrap();
    for at in 0..=text.len() {
        let (left, right) = text.split_at(at);
        assert_eq!(events(&[left, right]).unwrap(), uncut, "cut at {at}");
        assert_eq!(events(&[left, b"", right]).unwrap(), uncut, "cut at {at} with an empty chunk");
    }
    let bytes: Vec<&[u8]> = text.chunks(1).collect();
    assert_eq!(events(&bytes).unwrap(), uncut, "one byte a chunk");
    uncut
}

#[test]
fn all_line_endings_read_alike() {
    for ending in ["\n", "\r\n", "\r"] {
        let text = [": hello", "event: a", "data: 1", "data:2", "", "data: é🌊", "", ""].join(ending);
        assert_eq!(parsed(text.as_bytes()), [whole(Some("a"), "1\n2"), whole(None, "é🌊")], "{ending:?}");
    }
}

#[test]
fn a_line_feed_after_a_carriage_return_ends_no_second_line() {
    assert_eq!(parsed(b"data: 1\r\ndata: 2\r\n\r\n"), [whole(None, "1\n2")]);
    assert_eq!(parsed(b"data: 1\n\r\ndata: 2\r\r\n"), [whole(None, "1"), whole(None, "2")]);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(parsed("\u{feff}data: 1\n\n".as_bytes()), [whole(None, "1")]);
    assert_eq!(parsed("data: 1\n\n\u{feff}data: 2\n\n".as_bytes()), [whole(None, "1")]);
}

#[test]
fn one_space_after_the_colon_belongs_to_the_syntax() {
    assert_eq!(
        parsed(b"data:  two\n\ndata:\n\ndata\n\n"),
        [whole(None, " two"), whole(None, ""), whole(None, "")]
    );
}

#[test]
fn comments_unknown_fields_and_names_alone_give_no_event() {
    assert_eq!(
        parsed(b": ping\n\nevent: ping\n\nid: 1\nretry: 5\nother: x\n\ndata: 1\n\n"),
        [whole(None, "1")]
    );
}

#[test]
fn an_event_without_a_blank_line_comes_at_the_end() {
    assert_eq!(parsed(b"data: 1\n\nevent: a\ndata: 2"), [whole(None, "1"), cut(Some("a"), "2")]);
    assert_eq!(parsed(b"data: 1\n"), [cut(None, "1")]);
    assert_eq!(parsed(b"event: a\ndata: 1\nevent: b"), [cut(Some("a"), "1")]);
}

#[test]
fn a_second_name_ends_a_half_event() {
    assert_eq!(
        parsed(b"event: a\ndata: {\"ha\nevent: error\ndata: {}\n\n"),
        [cut(Some("a"), "{\"ha"), whole(Some("error"), "{}")]
    );
    assert_eq!(parsed(b"event: a\nevent: error\ndata: {}\n\n"), [whole(Some("error"), "{}")]);
}

#[test]
fn invalid_utf_8_becomes_replacement_characters_only_where_it_stands() {
    assert_eq!(parsed(b"data: a\xffb\xc3\xa9\n\n"), [whole(None, "a\u{fffd}bé")]);
}

#[test]
fn too_long_lines_and_events_are_refused_however_they_are_cut() {
    let line = [b"data: ".as_slice(), &[b'x'; LIMIT]].concat();
    let lines = b"data: 0123456789\n".repeat(LIMIT / 10);
    for text in [line, lines] {
        assert_eq!(events(&[&text]), Err(EventTooLong { limit: LIMIT }));
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(events(&bytes), Err(EventTooLong { limit: LIMIT }));
    }
}

#[test]
fn events_before_a_too_long_one_are_not_lost() {
    let text = [b"data: 1\n\ndata: ".as_slice(), &[b'x'; LIMIT]].concat();
    let mut found = Vec::new();
    assert!(SseParser::new(LIMIT).push(&text, &mut found).is_err());
    assert_eq!(found, [whole(None, "1")]);
}

proptest! {
    #[test]
    fn any_bytes_cut_anywhere_give_the_same_events(
        lines in proptest::collection::vec("(data: ?|event: |: |id:)?[a-zé🌊]{0,4}(\n|\r\n|\r|\n\n|\r\n\r\n)", 0..12),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
    ) {
        let text = lines.concat();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        at.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for to in at {
            chunks.push(&text.as_bytes()[from..to]);
            from = to;
        }
        chunks.push(&text.as_bytes()[from..]);
        prop_assert_eq!(events(&chunks), events(&[text.as_bytes()]));
    }
}

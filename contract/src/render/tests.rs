use super::*;

#[test]
fn a_whole_file_is_its_raw_text() {
    for text in ["", "one", "one\n", "one\r\ntwo\n\n"] {
        let total = u32::try_from(text.lines().count()).unwrap();
        assert_eq!(page(text, 1, total, false), text);
    }
}

#[test]
fn a_part_says_its_lines_and_where_to_read_on() {
    assert_eq!(page("b\nc", 2, 9, false), "b\nc\n[lines 2-3 of 9; read on with first_line=4]");
    assert_eq!(page("a\n", 1, 3, true), "a\n[lines 1-1 of 3; read on with first_line=2]");
    assert_eq!(page("y\nz\n", 8, 9, false), "y\nz\n[lines 8-9 of 9]");
    assert_eq!(page("aaaa", 1, 1, true), "aaaa\n[lines 1-1 of 1; the last line is cut]");
    assert_eq!(page("", 12, 9, false), "[no line from 12 on; the file has 9 lines]");
    assert_eq!(page("x", u32::MAX, u32::MAX, false), format!("x\n[lines {0}-{0} of {0}]", u32::MAX));
}

#[test]
fn a_listing_shows_kinds_and_sizes() {
    let entries = [
        ("a.txt", EntryKind::File(7)),
        ("src", EntryKind::Directory),
        ("link", EntryKind::Symlink),
        ("pipe", EntryKind::Other),
    ];
    assert_eq!(
        listing(entries, true),
        "a.txt (7 bytes)\nsrc/\nlink (symlink)\npipe (neither file nor directory)\n[cut here: the directory holds more]"
    );
    assert_eq!(listing([], false), "the directory is empty");
}

#[test]
fn found_paths_and_hits_are_one_a_line_with_what_was_left_out() {
    assert_eq!(paths(["a", "b/c"], false, ""), "a\nb/c");
    assert_eq!(
        paths([], false, "2 directories could not be read"),
        "no file matches\n[2 directories could not be read]"
    );
    assert_eq!(hits([("a.rs", 3, "  let x;"), ("b:c", 1, "")], false, ""), "a.rs:3:  let x;\nb:c:1:");
    let cut = hits([("a", 1, "x")], true, "1 binary file");
    assert_eq!(cut.lines().count(), 3, "{cut}");
    assert!(cut.ends_with("\n[1 binary file]"), "{cut}");
    assert_eq!(hits([], false, ""), "no line matches");
}

#[test]
fn changes_say_what_is_now_there() {
    assert_eq!(written("a", 0, true, ""), "made `a`: 0 bytes");
    assert_eq!(written("a", 5, false, "mode kept"), "replaced `a`: 5 bytes\n[mode kept]");
    assert_eq!(edited("a", 1), "changed 1 place in `a`");
    assert_eq!(edited("a", 4), "changed 4 places in `a`");
}

#[test]
fn a_finished_program_says_how_it_ended_first() {
    assert_eq!(finished(Some(0), "", false, ""), "exit code: 0");
    assert_eq!(finished(Some(101), "no\n", false, ""), "exit code: 101\nno\n");
    let text = finished(None, "part", true, "ended after 5 ms");
    assert_eq!(
        text,
        "ended by a signal\npart\n[the output was cut: its head and tail are shown]\n[ended after 5 ms]"
    );
}

#[test]
fn a_document_says_where_it_came_from() {
    assert_eq!(
        document("https://example.org/", 404, "text/html", "gone", true),
        "url: https://example.org/\nstatus: 404\ncontent type: text/html\n\ngone\n[cut here: the page is longer]"
    );
}

use super::*;

#[test]
fn a_whole_file_is_its_raw_text() {
    for text in ["one", "one\n", "one\r\ntwo\n\n"] {
        let total = u32::try_from(text.lines().count()).unwrap();
        assert_eq!(page(text, 1, total, total, ""), text);
    }
    assert_eq!(page("", 1, 0, 0, ""), "[the file is empty]");
}

#[test]
fn a_part_says_its_lines_and_where_to_read_on() {
    assert_eq!(page("b\nc", 2, 3, 9, ""), "b\nc\n[lines 2-3 of 9; read on with first_line=4]");
    assert_eq!(page("y\nz\n", 8, 9, 9, ""), "y\nz\n[lines 8-9 of 9]");
    assert_eq!(page("aa", 1, 1, 1, "line 1 is cut"), "aa\n[line 1 is cut]");
    let last = u32::MAX;
    assert_eq!(page("x", last, last, last, ""), format!("x\n[lines {last}-{last} of {last}]"));
}

#[test]
fn a_listing_shows_kinds_and_sizes() {
    let entries = [
        ("a.txt", EntryKind::File(7)),
        ("src", EntryKind::Directory),
        ("link", EntryKind::Symlink),
        ("pipe", EntryKind::Other),
    ];
    let whole = "a.txt (7 bytes)\nsrc/\nlink (symlink)\npipe (neither file nor directory)";
    assert_eq!(listing(entries, false), whole);
    let cut = listing(entries, true);
    assert!(cut.starts_with(whole) && cut.contains("\n[cut after 4 entries; "), "{cut}");
    assert_eq!(listing([], false), "[the directory is empty]");
}

#[test]
fn found_paths_and_hits_are_one_a_line_with_what_was_left_out() {
    assert_eq!(paths(["a", "b/c"], false, ""), "a\nb/c");
    let none = paths([], false, "2 directories could not be read");
    assert!(
        none.starts_with("[no file matches") && none.ends_with("\n[2 directories could not be read]"),
        "{none}"
    );
    assert_eq!(hits([("a.rs", 3, "  let x;"), ("b:c", 1, "")], false, ""), "a.rs:3:  let x;\nb:c:1:");
    let cut = hits([("a", 1, "x")], true, "1 binary file");
    assert_eq!(cut.lines().count(), 3, "{cut}");
    assert!(cut.contains("[cut after 1 lines") && cut.ends_with("\n[1 binary file]"), "{cut}");
    assert!(hits([], false, "").starts_with("[no line matches"));
}

#[test]
fn changes_say_what_is_now_there() {
    assert_eq!(written(0, true, ""), "made the file, 0 bytes");
    assert_eq!(written(5, false, "mode kept"), "replaced the content of the file, 5 bytes; mode kept");
    assert_eq!(edited(1), "changed 1 place");
    assert_eq!(edited(4), "changed 4 places");
}

#[test]
fn a_finished_program_says_how_it_ended_first() {
    assert_eq!(finished(Some(0), "", ""), "exit code: 0\n(no output)");
    assert_eq!(finished(Some(101), "no\n", ""), "exit code: 101\nno\n");
    assert_eq!(finished(None, "part", "killed"), "exit code: none\npart\n[killed]");
}

#[test]
fn a_document_says_where_it_came_from() {
    let text = document("https://example.org/", 404, "text/html", "gone", true);
    assert_eq!(text, format!("https://example.org/ (404, text/html)\n\ngone{CUT_PAGE}"));
    assert_eq!(document("http://h/", 200, "", "x", false), "http://h/ (200, no content type)\n\nx");
}

//! Several sources in one list.

use super::*;

fn layer(place: &str, files: &[(&str, &str)]) -> Found {
    let read = |(name, text): &(&str, &str)| {
        let path = Path::new(place).join(name);
        read(&path, text.as_bytes(), &Rules::new(Format::ClaudeAgents))
    };
    Found { files: files.iter().map(read).collect(), notes: vec![] }
}

const FIRST: &str = "---\nname: Gull\ndescription: first\ntools: Read\n---\nx";
const SECOND: &str = "---\nname: gull\ndescription: second\ntools: Read, Bash\n---\nx";
const BROKEN: &str = "---\nname: gull\ndescription: third\ntools: '*'\n---\nx";

#[test]
fn the_first_of_a_name_counts_and_a_note_names_both_files() {
    let merged =
        merge([layer("project", &[("a.md", FIRST)]), layer("user", &[("b.md", SECOND), ("c.md", BROKEN)])]);
    assert_eq!(merged.files.len(), 2);
    assert_eq!(merged.files[0].as_ref().unwrap().description, "first");
    assert!(merged.files[1].is_err());
    let message =
        "two agents are called `gull`: project/a.md counts, user/b.md is left out; rename one of them"
            .to_owned();
    let files = vec!["project/a.md".into(), "user/b.md".into()];
    assert_eq!(merged.notes, [Note { files, message }]);
}

#[test]
fn a_refused_file_lets_the_next_of_its_name_through_with_a_note() {
    let merged = merge([layer("project", &[("a.md", BROKEN)]), layer("user", &[("b.md", SECOND)])]);
    assert_eq!(merged.files.iter().filter(|file| file.is_ok()).count(), 1);
    assert!(
        merged.notes[0].message.contains("project/a.md") && merged.notes[0].message.contains("user/b.md"),
        "{:?}",
        merged.notes
    );
}

#[test]
fn one_directory_may_name_an_agent_twice() {
    let merged = merge([layer("project", &[("a.md", FIRST), ("b.md", SECOND)])]);
    assert_eq!((merged.files.len(), merged.notes.len()), (1, 1));
}

//! What is found in a directory, and what is refused there.

use std::fs;

use super::*;

const SOUND: &str = "---\ndescription: x\ntools: Read\n---\ny";

fn ids(found: &Found) -> Vec<(String, bool)> {
    let id = |file: &Result<AgentFile, Refused>| match file {
        Ok(agent) => (agent.id.clone(), true),
        Err(refused) => (refused.id.clone(), false),
    };
    found.files.iter().map(id).collect()
}

fn expect(found: &Found, wanted: &[(&str, bool)]) {
    let wanted: Vec<_> = wanted.iter().map(|(id, loaded)| ((*id).to_owned(), *loaded)).collect();
    assert_eq!(ids(found), wanted, "{found:#?}");
}

#[test]
fn the_first_level_is_read_in_order_and_nothing_vanishes() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("owl.md", SOUND), ("Crane.MD", SOUND), ("notes.txt", "x"), ("README.md", "# Birds")]
    {
        fs::write(dir.path().join(name), text).unwrap();
    }
    fs::write(dir.path().join("latin.md"), b"---\ndescription: \xe9\n---\n").unwrap();
    fs::write(dir.path().join("huge.md"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
    fs::create_dir_all(dir.path().join("below")).unwrap();
    fs::write(dir.path().join("below/deep.md"), SOUND).unwrap();
    fs::create_dir(dir.path().join("dir.md")).unwrap();
    let found = discover(dir.path(), &Rules::new(Format::Subagents));
    expect(
        &found,
        &[
            ("Crane", true),
            ("README", false),
            ("dir", false),
            ("huge", false),
            ("latin", false),
            ("owl", true),
        ],
    );
}

#[test]
fn a_directory_that_is_not_there_holds_nothing_and_a_file_is_a_refusal() {
    let dir = tempfile::tempdir().unwrap();
    let rules = Rules::new(Format::ClaudeAgents);
    assert_eq!(discover(&dir.path().join("none"), &rules), Found::default());
    fs::write(dir.path().join("agents"), "x").unwrap();
    expect(&discover(&dir.path().join("agents"), &rules), &[("agents", false)]);
}

#[cfg(unix)]
#[test]
fn links_pipes_and_odd_names_are_refused_without_waiting() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let dir = tempfile::tempdir().unwrap();
    let agents = dir.path().join("agents");
    fs::create_dir(&agents).unwrap();
    fs::write(agents.join("owl.md"), SOUND).unwrap();
    fs::write(dir.path().join("outside.md"), SOUND).unwrap();
    symlink("owl.md", agents.join("alias.md")).unwrap();
    symlink("../outside.md", agents.join("out.md")).unwrap();
    symlink("nowhere.md", agents.join("broken.md")).unwrap();
    symlink("loop.md", agents.join("loop.md")).unwrap();
    fs::write(agents.join(std::ffi::OsStr::from_bytes(b"\xff.md")), SOUND).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(agents.join("pipe.md")).status().unwrap().success());
    let found = discover(&agents, &Rules::new(Format::Subagents));
    expect(
        &found,
        &[
            ("alias", true),
            ("broken", false),
            ("loop", false),
            ("out", false),
            ("owl", true),
            ("pipe", false),
            ("\u{fffd}", false),
        ],
    );
}

#[test]
fn a_component_belongs_to_the_file_beside_it_or_stands_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    for name in ["owl.wasm", "named.wasm", "alone.wasm", "broken.wasm"] {
        fs::write(path(name), b"\0asm").unwrap();
    }
    fs::write(path("Owl.md"), SOUND).unwrap();
    fs::write(path("jay.md"), "---\ndescription: x\ncomponent: named.wasm\n---\n").unwrap();
    fs::write(path("broken.md"), "---\ndescription: x\ntools: '*'\n---\n").unwrap();
    let found = discover(dir.path(), &Rules::new(Format::Subagents));
    expect(&found, &[("Owl", true), ("broken", false), ("jay", true), ("alone", true)]);
    assert_eq!(found.files[0].as_ref().unwrap().component, Some(path("owl.wasm")));
    let alone = found.files[3].as_ref().unwrap();
    assert_eq!((alone.component.clone(), alone.description.as_str()), (Some(path("alone.wasm")), ""));
    assert_eq!(alone.tools, DeclaredTools::Named(vec![]));
    assert!(found.notes.len() == 1 && found.notes[0].message.contains("broken.md"), "{:?}", found.notes);
    let found = discover(dir.path(), &Rules::new(Format::ClaudeAgents));
    expect(&found, &[("Owl", true), ("broken", false), ("jay", true)]);
}

#[test]
fn the_bytes_that_are_read_are_shown_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("owl.md"), SOUND).unwrap();
    fs::write(dir.path().join("README.md"), "# Birds").unwrap();
    let mut seen = Vec::new();
    let found = discover_with(dir.path(), &Rules::new(Format::Subagents), |path, bytes| {
        seen.push((path.to_owned(), bytes.to_owned()));
    });
    let shown = |name: &str, text: &str| (dir.path().join(name), text.as_bytes().to_owned());
    assert_eq!(seen, [shown("README.md", "# Birds"), shown("owl.md", SOUND)]);
    assert_eq!(found, discover(dir.path(), &Rules::new(Format::Subagents)));
}

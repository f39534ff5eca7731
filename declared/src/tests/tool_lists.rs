//! The `tools` and `disallowed_tools` keys.

use super::*;

#[test]
fn no_key_inherits_and_every_form_of_nothing_is_none() {
    assert_eq!(with("").unwrap().tools, DeclaredTools::Inherit);
    for nothing in [
        "tools:",
        "tools: ",
        "tools: none",
        "tools: None",
        "tools: [none]",
        "tools: []",
        "tools: ''",
        "tools: ~",
        "tools: {}",
        "Tools:",
        "allowed-tools:",
        "tools: \",\"",
        "tools:\n  bash: false",
        "tools:\n  -",
    ] {
        assert_eq!(named(nothing), Vec::<String>::new(), "{nothing}");
        assert_eq!(with(nothing).unwrap().tools_raw, Some(vec![]), "{nothing}");
    }
}

#[test]
fn lists_of_all_forms_are_read() {
    let three = ["read_file", "grep_files", "list_files"];
    for keys in [
        "tools: read_file,grep , list_dir,",
        "tools: [Read, Grep, LS]",
        "tools:\n  - Read\n  - Grep\n  - LS",
        "tools:\n- read\n- grep, ls",
        "tools: \"Read, Grep, LS\"",
        "tools: Read Grep LS",
        "tools: Read,\n  Grep, LS",
        "tools:\n  read: true\n  bash: off\n  grep: Yes\n  ls: on",
        "allowedTools:\n  - Read\n  - Grep\n  - LS",
    ] {
        assert_eq!(named(keys), three, "{keys}");
    }
}

#[test]
fn patterns_and_strangers_are_kept_as_text_and_never_given() {
    let agent =
        with("tools: ['Read', 'birds/*', \"Grep\", mcp__nest__look, Bash(git log:*, git show:*), '*']")
            .unwrap();
    assert_eq!(
        agent.tools_raw.as_deref().unwrap(),
        ["Read", "birds/*", "Grep", "mcp__nest__look", "Bash(git log:*,git show:*)", "*"]
    );
    assert_eq!(agent.tools, DeclaredTools::Named(vec!["read_file".into(), "grep_files".into()]));
    let said = warnings(&agent);
    for name in ["`birds/*`", "`mcp__nest__look`", "`Bash(git log:*,git show:*)`", "`*`"] {
        assert!(said.contains(name), "{said}");
    }
}

#[test]
fn names_inside_parentheses_are_no_tools() {
    assert_eq!(named("tools: [Agent(Bash, Write), Read]"), ["read_file"]);
    assert_eq!(named("tools: Agent(Bash, Write), Read"), ["read_file"]);
}

#[test]
fn keys_in_the_disguises_of_yaml_are_read_or_refused() {
    assert_eq!(named("base: &b [Read]\ntools: *b"), ["read_file"]);
    for keys in [
        "? tools\n: [Read]",
        "more: x: y\n? tools\n: [Read]",
        "&t tools: Read\nx: y: z",
        "!!str tools: Read\nx: y: z",
    ] {
        assert!(with(keys).is_err(), "{keys}");
    }
    assert!(subagent("---\n{description: a: b, tools: Read}\n---\nx").is_err());
    assert!(subagent("---\n- description: a\n- tools: Read\n---\nx").is_err());
}

#[test]
fn a_list_without_one_known_tool_is_refused_with_its_names() {
    let said = refusal("tools: Wirte, Golb");
    assert!(
        said.contains("`Wirte` (did you mean `write_file`?), `Golb` (did you mean `find_files`?)"),
        "{said}"
    );
    for keys in ["tools: '*'", "tools: all", "tools: Task", "tools: Bash(git:*)", "tools: inherit"] {
        assert!(refusal(keys).contains("heron.md:3: `tools`: expected at least one tool"), "{keys}");
    }
}

#[test]
fn lists_that_are_none_are_refused() {
    for keys in [
        "tools: true",
        "tools: 3",
        "tools: none, Read",
        "tools:\n  read: ask",
        "tools: [[Read]]",
        "tools: *",
        "tools:\n  - Bash: 'git *'",
        "tools: Read\ntools: Bash",
        "tools: Read\nallowed_tools: Bash",
        "tools: [Read",
        "tolls: Read",
        "tools: [Agent(Read, Bash, Write]",
        "<<: {tools: Read}",
    ] {
        assert!(with(keys).is_err(), "{keys}");
    }
}

#[test]
fn strict_reading_refuses_what_else_is_a_warning() {
    let strict = |keys: &str| {
        let text = format!("---\ndescription: x\n{keys}\n---\ny");
        read(Path::new("heron.md"), text.as_bytes(), &Rules { strict: true, ..Rules::new(Format::Subagents) })
    };
    for keys in ["tools: Read, Frobnicate", "nest: 3", "background: true", "tools: Read, Bash(ls:*)"] {
        assert!(with(keys).is_ok_and(|agent| !agent.warnings.is_empty()), "{keys}");
        assert_eq!(strict(keys).unwrap_err().line, Some(3), "{keys}");
    }
    assert!(strict("color: teal\ntools: Read").is_ok());
}

#[test]
fn denied_tools_are_taken_out_and_kept_for_those_who_inherit() {
    assert_eq!(named("tools: Read, Write, Bash\ndisallowedTools: Bash"), ["read_file", "write_file"]);
    let agent = with("disallowed_tools: [Bash(rm:*), mcp__nest__*]").unwrap();
    assert_eq!(agent.tools, DeclaredTools::Inherit);
    assert_eq!(agent.disallowed_tools, ["run_command", "run_program"]);
    assert!(warnings(&agent).contains("withheld as a whole"));
}

#[test]
fn a_denial_that_may_be_a_slip_is_refused() {
    assert!(refusal("disallowed_tools: run_comand").contains("did you mean `run_command`?"));
    for keys in [
        "disallowed_tools: '*'",
        "disallowed_tools: true",
        "disalowed_tools: Bash",
        "disallowed_tools: [a: b]",
    ] {
        assert!(with(keys).is_err(), "{keys}");
    }
}

#[test]
fn tools_of_the_host_count_where_they_are_made_known() {
    let rules = Rules { more_tools: vec!["ring_bird".into()], ..Rules::new(Format::Subagents) };
    let text = "---\ndescription: x\ntools: ring_bird, subagent_scout\n---\ny";
    let agent = read(Path::new("heron.md"), text.as_bytes(), &rules).unwrap();
    assert_eq!(agent.tools, DeclaredTools::Named(vec!["ring_bird".into(), "subagent_scout".into()]));
    assert!(refusal("tools: ring_bird").contains("`ring_bird`"));
}

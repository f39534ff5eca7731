//! The outer form of files: marks, line ends, fences, and front matter that is no YAML.

use super::*;

#[test]
fn a_byte_order_mark_is_no_part_of_anything() {
    let agent = claude("\u{feff}---\nname: wader\ndescription: Stands still\n---\nStand.\n").unwrap();
    assert_eq!((agent.id.as_str(), agent.prompt.as_str()), ("wader", "Stand."));
    assert_eq!(agent.warnings, []);
}

#[test]
fn mixed_line_ends_are_line_ends() {
    let agent =
        claude("---\r\nname: wader\ndescription: 'Both kinds'\r\ntools: Read, Glob\n---\r\n\r\nOne.\r\nTwo.")
            .unwrap();
    assert_eq!(agent.tools, DeclaredTools::Named(vec!["read_file".into(), "find_files".into()]));
    assert_eq!(agent.prompt, "One.\nTwo.");
}

#[test]
fn a_key_without_a_space_is_refused_at_its_line() {
    for line in
        ["tools:Read", "tools：Read", "tools = Read", " tools: Read", "  tools:Read", "permission:deny-all"]
    {
        let refused = with(line).unwrap_err();
        assert_eq!(refused.line, Some(3), "{line}: {refused}");
        assert!(refused.to_string().starts_with("subagents/heron.md:3: expected"), "{refused}");
    }
}

#[test]
fn a_dialogue_in_one_line_is_the_description_and_later_keys_are_read() {
    let agent = claude(
        "---\nname: wader\ndescription: Use after a count. Examples:\\n\\nContext: dusk\\nuser: \"I saw 3: all grey\"\\n\
         assistant: \"Noted.\"\nmodel: tiny\ntools: Read, Grep\n---\nCount.\n",
    )
    .unwrap();
    assert!(
        agent.description.contains("I saw 3: all grey")
            && agent.description.contains("\\nassistant: \"Noted.\"")
    );
    assert_eq!(agent.model.as_deref(), Some("tiny"));
    assert_eq!(agent.tools, DeclaredTools::Named(vec!["read_file".into(), "grep_files".into()]));
    assert!(warnings(&agent).contains("not strict YAML"));
}

#[test]
fn a_dialogue_over_many_lines_is_the_description_too() {
    let agent = claude(
        "---\nname: wader\ndescription: Use it. Examples:\n\n<example>\nuser: \"one: two\"\nassistant: \"x\"\nuser: \"y\"\n\
         </example>\ncolor: teal\ntools:\n  - Read\n---\nCount.\n",
    )
    .unwrap();
    assert!(agent.description.starts_with("Use it.") && agent.description.ends_with("</example>"));
    assert_eq!(agent.tools, DeclaredTools::Named(vec!["read_file".into()]));
}

#[test]
fn yaml_in_a_code_block_further_down_is_no_front_matter() {
    let refused =
        claude("# Board\n\nText.\n\n```yaml\n---\nname: ghost\ntools: Bash\n---\n```\n").unwrap_err();
    assert_eq!((refused.id.as_str(), refused.line), ("heron", Some(1)));
    assert!(refused.to_string().contains("heron.md:1: no front matter at the top"), "{refused}");
    assert!(claude("# Heron\n\n## Description\n\nA bird.\n").is_err());
}

#[test]
fn a_file_indented_as_a_whole_is_read_with_a_warning() {
    let agent =
        claude("\n    ---\n    name: wader\n    description: Set off \n    tools: Read\n    ---\n    \n    Count.\n\n        code\n")
            .unwrap();
    assert_eq!((agent.id.as_str(), agent.description.as_str()), ("wader", "Set off"));
    assert_eq!(agent.prompt.lines().last(), Some("    code"));
    assert!(warnings(&agent).contains("indented by 4 columns"));
}

#[test]
fn rules_in_the_body_are_body() {
    let agent = with("").map(|agent| agent.prompt).unwrap();
    assert_eq!(agent, "Count them.");
    let agent = subagent("---\ndescription: x\n---\n# A\n\n---\n\nb\n\n---\nend\n").unwrap();
    assert_eq!(agent.prompt, "# A\n\n---\n\nb\n\n---\nend");
}

#[test]
fn a_number_sign_in_a_description_is_text_and_in_a_list_a_comment() {
    let agent =
        subagent("---\ndescription: Sorts nest #4 and #7 for all\ntools: Read # no more\n---\nSort.\n")
            .unwrap();
    assert_eq!(agent.description, "Sorts nest #4 and #7 for all");
    assert_eq!(agent.tools, DeclaredTools::Named(vec!["read_file".into()]));
}

#[test]
fn a_block_text_may_speak_of_tools() {
    let agent = subagent("---\ndescription: |\n  Does this:\n  tools: all of them\n---\nDo.\n").unwrap();
    assert_eq!(agent.description, "Does this:\n  tools: all of them".replace("\n  ", "\n"));
    assert_eq!(agent.tools, DeclaredTools::Inherit);
}

#[test]
fn bytes_that_are_no_text_are_refused_at_their_line() {
    let bytes = b"---\ndescription: caf\xe9\n---\n";
    let refused = read(Path::new("a/b.md"), bytes, &Rules::new(Format::Subagents)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a/b.md:2: expected UTF-8 text, found other bytes: save the file as UTF-8"
    );
}

#[test]
fn bombs_of_nesting_and_aliases_end_in_a_refusal() {
    let deep = format!("tools: {}", "[".repeat(50_000));
    let mut aliases = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (one, next) in ('a'..'k').zip('b'..'l') {
        aliases +=
            &format!("{next}: &{next} [*{one}, *{one}, *{one}, *{one}, *{one}, *{one}, *{one}, *{one}]\n");
    }
    assert!(with(&deep).is_err());
    assert!(with(&format!("{aliases}tools: *k")).is_err());
    assert!(with("<<: {tools: Read}").is_err());
}

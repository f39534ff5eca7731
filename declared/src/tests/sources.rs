//! Where a prompt comes from, and sources that contradict each other.

use std::path::PathBuf;

use super::*;

#[test]
fn a_definition_directory_counts_before_the_text() {
    let agent = with("workspace:\n  path: ./nests/heron").unwrap();
    assert_eq!(
        (agent.workspace_path.clone(), agent.prompt.as_str()),
        (Some(PathBuf::from("./nests/heron")), "")
    );
    assert_eq!(agent.warnings.len(), 1);
    assert!(agent.warnings[0].line == Some(6) && agent.warnings[0].message.contains("ignored"));
    let quiet = subagent("---\ndescription: x\nworkspace: {path: ./nests}\n---\n\n").unwrap();
    assert_eq!(quiet.warnings, []);
}

#[test]
fn a_remote_agent_cannot_be_declared_in_a_file() {
    for keys in ["url: http://birds.example", "url: http://birds.example\nworkspace: {path: x}", "url: a: b"]
    {
        assert!(refusal(keys).contains("`url`"), "{keys}");
    }
}

#[test]
fn a_file_without_text_says_so() {
    assert!(warnings(&subagent("---\ndescription: x\n---\n").unwrap()).contains("no instructions"));
    assert_eq!(subagent("---\ndescription: x\ncomponent: a.wasm\n---\n").unwrap().warnings, []);
}

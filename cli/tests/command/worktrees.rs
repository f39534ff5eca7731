//! Worktrees through the binary: a run leaves work in one, and a person lists, shows, applies and discards it.

use std::process::Command;

use serde_json::json;

use crate::deputy::Deputy;

/// A workspace that is a repository with one commit.
fn repository() -> Deputy {
    let deputy = Deputy::new().file("tide.txt", "low\n");
    for arguments in [&["init", "-q"][..], &["add", "tide.txt"], &["commit", "-qm", "first"]] {
        let done = Command::new("git")
            .arg("-C")
            .arg(deputy.path("."))
            .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(arguments)
            .status()
            .unwrap();
        assert!(done.success());
    }
    deputy
}

/// `general` works in one where nothing else is set.
const IN_A_WORKTREE: [&str; 5] = ["--allow", "write_file", "--output", "json", "go"];

#[test]
fn work_left_in_a_worktree_is_listed_shown_applied_and_discarded() {
    let deputy = repository();
    let steps = json!([
        {"speaker": "parent", "calls": [{"tool": "subagent_general", "arguments": {"task": "go"}}]},
        {"speaker": "general", "calls": [{"tool": "write_file", "arguments": {"path": "tide.txt", "content": "high\n"}}]},
        {"speaker": "general", "answer": "written"},
        {"speaker": "parent", "take": {"last": "(?s).*"}, "answer": "{{last}}"},
    ]);
    let ended = deputy.scripted(&steps, &IN_A_WORKTREE).exits(0).json();
    let id = ended["handoffs"][0]["worktree"].as_str().unwrap_or_else(|| panic!("{ended}")).to_owned();
    let tide = || std::fs::read_to_string(deputy.path("tide.txt")).unwrap();
    assert_eq!(tide(), "low\n");

    let listed = deputy.run(&["worktrees", "--json"]).exits(0).json();
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&json!(id), &json!("has_work")));
    let shown = deputy.run(&["worktrees", "diff", &id]).exits(0);
    assert!(shown.stdout.contains("-low") && shown.stdout.contains("+high"), "{shown:?}");
    deputy.run(&["worktrees", "apply", &id]).exits(0);
    assert_eq!(tide(), "high\n");
    deputy.run(&["worktrees", "discard", &id]).exits(0);
    assert_eq!(deputy.run(&["worktrees", "--json"]).exits(0).json(), json!([]));
    let unknown = deputy.run(&["worktrees", "discard", &id]);
    assert!(unknown.code != 0 && unknown.stderr.contains(&id), "{unknown:?}");
}

#[test]
fn without_a_repository_the_delegation_fails_and_the_main_directory_stays_as_it_is() {
    let deputy = Deputy::new().file("tide.txt", "low\n");
    let steps = json!([
        {"speaker": "parent", "calls": [{"tool": "subagent_general", "arguments": {"task": "go"}}]},
        {"speaker": "parent", "take": {"last": "(?s).*"}, "answer": "{{last}}"},
    ]);
    let ended = deputy.scripted(&steps, &IN_A_WORKTREE).exits(0).json();
    assert_eq!(ended["handoffs"][0]["status"], "failed");
    assert!(ended["answer"].as_str().unwrap().contains("in a git repository"), "{ended}");
    assert_eq!(std::fs::read_to_string(deputy.path("tide.txt")).unwrap(), "low\n");
}

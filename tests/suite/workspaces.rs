//! Where subagents work: what is not in a run's directory is absent for it, on every route.

use deputy::model::ModelError;
use deputy::workspace::WorkspaceMode;
use serde_json::json;

use crate::support::{FnModel, answer, calls, host, output, react, says, telling};

/// Each agent lists its directory and hands on; the last one says what all of them saw.
fn lists_and_hands_on() -> std::sync::Arc<FnModel> {
    FnModel::new(|request, last| {
        let next = match request.speaker {
            "parent" => Some("subagent_own"),
            "own" => Some("subagent_deeper"),
            _ => None,
        };
        let seen = || {
            let entries = request.history.entries();
            entries.iter().find_map(|entry| match entry.message() {
                deputy::history::Message::Tool(result) => Some(result.text.clone()),
                _ => None,
            })
        };
        match (request.history.entries().len(), next) {
            (1, _) => calls(&[("list_files", json!({"path": "."}))]),
            (3, Some(tool)) => calls(&[(tool, json!({"task": "t"}))]),
            (3, None) => says(last),
            (_, Some(_)) => says(&format!("{} saw {}; {}", request.speaker, seen().unwrap(), output(last))),
            _ => Err(ModelError::Protocol { reason: "no".to_owned() }),
        }
    })
}

#[tokio::test]
async fn an_isolated_subagent_and_what_it_delegates_to_see_its_directory_alone() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("secret.txt"), "x").unwrap();
    let own = directory.path().join("agents/own/workspace");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("note.txt"), "x").unwrap();
    let host = telling(host(lists_and_hands_on()))
        .handoff_policy(deputy::governance::HandoffPolicy {
            max_depth: 2,
            ..deputy::governance::HandoffPolicy::telling_the_model()
        })
        .workspace(directory.path())
        .subagent(react("own").tools(["list_files", "subagent_deeper"]).workspace(WorkspaceMode::Isolated))
        // Shared is the directory of whoever delegates, never one above it.
        .subagent(react("deeper").tools(["list_files"]))
        .build()
        .unwrap();
    let told = answer(&host, "t").await;
    let (parent, below) = told.split_once("; own saw ").unwrap();
    assert!(parent.contains("secret.txt"), "{told}");
    assert!(below.matches("note.txt").count() == 2 && !below.contains("secret.txt"), "{told}");
}

#[tokio::test]
async fn a_directory_that_cannot_be_had_fails_the_delegation_and_nothing_runs_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_worker", json!({"task": "t"}))]),
        ("parent", _) => says(last),
        _ => panic!("it ran"),
    });
    for mode in [
        WorkspaceMode::Inside("../".into()),
        WorkspaceMode::Inside("missing".into()),
        WorkspaceMode::At(directory.path().join("missing")),
    ] {
        let worker = react("worker").workspace(mode);
        let host = telling(host(model.clone())).workspace(directory.path()).subagent(worker).build().unwrap();
        let told = answer(&host, "t").await;
        assert!(told.contains("\"status\":\"failed\""), "{told}");
    }
}

/// A repository with one commit.
fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("log.txt"), "calm\n").unwrap();
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "first"]] {
        git(directory.path(), arguments);
    }
    directory
}

fn git(at: &std::path::Path, arguments: &[&str]) {
    let done = std::process::Command::new("git")
        .current_dir(at)
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// A worker that writes `log.txt`, or only reads it; a parent that says what came back.
fn writes(something: bool) -> std::sync::Arc<FnModel> {
    FnModel::new(move |request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_worker", json!({"task": "t"}))]),
        ("worker", 1) if something => {
            calls(&[("write_file", json!({"path": "log.txt", "content": "storm </system>\n"}))])
        }
        ("worker", 1) => calls(&[("read_file", json!({"path": "log.txt"}))]),
        _ => says(last),
    })
}

fn in_a_worktree(at: &std::path::Path, something: bool) -> deputy::host::Host {
    let worker = react("worker").tools(["write_file", "read_file"]).workspace(WorkspaceMode::Worktree);
    telling(host(writes(something)))
        .workspace(at)
        .policy(deputy::governance::Policy::default().allow("write_file"))
        .subagent(worker)
        .build()
        .unwrap()
}

#[tokio::test]
async fn work_in_a_worktree_comes_back_as_a_diff_and_leaves_the_main_directory_alone() {
    let main = repository();
    let result: serde_json::Value =
        serde_json::from_str(&answer(&in_a_worktree(main.path(), true), "t").await).unwrap();
    assert_eq!(std::fs::read_to_string(main.path().join("log.txt")).unwrap(), "calm\n");
    let worktree = &result["worktree"];
    assert_eq!((&worktree["changed_files"], &worktree["files"][0]["path"]), (&json!(1), &json!("log.txt")));
    let diff = worktree["diff"].as_str().unwrap();
    assert!(diff.contains("-calm") && diff.contains("+storm") && !diff.contains("</system>"), "{diff}");
    let id = worktree["id"].as_str().unwrap();
    let worktrees = deputy::worktree::Worktrees::open(main.path()).await.unwrap();
    worktrees.apply(id).await.unwrap();
    assert_eq!(std::fs::read_to_string(main.path().join("log.txt")).unwrap(), "storm </system>\n");
    worktrees.discard(id).await.unwrap();
    assert!(worktrees.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_untouched_worktree_is_gone_and_its_result_says_nothing_of_it() {
    let main = repository();
    let result: serde_json::Value =
        serde_json::from_str(&answer(&in_a_worktree(main.path(), false), "t").await).unwrap();
    assert!(result["output"].as_str().unwrap().contains("calm") && result["worktree"].is_null(), "{result}");
    let worktrees = deputy::worktree::Worktrees::open(main.path()).await.unwrap();
    assert!(worktrees.list().await.unwrap().is_empty());
}

#[tokio::test]
async fn where_there_is_no_repository_the_delegation_fails_and_writes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let told = answer(&in_a_worktree(directory.path(), true), "t").await;
    assert!(told.contains("\"status\":\"failed\"") && told.contains("in a git repository"), "{told}");
    assert!(!directory.path().join("log.txt").exists());
}

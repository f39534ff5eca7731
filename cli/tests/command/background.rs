//! Agents in the background of `deputy run`: recorded in the workspace, seen from another process, and lost by no kill.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use deputy_task::{SqliteTaskStore, TaskFilter, TaskRecord, TaskStatus, TaskStore as _, now_ms};
use serde_json::{Value, json};

use crate::deputy::Deputy;
use crate::server::{Answer, Request, Server, openai_stream};

const SPAWNED: usize = 4;

fn text_of(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

/// A parent's request is one that offers the tools that spawn.
fn is_of_parent(request: &Request) -> bool {
    request.body["tools"].to_string().contains("agent_spawn")
}

/// The ids of the tasks whose results stand in a request, as often as they do.
fn results(request: &Request) -> Vec<String> {
    let messages =
        request.messages().iter().map(text_of).filter(|text| text.starts_with("<subagent-results>"));
    let objects = messages.flat_map(str::lines).filter_map(|line| serde_json::from_str::<Value>(line).ok());
    objects.map(|object| object["task_result"].as_str().unwrap().to_owned()).collect()
}

/// The ids of the tasks that a parent was told had started.
fn acknowledged(request: &Request) -> BTreeSet<String> {
    let told = request.messages().iter().filter(|message| message["role"] == "tool").map(text_of);
    told.flat_map(str::lines).filter_map(|line| line.strip_prefix("task_id: ")).map(str::to_owned).collect()
}

/// What a parent and its agents say: it spawns at first, and answers when it is asked again.
fn said(request: &Request) -> Answer {
    let first = request.messages().iter().filter(|message| message["role"] != "system").count() == 1;
    if is_of_parent(request) && first {
        let calls: Vec<_> = (0..SPAWNED)
            .map(|at| {
                (
                    format!("call_{at}"),
                    json!({"agent_id": "explore", "task": format!("part {at}"), "timeout_seconds": 0}),
                )
            })
            .collect();
        let calls: Vec<_> =
            calls.iter().map(|(id, arguments)| (id.as_str(), "agent_spawn", arguments.clone())).collect();
        return openai_stream("", &calls);
    }
    openai_stream("done", &[])
}

fn arguments(server: &Server) -> [String; 6] {
    ["run", "--model", "openai:m", "--base-url", &format!("{}/v1", server.url), "--quiet"].map(str::to_owned)
}

/// The records of a workspace after every dead process's leases are over.
fn swept(deputy: &Deputy) -> Vec<TaskRecord> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteTaskStore::open(deputy.path(".deputy")).await.unwrap();
        store.sweep(now_ms() + 60_000).await.unwrap();
        let records = store.list(&TaskFilter { limit: 1000, ..TaskFilter::default() }).await.unwrap();
        store.close().await;
        records
    })
}

#[test]
fn tasks_are_recorded_in_the_workspace_and_their_results_come_before_the_answer() {
    let server = Server::start(|request, _| said(request));
    let deputy = Deputy::new().env("OPENAI_API_KEY", "k");
    let arguments = arguments(&server);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["go"]).collect();
    let ended = deputy.run(&arguments).exits(0);
    assert_eq!(ended.stdout.trim(), "done");
    let records = swept(&deputy);
    assert_eq!(records.len(), SPAWNED);
    assert!(
        records.iter().all(|record| record.status == TaskStatus::Completed && record.delivered),
        "{records:?}"
    );
    let last = server.requests().into_iter().rfind(is_of_parent).unwrap();
    assert_eq!(results(&last).len(), SPAWNED);
    let listed = deputy.run(&["tasks", "list", "--json"]).exits(0).json();
    assert_eq!(listed.as_array().unwrap().len(), SPAWNED);
}

#[test]
fn a_run_without_tasks_leaves_no_store() {
    let deputy = Deputy::new();
    deputy.scripted(&json!([{"said": "hi", "answer": "hello"}]), &["hi"]).exits(0);
    assert!(!deputy.path(".deputy").exists());
    let listed = deputy.run(&["tasks", "list", "--json"]).exits(0).json();
    assert_eq!(listed, json!([]));
    assert!(!deputy.path(".deputy").exists());
}

#[test]
fn nothing_acknowledged_is_lost_stuck_or_told_twice_wherever_a_run_is_killed() {
    let (mut continued, mut failed) = (0, 0);
    // Killed at its first request, its second one, and so on, to one that it does not come to.
    for at in 1..=12 {
        let (pid, count) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicUsize::new(0)));
        let victim = pid.clone();
        let server = Server::start(move |request, _| {
            if count.fetch_add(1, Ordering::SeqCst) + 1 == at {
                while victim.load(Ordering::SeqCst) == 0 {
                    std::thread::yield_now();
                }
                let pid = victim.load(Ordering::SeqCst).to_string();
                let kill =
                    std::process::Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).status();
                // One that had ended before leaves the request to a later run.
                if kill.unwrap().success() {
                    return Answer::Silence;
                }
            }
            said(request)
        });
        let deputy = Deputy::new().env("OPENAI_API_KEY", "k");
        let arguments = arguments(&server);
        let first: Vec<&str> = arguments.iter().map(String::as_str).chain(["go"]).collect();
        let mut child = deputy.command(&first).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        pid.store(child.id(), Ordering::SeqCst);
        child.wait().unwrap();

        let told: BTreeSet<String> =
            server.requests().iter().filter(|one| is_of_parent(one)).flat_map(acknowledged).collect();
        if !deputy.path(".deputy/tasks.db").exists() {
            assert!(told.is_empty(), "killed at {at}");
            continue;
        }
        let records = swept(&deputy);
        let ids: BTreeSet<String> = records.iter().map(|record| record.id.to_string()).collect();
        assert!(told.is_subset(&ids), "killed at {at}: {told:?} of {ids:?}");
        assert!(records.iter().all(|record| record.status.is_ended()), "killed at {at}: {records:?}");
        failed += records.iter().filter(|record| record.status == TaskStatus::Failed).count();

        let runs_before = server.requests().len();
        for _ in 0..2 {
            let again: Vec<&str> =
                arguments.iter().map(String::as_str).chain(["--continue", "go on"]).collect();
            if deputy.run(&again).code != 0 {
                // It was killed before there was a conversation: nobody was told of a task.
                assert!(told.is_empty(), "killed at {at}");
                break;
            }
            continued += 1;
            let last = server.requests().into_iter().rfind(is_of_parent).unwrap();
            let mut delivered = results(&last);
            delivered.sort();
            assert_eq!(delivered, ids.iter().cloned().collect::<Vec<_>>(), "killed at {at}: each once");
            assert!(swept(&deputy).iter().all(|record| record.delivered), "killed at {at}");
        }
        let after = &server.requests()[runs_before..];
        assert!(after.iter().all(is_of_parent), "killed at {at}: a dead task ran again");
    }
    assert!(continued > 8 && failed > 4, "{continued} continued, {failed} failed tasks");
}

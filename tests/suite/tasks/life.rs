//! A task ends in one way, is stopped for good, and is never left running by anybody.

use std::sync::Arc;

use deputy::event::RunStatus;
use deputy::governance::PurseLimits;
use deputy::host::{Continue, RunRequest};
use deputy::ids::SessionId;
use deputy::task::{NewTask, Owner, Placement, TaskId, TaskStatus, TaskStore as _, now_ms};
use serde_json::json;

use super::{field, records, statuses, with_store};
use crate::support::{FnModel, GatedModel, Gates, calls, says};

#[tokio::test]
async fn a_wait_that_runs_out_leaves_the_task_running_and_a_later_one_finds_its_result() {
    let gates = Gates::shut(&["ann"]);
    let gate = gates.clone();
    let model = GatedModel::new(&gates, move |request, last| {
        match (request.speaker, request.history.entries().len()) {
            ("ann", _) => says("found"),
            (_, 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x", "timeout_seconds": 0}))])
            }
            (_, 3) => calls(&[("task_output", json!({"task_id": field(last, "task_id"), "timeout": 20}))]),
            (_, 5) => {
                assert!(last.contains("has not ended after 20 ms"), "{last}");
                gate.open("ann", 1);
                calls(&[("task_output", json!({"task_id": field(last, "task_id")}))])
            }
            _ => says(last),
        }
    });
    let (builder, store) = with_store(model);
    let report = builder.build().unwrap().run("go").await;
    assert!(report.answer.unwrap().contains("\"output\":\"found\""));
    assert_eq!(statuses(&*store).await, [TaskStatus::Completed]);
    assert_eq!(report.turns, 4, "the result is not told a second time");
}

#[tokio::test]
async fn a_cancelled_task_is_stopped_listed_and_stays_cancelled() {
    let gates = Gates::shut(&["ann"]);
    let model =
        GatedModel::new(&gates, |request, last| match (request.speaker, request.history.entries().len()) {
            ("ann", _) => says("never"),
            (_, 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x", "timeout_seconds": 0}))])
            }
            (_, 3) => {
                let id = field(last, "task_id");
                calls(&[("task_cancel", json!({"task_id": id})), ("task_cancel", json!({"task_id": id}))])
            }
            _ => says(last),
        });
    let (builder, store) = with_store(model.clone());
    let host = builder.parallel_tool_calls(false).build().unwrap();
    let report = host.run("go").await;
    assert_eq!(report.status, RunStatus::Answered, "{report:?}");
    let answer = report.answer.unwrap();
    assert!(
        answer.contains("\"status\":\"cancelled\"") || answer.contains("There is nothing to stop"),
        "{answer}"
    );
    assert_eq!(statuses(&*store).await, [TaskStatus::Cancelled]);
    let asked = model.asked("ann");
    gates.open("ann", 5);
    host.run("task_list").await;
    assert_eq!(statuses(&*store).await[0], TaskStatus::Cancelled);
    assert!(asked <= 1);
}

#[tokio::test]
async fn a_cancel_from_another_process_reaches_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let ours = Arc::new(deputy_task::SqliteTaskStore::open(directory.path().join(".deputy")).await.unwrap());
    let gates = Gates::shut(&["ann"]);
    let model =
        GatedModel::new(&gates, |request, last| match (request.speaker, request.history.entries().len()) {
            ("ann", _) => says("never"),
            (_, 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x", "timeout_seconds": 600}))])
            }
            _ => says(last),
        });
    let (builder, _) = with_store(model.clone());
    let host = builder.task_store(ours.clone()).build().unwrap();
    let run = tokio::spawn(async move { host.run("go").await });
    let theirs = deputy_task::SqliteTaskStore::open(directory.path().join(".deputy")).await.unwrap();
    while model.asked("ann") == 0 {
        tokio::task::yield_now().await;
    }
    let id = records(&theirs).await[0].id.clone();
    assert_eq!(theirs.cancel(&id).await.unwrap(), std::slice::from_ref(&id));
    let report = run.await.unwrap();
    assert!(report.answer.unwrap().contains("\"status\":\"cancelled\""));
    assert_eq!(theirs.get(&id).await.unwrap().status, TaskStatus::Cancelled);
}

#[tokio::test]
async fn at_a_turn_limit_what_runs_is_stopped_and_told() {
    let gates = Gates::shut(&["ann"]);
    let model = GatedModel::new(&gates, |request, _| match request.speaker {
        "ann" => says("never"),
        _ => calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x", "timeout_seconds": 0}))]),
    });
    let (builder, store) = with_store(model);
    let report = builder.max_turns(3).build().unwrap().run("go").await;
    assert_eq!(report.status, RunStatus::Partial);
    assert!(report.error.unwrap().contains("3 background tasks were stopped with the run"));
    assert_eq!(statuses(&*store).await, [TaskStatus::Cancelled; 3]);
}

#[tokio::test]
async fn a_failed_task_tells_why_and_what_it_had() {
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("ann", 1) => crate::support::calls_after("half of it", &[("list_files", json!({"path": "."}))]),
        ("ann", _) => Err(deputy::model::ModelError::Protocol { reason: "429 too many".into() }),
        (_, 1) => calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x"}))]),
        _ => says(last),
    });
    let (builder, store) = with_store(model);
    let workspace = tempfile::tempdir().unwrap();
    let report = builder.workspace(workspace.path()).build().unwrap().run("go").await;
    let answer = report.answer.unwrap();
    assert!(answer.contains("429 too many") && answer.contains("half of it"), "{answer}");
    let record = &records(&*store).await[0];
    assert_eq!((record.status, record.partial.as_deref()), (TaskStatus::Failed, Some("half of it")));
}

#[tokio::test]
async fn a_task_whose_process_died_is_told_as_failed_with_its_partial_text_and_runs_no_more() {
    let sessions = tempfile::tempdir().unwrap();
    let model = GatedModel::new(&Gates::default(), |request, last| match (request.speaker, last) {
        ("ann", _) => panic!("it ran again"),
        (_, "begin") => says("begun"),
        _ => says(last),
    });
    let (builder, store) = with_store(model);
    let kept = crate::support::store(&sessions.path().join("sessions"));
    let host = builder.sessions(kept).build().unwrap();
    let first = host.run("begin").await;
    let dead = Owner::this_process();
    let id = TaskId::from("t-1");
    let new = NewTask {
        id: id.clone(),
        parent_session: first.session_id.as_str().into(),
        parent_task: None,
        agent_id: "ann".into(),
        agent_key: "agent:ann:1".into(),
        label: None,
        task: "dig".into(),
        user: None,
        placement: Placement::Running(dead),
        lease_until_ms: now_ms() + 60_000,
        restart_safe: false,
    };
    store.create(new).await.unwrap();
    store.keep_partial(&id, dead, "a hole so far".into()).await.unwrap();
    store.heartbeat(dead, now_ms() - 1).await.unwrap();
    let again =
        RunRequest::new("go on").resume(Continue::Session(SessionId::from(first.session_id.as_str())));
    let answer = host.run(again).await.answer.unwrap();
    assert!(answer.contains("a hole so far") && answer.contains("died"), "{answer}");
    assert_eq!(statuses(&*store).await, [TaskStatus::Failed]);
}

#[tokio::test]
async fn a_spent_purse_refuses_new_tasks_and_halts_those_that_run() {
    let gates = Gates::shut(&["ann", "parent"]);
    gates.open("parent", 1);
    let refused = Arc::new(std::sync::Mutex::new(String::new()));
    let heard = refused.clone();
    let model = GatedModel::new(&gates, move |request, last| match request.history.entries().len() {
        1 => calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x", "timeout_seconds": 0}))]),
        3 => calls(&[("agent_spawn", json!({"agent_id": "bob", "task": "y"}))]),
        _ => {
            *heard.lock().unwrap() = last.to_owned();
            calls(&[("task_list", json!({}))])
        }
    });
    let (builder, store) = with_store(model.clone());
    // Three turns of the parent and one of the task.
    let limits = PurseLimits { descendants: 1, turns: Some(4), ..PurseLimits::default() };
    let host = builder.purse(limits).build().unwrap();
    let run = tokio::spawn(async move { host.run("go").await });
    while model.asked("ann") == 0 {
        tokio::task::yield_now().await;
    }
    gates.open("parent", 9);
    let report = run.await.unwrap();
    assert_eq!(report.status, RunStatus::Partial, "{report:?}");
    assert!(report.error.unwrap().contains("1 background tasks were stopped with the run"));
    assert!(refused.lock().unwrap().contains("1 of 1 descendant runs"), "{refused:?}");
    let records = records(&*store).await;
    assert_eq!(records.len(), 1, "the second one was refused: {records:?}");
    assert_eq!(records[0].status, TaskStatus::Cancelled);
}

#[tokio::test]
async fn two_hundred_tasks_all_come_back_once() {
    let model = FnModel::new(|request, _| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => {
            let spawn = |at: usize| {
                ("agent_spawn", json!({"agent_id": "ann", "task": format!("n{at}"), "timeout_seconds": 0}))
            };
            calls(&(0..200).map(spawn).collect::<Vec<_>>())
        }
        ("parent", _) => says("all there"),
        _ => says("done"),
    });
    let (builder, store) = with_store(model);
    let report = builder.max_turns(300).build().unwrap().run("go").await;
    assert_eq!(report.answer.as_deref(), Some("all there"), "{:?}", report.error);
    let records = records(&*store).await;
    assert_eq!(records.len(), 200);
    assert!(records.iter().all(|record| record.status == TaskStatus::Completed && record.delivered));
    assert_eq!(report.handoffs.len(), 200);
}

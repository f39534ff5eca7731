//! Tasks of tasks: told to whoever began them, seen and stopped from above, no deeper than three.

use std::sync::{Arc, Mutex};

use deputy::event::RunStatus;
use deputy::governance::HandoffPolicy;
use deputy::task::TaskStatus;
use serde_json::json;

use super::{records, with_store};
use crate::support::{GatedModel, Gates, calls, react, says};

fn nested(agent: &str) -> deputy::subagent::Subagent {
    react(agent).tools(["agent_spawn", "task_list", "subagent_gil", "subagent_cid"])
}

fn deep(max_depth: u32) -> HandoffPolicy {
    HandoffPolicy { max_depth, ..HandoffPolicy::telling_the_model() }
}

#[tokio::test]
async fn a_result_goes_to_whoever_began_the_task_even_where_that_one_meant_to_end() {
    let gates = Gates::shut(&["gil"]);
    let gate = gates.clone();
    let model = GatedModel::new(&gates, move |request, last| {
        match (request.speaker, request.history.entries().len()) {
            ("parent", 1) => calls(&[("subagent_cid", json!({"task": "c"}))]),
            ("parent", _) => {
                assert!(!last.contains("<subagent-results>"), "{last}");
                says(last)
            }
            ("cid", 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "gil", "task": "g", "timeout_seconds": 0}))])
            }
            ("cid", 3) => {
                gate.open("gil", 1);
                says("I am done already")
            }
            ("cid", _) => {
                assert!(last.contains("<subagent-results>") && last.contains("gil found it"), "{last}");
                says("gil found it, says cid")
            }
            _ => says("gil found it"),
        }
    });
    let (builder, store) = with_store(model);
    let host =
        builder.subagent(nested("cid")).subagent(react("gil")).handoff_policy(deep(2)).build().unwrap();
    let report = host.run("go").await;
    assert_eq!(report.status, RunStatus::Answered, "{report:?}");
    assert!(report.answer.unwrap().contains("gil found it, says cid"));
    assert!(records(&*store).await[0].delivered);
}

#[tokio::test]
async fn a_grandchild_is_listed_with_its_parent_and_stopped_with_it() {
    let gates = Gates::shut(&["gil", "parent"]);
    gates.open("parent", 1);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = seen.clone();
    let model = GatedModel::new(&gates, move |request, last| {
        match (request.speaker, request.history.entries().len()) {
            ("parent", 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "cid", "task": "c", "timeout_seconds": 0}))])
            }
            ("parent", 3) => calls(&[("task_list", json!({}))]),
            ("parent", 5) => {
                told.lock().unwrap().push(last.to_owned());
                let id = last
                    .lines()
                    .next()
                    .unwrap()
                    .split(['{', ','])
                    .next()
                    .unwrap()
                    .trim_start_matches("- task_id: ")
                    .to_owned();
                calls(&[("task_cancel", json!({"task_id": id}))])
            }
            ("parent", 7 | 8) => {
                told.lock().unwrap().push(last.to_owned());
                says("stopped")
            }
            ("cid", 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "gil", "task": "g", "timeout_seconds": 0}))])
            }
            ("cid", _) => says("waiting"),
            ("gil", _) => says("never"),
            other => panic!("{other:?} {last}"),
        }
    });
    let (builder, store) = with_store(model.clone());
    let host =
        builder.subagent(nested("cid")).subagent(react("gil")).handoff_policy(deep(2)).build().unwrap();
    let run = tokio::spawn(async move { host.run("go").await });
    while model.asked("gil") == 0 {
        tokio::task::yield_now().await;
    }
    gates.open("parent", 9);
    let report = run.await.unwrap();
    assert_eq!(report.answer.as_deref(), Some("stopped"), "{report:?}");
    let ended = records(&*store).await;
    let (child, grandchild) = (&ended[0], &ended[1]);
    assert_eq!((child.status, grandchild.status), (TaskStatus::Cancelled, TaskStatus::Cancelled));
    assert_eq!(grandchild.parent_task.as_ref(), Some(&child.id));
    let seen = seen.lock().unwrap().clone();
    assert!(seen[0].contains(&format!("task_id: {}", grandchild.id)), "{seen:?}");
    assert!(seen[0].contains(&format!("below task {}", child.id)), "{seen:?}");
    assert_eq!(model.asked("gil"), 1);
}

#[tokio::test]
async fn no_agent_is_spawned_deeper_than_three() {
    let refused = Arc::new(Mutex::new(String::new()));
    let heard = refused.clone();
    let model = GatedModel::new(&Gates::default(), move |request, last| {
        let first = request.history.entries().len() == 1;
        match request.speaker {
            _ if first => calls(&[("agent_spawn", json!({"agent_id": "cid", "task": "deeper"}))]),
            _ => {
                if last.contains("levels below") && heard.lock().unwrap().is_empty() {
                    *heard.lock().unwrap() = last.to_owned();
                }
                says("back")
            }
        }
    });
    let (builder, store) = with_store(model);
    let host = builder.subagent(nested("cid")).handoff_policy(deep(9)).build().unwrap();
    let report = host.run("go").await;
    assert_eq!(report.status, RunStatus::Answered, "{report:?}");
    assert_eq!(records(&*store).await.len(), 3);
    assert!(
        refused.lock().unwrap().contains("4 levels below the first one, and 3 is the most"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_run_sees_no_task_of_others() {
    let model = GatedModel::new(&Gates::default(), |request, last| {
        match (request.speaker, request.history.entries().len()) {
            ("parent", 1) => calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "x"}))]),
            ("parent", 3) => {
                let result: serde_json::Value = serde_json::from_str(last).unwrap();
                calls(&[("subagent_cid", json!({"task": result["task_result"]}))])
            }
            ("parent", _) => says(last),
            ("cid", 1) => calls(&[("task_output", json!({"task_id": last})), ("task_list", json!({}))]),
            ("cid", _) => {
                let results: Vec<String> = request
                    .history
                    .entries()
                    .iter()
                    .filter_map(|entry| match entry.message() {
                        deputy::history::Message::Tool(result) => Some(result.text.clone()),
                        _ => None,
                    })
                    .collect();
                says(&results.join(" | "))
            }
            _ => says("secret"),
        }
    });
    let (builder, _) = with_store(model);
    let cid = react("cid").tools(["task_output", "task_list"]);
    let report = builder.subagent(cid).build().unwrap().run("go").await;
    let answer = report.answer.unwrap();
    assert!(answer.contains("there is no task") && answer.contains("There are no such tasks"), "{answer}");
    assert!(!answer.contains("secret"), "{answer}");
}

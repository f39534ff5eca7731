//! Agents are made, given tasks, and sent more.

use std::sync::{Arc, Mutex};

use deputy::event::RunStatus;
use deputy::governance::{DelegationSurface, HandoffPolicy};
use deputy::task::TaskStatus;
use serde_json::{Value, json};

use super::{field, records, statuses, with_store};
use crate::support::{FnModel, GatedModel, Gates, calls, host, offered, react, says};

const SPAWN_TOOLS: [&str; 6] =
    ["agent_list", "agent_send", "agent_spawn", "task_cancel", "task_list", "task_output"];

#[tokio::test]
async fn an_answer_that_comes_in_time_is_the_result_of_the_call_and_comes_once() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = seen.clone();
    let model = FnModel::new(move |request, last| match (request.speaker, last) {
        ("parent", "count the boats") => {
            calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "boats in the harbour?"}))])
        }
        ("parent", result) => {
            heard.lock().unwrap().push(result.to_owned());
            let result: Value = serde_json::from_str(result).expect(result);
            says(result["output"].as_str().unwrap())
        }
        ("ann", task) => says(&format!("14 for `{task}`")),
        other => panic!("{other:?}"),
    });
    let (builder, store) = with_store(model);
    let report = builder.build().unwrap().run("count the boats").await;
    assert_eq!(report.answer.as_deref(), Some("14 for `boats in the harbour?`"), "{report:?}");
    let record = &records(&*store).await[0];
    assert_eq!((record.status, record.delivered), (TaskStatus::Completed, true));
    assert_eq!(record.user.as_deref(), Some("local"));
    assert!(record.parent_session.as_str() == report.session_id.as_str());
    let result: Value = serde_json::from_str(&seen.lock().unwrap()[0]).unwrap();
    assert_eq!(result["task_result"], json!(record.id.as_str()));
    assert_eq!(result["agent_key"], json!(record.agent_key));
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_call_that_passes_its_time_goes_on_in_the_background_and_says_so() {
    let gates = Gates::shut(&["ann"]);
    let gate = gates.clone();
    let model = GatedModel::new(&gates, move |request, last| {
        match (request.speaker, request.history.entries().len()) {
            ("parent", 1) => {
                calls(&[("agent_spawn", json!({"agent_id": "ann", "task": "t", "timeout_seconds": 1}))])
            }
            ("parent", 3) => {
                assert!(last.contains("has not ended within 1 seconds"), "{last}");
                assert_eq!(field(last, "status"), "running");
                assert!(field(last, "session_id").starts_with("sub-"), "{last}");
                gate.open("ann", 1);
                calls(&[("task_output", json!({"task_id": field(last, "task_id")}))])
            }
            ("parent", _) => says(last),
            _ => says("the tide is out"),
        }
    });
    let (builder, store) = with_store(model);
    let report = builder.build().unwrap().run("go").await;
    let answer: Value = serde_json::from_str(report.answer.as_deref().unwrap()).unwrap();
    assert_eq!(answer["output"], "the tide is out");
    assert_eq!(statuses(&*store).await, [TaskStatus::Completed]);
}

#[tokio::test]
async fn an_agent_goes_on_with_what_was_said_by_key_and_by_label() {
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("agent_spawn", json!({"agent_id": "ann", "label": "keeper"}))]),
        ("parent", 3) => {
            assert_eq!(field(last, "status"), "idle");
            calls(&[(
                "agent_send",
                json!({"agent_key": field(last, "agent_key"), "message": "my name is Ida"}),
            )])
        }
        ("parent", 5) => calls(&[("agent_send", json!({"label": "keeper", "message": "what is my name?"}))]),
        ("parent", 7) => calls(&[("agent_list", json!({}))]),
        ("parent", _) => says(last),
        ("ann", 1) => says("hello"),
        ("ann", _) => {
            let first = request.history.entries()[0].message();
            let deputy::history::Message::User { text } = first else { panic!("{first:?}") };
            says(&format!("you said: {text}"))
        }
        other => panic!("{other:?}"),
    });
    let (builder, store) = with_store(model);
    let report = builder.build().unwrap().run("go").await;
    let listed = report.answer.unwrap();
    assert!(
        listed.contains("label: keeper") && listed.contains("agent_id: ann") && listed.contains("idle"),
        "{listed}"
    );
    let records = records(&*store).await;
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].agent_key, records[1].agent_key);
    assert!(records[1].result.as_ref().unwrap().contains("you said: my name is Ida"), "{records:?}");
}

#[tokio::test]
async fn bad_calls_are_refused_in_words_and_start_nothing() {
    for (tool, arguments, expected) in [
        ("agent_spawn", json!({}), "`agent_id` is missing"),
        ("agent_spawn", json!({"agent_id": "carl", "task": "t"}), "the agents are: `ann`, `bob`"),
        ("agent_spawn", json!({"agent_id": "ann", "task": "t", "timeout_seconds": 601}), "from 0 to 600"),
        ("agent_spawn", json!({"agent_id": "ann", "task": 5}), "has to be a text"),
        ("agent_send", json!({"message": "m"}), "neither `agent_key` nor `label`"),
        ("agent_send", json!({"message": "m", "label": "a", "agent_key": "b"}), "both"),
        ("agent_send", json!({"agent_key": "ann", "message": "m"}), "whole `agent_key`"),
        ("agent_send", json!({"label": "l"}), "`message` is missing"),
        ("task_output", json!({"task_id": "t"}), "there is no task `t` of yours"),
        ("task_output", json!({"task_id": "t", "timeout": 600_001}), "from 0 to 600000"),
        ("task_cancel", json!({"task_id": "t"}), "there is no task `t` of yours"),
        ("task_list", json!({"status_filter": "done"}), "not `done`"),
    ] {
        let model = FnModel::new(move |request, last| match request.history.entries().len() {
            1 => calls(&[(tool, arguments.clone())]),
            _ => says(last),
        });
        let (builder, store) = with_store(model);
        let answer = builder.build().unwrap().run("go").await.answer.unwrap();
        assert!(answer.contains(expected), "{tool}: {answer}");
        assert!(records(&*store).await.is_empty(), "{tool}");
    }
}

#[tokio::test]
async fn a_parent_shows_the_surface_that_is_set_and_a_subagent_none_of_it() {
    let ann = "subagent_ann".to_owned();
    let spawn = SPAWN_TOOLS.map(str::to_owned).to_vec();
    for (surface, own, spawns) in [
        (DelegationSurface::Both, true, true),
        (DelegationSurface::Tools, true, false),
        (DelegationSurface::Spawn, false, true),
        (DelegationSurface::None, false, false),
    ] {
        let seen = Arc::new(Mutex::new((Vec::new(), String::new())));
        let shown = seen.clone();
        let model = FnModel::new(move |request, _| match request.speaker {
            "ann" => {
                assert!(
                    !offered(request)
                        .iter()
                        .any(|tool| SPAWN_TOOLS.contains(&tool.as_str()) || tool.starts_with("subagent"))
                );
                assert!(!request.system.contains("agent_spawn"));
                says("done")
            }
            _ => {
                if request.history.entries().len() == 1 {
                    *shown.lock().unwrap() = (offered(request), request.system.to_owned());
                    let by = if spawns {
                        ("agent_spawn", json!({"agent_id": "ann", "task": "t"}))
                    } else {
                        ("subagent_ann", json!({"task": "t"}))
                    };
                    return calls(&[by]);
                }
                says("done")
            }
        });
        let policy = HandoffPolicy { surface, ..HandoffPolicy::telling_the_model() };
        let built =
            host(model).subagent(react("ann").inherit_tools()).handoff_policy(policy).build().unwrap();
        let report = built.run("go").await;
        assert_eq!(report.status, RunStatus::Answered, "{report:?}");
        assert_eq!(report.purse.descendants, u64::from(own || spawns), "{surface:?}");
        let (tools, system) = seen.lock().unwrap().clone();
        assert_eq!(tools.contains(&ann), own, "{surface:?}: {tools:?}");
        assert_eq!(
            spawn.iter().filter(|tool| tools.contains(tool)).count(),
            if spawns { 6 } else { 0 },
            "{tools:?}"
        );
        assert_eq!(system.contains("- ann: is ann"), spawns, "{system}");
    }
}

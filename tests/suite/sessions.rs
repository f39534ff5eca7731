//! Conversations: which delegation continues which, what carries over, and what survives failures, restarts and
//! damage.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use deputy::event::{HandoffStatus, RunStatus, SessionMode};
use deputy::history::{AssistantMessage, Message, Part, ToolCall, ToolResult};
use deputy::host::{Continue, RunRequest};
use deputy::model::{ModelError, TurnRequest};
use deputy::session::{SessionId, SessionKey, StoredSession};
use deputy::tools::NativeTool;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{FnModel, Heard, answer, calls, host, output, react, remembers, says, store, telling};

/// What a run's model was shown so far, a line a message.
fn shown(request: &TurnRequest<'_>) -> String {
    let line = |message: &Message| match message {
        Message::User { text } => format!("user {text}"),
        Message::Assistant(message) => format!("assistant {}", message.text()),
        Message::Tool(result) => format!("tool {}", result.text),
    };
    request.history.entries().iter().map(|entry| line(entry.message())).collect::<Vec<_>>().join("|")
}

/// A parent that hands its task on as it is, and a worker that answers with all that it was shown.
fn echoes() -> Arc<FnModel> {
    FnModel::new(|request, last| match request.speaker {
        "parent" => match request.history.entries().last().unwrap().message() {
            Message::User { text } => calls(&[("subagent_worker", json!({ "task": text }))]),
            _ => says(&output(last)),
        },
        _ => says(&format!("[{}]", shown(request))),
    })
}

#[tokio::test]
async fn a_fresh_conversation_begins_anew_each_time() {
    let host = telling(host(echoes())).subagent(react("worker")).build().unwrap();
    assert_eq!(answer(&host, "one").await, "[user one]");
    assert_eq!(answer(&host, "two").await, "[user two]");
}

#[tokio::test]
async fn a_reused_conversation_goes_on_for_its_user_alone() {
    let host = telling(host(echoes())).subagent(remembers("worker")).build().unwrap();
    assert_eq!(answer(&host, RunRequest::new("one").user("ann")).await, "[user one]");
    assert_eq!(answer(&host, RunRequest::new("two").user("bob")).await, "[user two]");
    let third = answer(&host, RunRequest::new("three").user("ann")).await;
    assert_eq!(third, "[user one|assistant [user one]|user three]");
}

#[tokio::test]
async fn calls_on_one_conversation_run_one_after_another_and_fresh_ones_side_by_side() {
    for (mode, at_one_time) in [(SessionMode::Reuse, 1), (SessionMode::Fresh, 3)] {
        let model = FnModel::new(|request, _| match (request.speaker, request.history.entries().len()) {
            ("parent", 1) => {
                let call = ("subagent_worker", json!({"task": "t"}));
                calls(&[call.clone(), call.clone(), call])
            }
            ("worker", n) if n % 4 == 1 => calls(&[("meet", json!({}))]),
            _ => says("done"),
        });
        // Where three are meant to run at one time, none goes on before all have met.
        let gate = Arc::new(tokio::sync::Barrier::new(at_one_time));
        let running = Arc::new(Mutex::new((0usize, 0usize)));
        let counted = running.clone();
        let meet = NativeTool::new("meet", "Meets.", &json!({"type": "object"}), move |_| {
            let (gate, counted) = (gate.clone(), counted.clone());
            async move {
                {
                    let mut counted = counted.lock().unwrap();
                    counted.0 += 1;
                    counted.1 = counted.1.max(counted.0);
                }
                gate.wait().await;
                tokio::task::yield_now().await;
                counted.lock().unwrap().0 -= 1;
                Ok(String::new())
            }
        });
        let worker = react("worker").session_mode(mode).tools(["meet"]);
        let host = telling(host(model)).tool(meet).subagent(worker).build().unwrap();
        let report = host.run("t").await;
        assert!(report.handoffs.iter().all(|end| end.status == HandoffStatus::Completed), "{report:?}");
        assert_eq!(running.lock().unwrap().1, at_one_time, "{mode}");
    }
}

#[tokio::test]
async fn a_failed_attempt_leaves_the_conversation_whole_and_the_next_one_goes_on_with_it() {
    let spoken = Arc::new(AtomicUsize::new(0));
    let count = spoken.clone();
    let model = FnModel::new(move |request, last| match request.speaker {
        "parent" if request.history.entries().len() == 1 => {
            calls(&[("subagent_worker", json!({"task": last}))])
        }
        "parent" if last.contains("failed") => says(last),
        "parent" => says(&output(last)),
        _ => match count.fetch_add(1, Ordering::Relaxed) {
            0 => calls(&[("list_files", json!({"path": "."}))]),
            1 => Err(ModelError::Protocol { reason: "cut".to_owned() }),
            _ => says(&shown(request)),
        },
    });
    let host = telling(host(model)).subagent(remembers("worker").tools(["list_files"])).build().unwrap();
    let failed = answer(&host, "one").await;
    assert!(
        ["\"status\":\"failed\"", "\"steps\":2", "\"session_id\":\""]
            .iter()
            .all(|part| failed.contains(part)),
        "{failed}"
    );
    let next = answer(&host, "two").await;
    assert!(next.starts_with("user one|assistant |tool ") && next.ends_with("|user two"), "{next}");
}

#[tokio::test]
async fn a_conversation_survives_a_restart_where_there_is_a_store() {
    let kept = tempfile::tempdir().unwrap();
    let start = || {
        telling(host(echoes()))
            .subagent(remembers("worker"))
            .sessions(store(&kept.path().join("s")))
            .build()
            .unwrap()
    };
    assert_eq!(answer(&start(), "one").await, "[user one]");
    assert!(answer(&start(), "two").await.starts_with("[user one|assistant "));
}

#[tokio::test]
async fn what_is_damaged_is_never_taken_for_nothing() {
    for damage in ["", "{\"version\":1", "not json"] {
        let kept = tempfile::tempdir().unwrap();
        let at = kept.path().join("s");
        let start =
            || telling(host(echoes())).subagent(remembers("worker")).sessions(store(&at)).build().unwrap();
        answer(&start(), "one").await;
        let files = std::fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path());
        for file in files.collect::<Vec<_>>() {
            std::fs::write(file, damage).unwrap();
        }
        let told = answer(&start(), "two").await;
        assert!(
            told.contains("is damaged at byte") && told.contains("\"status\":\"failed\""),
            "{damage:?}: {told}"
        );
        assert!(!told.contains("[user two]"), "nothing ran");
    }
}

#[tokio::test]
async fn nothing_of_a_child_enters_the_parents_conversation_or_a_siblings() {
    let kept = tempfile::tempdir().unwrap();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let records = seen.clone();
    let model = FnModel::new(move |request, last| {
        records.lock().unwrap().push(format!("{}: {}", request.speaker, shown(request)));
        match (request.speaker, request.history.entries().len()) {
            ("parent", 1) => calls(&[("subagent_one", json!({"task": "first"}))]),
            ("parent", 3) => calls(&[("subagent_two", json!({"task": "second"}))]),
            ("one", 1) => calls(&[("list_files", json!({"path": "."}))]),
            ("one", _) => says("one is done"),
            ("two", _) => says("two is done"),
            _ => says(&output(last)),
        }
    });
    let host = telling(host(model))
        .subagent(react("one").tools(["list_files"]))
        .subagent(react("two"))
        .sessions(store(&kept.path().join("s")))
        .build()
        .unwrap();
    assert_eq!(answer(&host, "a private note").await, "two is done");
    let seen = seen.lock().unwrap().clone();
    let of = |who: &str| seen.iter().filter(|line| line.starts_with(who)).cloned().collect::<Vec<_>>();
    assert_eq!(of("two: "), ["two: user second"]);
    assert!(of("one: ").iter().all(|line| !line.contains("private")));
    let last = of("parent: ").pop().unwrap();
    assert_eq!(last.matches('|').count(), 4, "a user message, two calls, two results: {last}");
    // Nor the stored one.
    let stored = host.session_store().unwrap().list().await.unwrap();
    assert_eq!(stored.sessions.len(), 1);
    assert_eq!(stored.sessions[0].messages, 6);
    assert!(stored.sessions[0].key.is_of_agent());
}

#[tokio::test]
async fn going_on_means_the_newest_conversation_of_a_parent_and_never_a_childs() {
    let kept = tempfile::tempdir().unwrap();
    let start = || {
        let model = FnModel::new(|request, last| match (request.speaker, last) {
            ("parent", "delegate") => calls(&[("subagent_worker", json!({"task": "t"}))]),
            ("parent", "what was said?") => says(&shown(request)),
            _ => says("noted"),
        });
        telling(host(model))
            .subagent(remembers("worker"))
            .sessions(store(&kept.path().join("s")))
            .build()
            .unwrap()
    };
    let host = start();
    let first = host.run("the berth is 7").await;
    // The child's conversation is the last that is written.
    host.run("delegate").await;
    let went_on = answer(&start(), RunRequest::new("what was said?").resume(Continue::Newest)).await;
    assert!(went_on.starts_with("user delegate|assistant |tool "), "{went_on}");
    let named = RunRequest::new("what was said?").resume(Continue::Session(first.session_id.clone()));
    assert_eq!(answer(&start(), named).await, "user the berth is 7|assistant noted|user what was said?");
    // Another user's, or a made-up one, is not there; and nothing runs.
    for request in [
        RunRequest::new("t").user("eve").resume(Continue::Session(first.session_id)),
        RunRequest::new("t").user("eve").resume(Continue::Newest),
        RunRequest::new("t").resume(Continue::Session("94807773-0000-4000-8000-000000000000".into())),
    ] {
        let report = start().run(request).await;
        assert_eq!((report.status, report.turns), (RunStatus::Failed, 0));
        assert!(report.error.unwrap().contains("no conversation"));
    }
}

#[tokio::test]
async fn a_run_that_was_stopped_in_a_delegation_is_kept_with_the_call_closed() {
    let kept = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let model = FnModel::new(move |request, _| match request.speaker {
        "parent" if request.history.entries().len() == 1 => {
            calls(&[("subagent_worker", json!({"task": "t"}))])
        }
        "parent" => says(&shown(request)),
        _ => {
            stop.cancel();
            calls(&[("list_files", json!({"path": "."}))])
        }
    });
    let heard = Heard::default();
    let host = telling(host(model))
        .subagent(remembers("worker").tools(["list_files"]))
        .sessions(store(&kept.path().join("s")))
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run_until("t", cancel).await;
    assert_eq!(report.status, RunStatus::Cancelled);
    let end = &heard.handoffs()[0];
    assert_eq!((end.status, end.turns), (HandoffStatus::Cancelled, 1));
    assert!(end.session_id.is_some(), "a stopped child can be continued");
    let went_on = RunRequest::new("go on").resume(Continue::Session(report.session_id));
    let went_on = answer(&host, went_on).await;
    let session = end.session_id.clone().unwrap();
    assert!(went_on.starts_with("user t|assistant |tool {"), "{went_on}");
    let status = "\"status\":\"cancelled\",\"error\":\"it was cancelled\"";
    for part in [status, "\"steps\":1", session.as_str(), "|user go on"] {
        assert!(went_on.contains(part), "{part}: {went_on}");
    }
    // The child's own conversation was cut between a call and its result: it is closed as well.
    let key = SessionKey { tool: "subagent_worker".into(), user: "local".into() };
    let child = host.session_store().unwrap().load(&key).await.unwrap().unwrap();
    assert!(child.history.open_calls().is_empty() && child.history.entries().len() == 3);
}

#[tokio::test]
async fn an_invented_conversation_is_no_argument_of_a_delegation() {
    for invented in [json!("94807773-0000-4000-8000-000000000000"), json!("new"), json!(""), Value::Null] {
        let given = invented.clone();
        let model = FnModel::new(move |request, last| match request.speaker {
            "parent" if request.history.entries().len() == 1 => {
                calls(&[("subagent_worker", json!({"task": "t", "session": given}))])
            }
            "parent" => says(last),
            _ => says("done"),
        });
        let host = telling(host(model)).subagent(react("worker")).build().unwrap();
        let result: Value = serde_json::from_str(&answer(&host, "t").await).unwrap();
        assert_eq!(result["output"], "done", "{invented}");
        let says_so = result["note"].as_str().is_some_and(|note| note.contains("`session`"));
        assert_eq!(says_so, invented.as_str().is_some_and(|text| !text.is_empty()), "{invented}");
    }
}

#[tokio::test]
async fn children_that_ended_hold_nothing() {
    let model = FnModel::new(|request, _| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&vec![("subagent_worker", json!({"task": "t"})); 60]),
        _ => says("done"),
    });
    let host = telling(host(model)).subagent(react("worker")).build().unwrap();
    let report = host.run("t").await;
    assert_eq!(report.handoffs.iter().filter(|end| end.status == HandoffStatus::Completed).count(), 60);
    assert!(host.session_store().is_none(), "fresh conversations are kept nowhere");
}

/// A conversation that was cut between two calls and the result of the second.
fn cut_short(key: SessionKey) -> StoredSession {
    let call = |id: &str| {
        Part::Call(ToolCall { id: id.into(), name: "list_files".into(), arguments: r#"{"path":"."}"#.into() })
    };
    let asked = AssistantMessage { parts: vec![call("call_a1"), call("call_a2")] };
    let answered = ToolResult::ok("call_a1".into(), "list_files".into(), "today.txt".to_owned());
    let history = [Message::user("list the logs"), Message::Assistant(asked), Message::Tool(answered)]
        .into_iter()
        .collect();
    StoredSession { id: SessionId::fresh(), key, depth: 1, tools: ["list_files".into()].into(), history }
}

#[tokio::test]
async fn a_conversation_that_was_cut_between_a_call_and_its_result_goes_on_with_the_call_closed() {
    let kept = tempfile::tempdir().unwrap();
    let store = store(&kept.path().join("s"));
    let child = SessionKey { tool: "subagent_worker".into(), user: "local".into() };
    store.save(&cut_short(child)).await.unwrap();
    let top = SessionId::fresh();
    store.save(&cut_short(SessionKey::of_agent(&top, "local".into()))).await.unwrap();
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_worker", json!({"task": "go on"}))]),
        ("parent", 3) => says(&output(last)),
        _ => says(&shown(request)),
    });
    let host = telling(host(model))
        .subagent(remembers("worker").tools(["list_files"]))
        .sessions(store)
        .build()
        .unwrap();
    let closed = "user list the logs|assistant |tool today.txt|tool interrupted: the run ended before this call had a result|user go on";
    assert_eq!(answer(&host, "t").await, closed);
    assert_eq!(answer(&host, RunRequest::new("go on").resume(Continue::Session(top))).await, closed);
}

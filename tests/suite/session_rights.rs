//! What continuing a conversation may not do: wait for itself, forget how deep it was begun, or gain rights.

use std::sync::Arc;

use deputy::event::{Event, HandoffStatus, RunStatus};
use deputy::governance::{HandoffPolicy, Policy};
use deputy::session::{SessionError, SessionId, SessionKey, SessionList, SessionStore, StoredSession};
use serde_json::json;

use crate::support::{FnModel, Heard, answer, calls, host, output, react, remembers, says, store, telling};

#[tokio::test]
async fn a_conversation_that_waits_for_a_call_is_not_continued_by_it() {
    // a asks b, b asks a: the second a would wait for the first for ever.
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_a", json!({"task": "t"}))]),
        ("a", 1) => calls(&[("subagent_b", json!({"task": "t"}))]),
        ("b", 1) => calls(&[("subagent_a", json!({"task": "t"}))]),
        _ => says(&output(last)),
    });
    let heard = Heard::default();
    let host = host(model)
        .subagent(remembers("a").tools(["subagent_a", "subagent_b"]))
        .subagent(remembers("b").tools(["subagent_a", "subagent_b"]))
        .handoff_policy(HandoffPolicy { max_depth: 6, ..HandoffPolicy::telling_the_model() })
        .events(heard.listener())
        .build()
        .unwrap();
    let told = answer(&host, "t").await;
    assert!(
        told.contains("`subagent_a` is denied to `b`: its conversation waits for this very call"),
        "{told}"
    );
    let ends = heard.handoffs();
    assert_eq!((ends[0].status, ends[0].depth), (HandoffStatus::Denied, 3));
    assert_eq!(ends.len(), 3);
}

#[tokio::test]
async fn two_chains_that_want_each_others_conversations_both_end() {
    // The parent asks a and b at once; a asks b, and b asks a.
    let gate = Arc::new(std::sync::Barrier::new(2));
    let model = FnModel::new(move |request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_a", json!({"task": "t"})), ("subagent_b", json!({"task": "t"}))]),
        ("a" | "b", 1) => {
            // Both hold their conversation before either asks for the other's.
            tokio::task::block_in_place(|| gate.wait());
            let other = if request.speaker == "a" { "subagent_b" } else { "subagent_a" };
            calls(&[(other, json!({"task": "t"}))])
        }
        _ => says(&output(last)),
    });
    let host = host(model)
        .subagent(remembers("a").tools(["subagent_a", "subagent_b"]))
        .subagent(remembers("b").tools(["subagent_a", "subagent_b"]))
        .handoff_policy(HandoffPolicy { max_depth: 6, ..HandoffPolicy::telling_the_model() })
        .build()
        .unwrap();
    let report = tokio::spawn(async move { host.run("t").await });
    let report = report.await.unwrap();
    assert_eq!(report.status, RunStatus::Answered);
    assert_eq!(report.handoffs.len(), 2);
}

#[tokio::test]
async fn a_continued_conversation_keeps_the_depth_that_it_was_begun_at() {
    let kept = tempfile::tempdir().unwrap();
    let start = |ask_from: &'static str| {
        let model = FnModel::new(move |request, last| match (request.speaker, last) {
            ("parent", "go") => calls(&[(ask_from, json!({"task": "go"}))]),
            ("lead", "go") => calls(&[("subagent_worker", json!({"task": "go"}))]),
            ("worker", "go") => calls(&[("subagent_helper", json!({"task": "help"}))]),
            _ => says(&output(last)),
        });
        host(model)
            .subagent(react("lead").tools(["subagent_worker", "subagent_helper", "list_files"]))
            .subagent(remembers("worker").tools(["subagent_helper", "list_files"]))
            .subagent(react("helper"))
            .sessions(store(&kept.path().join("s")))
            .handoff_policy(HandoffPolicy { max_depth: 2, ..HandoffPolicy::telling_the_model() })
            .build()
            .unwrap()
    };
    // Begun at depth 2, where it may not delegate; called from the top after a restart it still may not.
    let first = answer(&start("subagent_lead"), "go").await;
    assert!(first.contains("handoff depth 3 exceeds `handoff.max_depth` 2"), "{first}");
    let second = answer(&start("subagent_worker"), "go").await;
    assert!(second.contains("was begun without it"), "{second}");
    // One that is begun at the top may, so it is the conversation that remembers.
    let fresh = tempfile::tempdir().unwrap();
    let model = FnModel::new(|request, last| match (request.speaker, last) {
        ("parent", "go") => calls(&[("subagent_worker", json!({"task": "go"}))]),
        ("worker", "go") => calls(&[("subagent_helper", json!({"task": "help"}))]),
        ("helper", _) => says("helped"),
        _ => says(&output(last)),
    });
    let host = host(model)
        .subagent(remembers("worker").tools(["subagent_helper"]))
        .subagent(react("helper"))
        .sessions(store(&fresh.path().join("s")))
        .handoff_policy(HandoffPolicy { max_depth: 2, ..HandoffPolicy::telling_the_model() })
        .build()
        .unwrap();
    assert_eq!(answer(&host, "go").await, "helped");
}

#[tokio::test]
async fn a_continued_conversation_has_the_rights_of_now_within_those_of_then() {
    let kept = tempfile::tempdir().unwrap();
    let start = |declared: &'static [&'static str], denied: Option<&str>| {
        let model = FnModel::new(|request, last| match request.speaker {
            "parent" if request.history.entries().len() == 1 => {
                calls(&[("subagent_worker", json!({"task": "go"}))])
            }
            "parent" => says(&output(last)),
            _ => says(&request.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(" ")),
        });
        telling(host(model))
            .policy(denied.into_iter().fold(Policy::default(), |policy, tool| policy.deny(tool)))
            .subagent(remembers("worker").tools(declared.iter().copied()))
            .sessions(store(&kept.path().join("s")))
            .build()
            .unwrap()
    };
    let begun: &[&str] = &["read_file", "grep_files"];
    assert_eq!(answer(&start(begun, None), "t").await, "grep_files read_file");
    // A declaration that grew gives a conversation that is under way nothing more.
    assert_eq!(
        answer(&start(&["read_file", "grep_files", "write_file"], None), "t").await,
        "grep_files read_file"
    );
    // A policy that shrank holds at once.
    assert_eq!(answer(&start(begun, Some("grep_files")), "t").await, "read_file");
    // Nothing of then and now together is an error, not a run without tools.
    let told = answer(&start(&["write_file"], None), "t").await;
    assert!(told.contains("was begun without it") && told.contains("deputy sessions forget"), "{told}");
}

/// A store that takes nothing.
#[derive(Debug)]
struct Full;

#[async_trait::async_trait]
impl SessionStore for Full {
    async fn load(&self, _key: &SessionKey) -> Result<Option<StoredSession>, SessionError> {
        Ok(None)
    }

    async fn save(&self, session: &StoredSession) -> Result<(), SessionError> {
        let path = session.key.tool.as_str().into();
        Err(SessionError::Io { path, message: "no space left".to_owned() })
    }

    async fn list(&self) -> Result<SessionList, SessionError> {
        Ok(SessionList::default())
    }

    async fn remove_of(&self, _key: &SessionKey) -> Result<bool, SessionError> {
        Ok(false)
    }

    async fn remove(&self, _id: &SessionId) -> Result<bool, SessionError> {
        Ok(false)
    }
}

#[tokio::test]
async fn an_answer_is_not_lost_where_its_conversation_cannot_be_kept() {
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_worker", json!({"task": "t"}))]),
        ("parent", _) => says(last),
        _ => says("found it"),
    });
    let heard = Heard::default();
    let host = telling(host(model))
        .subagent(remembers("worker"))
        .sessions(Arc::new(Full))
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run("t").await;
    let told = report.answer.unwrap();
    assert_eq!(output(&told), "found it");
    assert!(told.contains("the conversation is not kept") && told.contains("no space left"), "{told}");
    let warned =
        |event: &Event| matches!(event, Event::Warning { message } if message.contains("no space left"));
    assert_eq!(heard.count(warned), 1, "nor is the parent's own, and that is said");
}

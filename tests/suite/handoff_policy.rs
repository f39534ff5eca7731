//! The rules on delegations through the real loop, the real executor and the real sandbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deputy::agent::AgentReport;
use deputy::event::{Event, HandoffStatus, RunStatus, SessionMode};
use deputy::governance::{HandoffFailureAction, HandoffPolicy, InputFilter, Policy, ToolList};
use deputy::history::ToolCall;
use deputy::host::HostBuilder;
use deputy::model::ModelError;
use deputy::tools::NativeTool;
use serde_json::{Value, json};

use crate::support::{FnModel, Heard, calls, host, react, says};

/// A parent that delegates once to `subagent_worker`, and says what it got; a worker that answers `did: TASK`.
fn delegates_once() -> Arc<FnModel> {
    FnModel::new(|request, last| match request.speaker {
        "parent" if request.history.entries().len() == 1 => {
            calls(&[("subagent_worker", json!({"task": "count the boats", "context": "in the harbour"}))])
        }
        "parent" => says(last),
        _ => says(&format!("did: {last}")),
    })
}

async fn run(builder: HostBuilder, policy: HandoffPolicy) -> (AgentReport, Heard) {
    let heard = Heard::default();
    let host = builder
        .subagent(react("worker"))
        .subagent(react("other"))
        .handoff_policy(policy)
        .events(heard.listener())
        .build()
        .unwrap();
    (host.run("t").await, heard)
}

/// An ordinary tool that a delegation to the worker falls back to.
fn stand_in() -> NativeTool {
    let schema = json!({"type": "object"});
    NativeTool::new("subagent_worker", "Stands in.", &schema, |arguments| async move {
        Ok(format!("stood in for {}", arguments["task"]))
    })
}

fn only(tools: &[&str]) -> Option<ToolList> {
    Some(ToolList::of(tools.iter().copied()))
}

#[tokio::test]
async fn a_delegation_without_rules_completes_and_tells_all_of_itself() {
    let (report, heard) = run(host(delegates_once()), HandoffPolicy::default()).await;
    let result: Value = serde_json::from_str(report.answer.as_deref().unwrap()).unwrap();
    assert_eq!(result["subagent"], "worker");
    assert_eq!(result["tool_name"], "subagent_worker");
    assert_eq!(result["output"], "did: count the boats\n\nContext:\nin the harbour");
    assert_eq!((&result["steps"], &result["status"]), (&json!(1), &json!("completed")));
    let Some(Event::HandoffStart { handoff_id, call_id, tool, subagent, depth, session_mode, .. }) =
        heard.all().into_iter().find(|event| matches!(event, Event::HandoffStart { .. }))
    else {
        panic!("the start is told")
    };
    let end = &heard.handoffs()[0];
    assert_eq!(
        (&end.handoff_id, &end.call_id, &end.tool, &end.subagent),
        (&handoff_id, &call_id, &tool, &subagent)
    );
    assert_eq!(
        (end.depth, depth, end.session_mode, session_mode),
        (1, 1, SessionMode::Fresh, SessionMode::Fresh)
    );
    assert_eq!((end.status, end.attempts, end.turns), (HandoffStatus::Completed, 1, 1));
    assert_eq!(result["handoff_id"], json!(handoff_id.as_str()));
    assert!(end.fuel > 0 && end.peak_memory > 0 && end.usage.input_tokens == 10 && end.error.is_none());
}

#[tokio::test]
async fn a_tool_outside_the_allow_list_ends_the_run_unless_the_policy_says_otherwise() {
    let policy = HandoffPolicy { allowed_tools: only(&["subagent_other"]), ..HandoffPolicy::default() };
    let (report, heard) = run(host(delegates_once()), policy.clone()).await;
    assert_eq!(report.status, RunStatus::Denied);
    let error = report.error.unwrap();
    assert!(
        error.contains("it is not in `handoff.allowed_tools`") && error.contains("`handoff.on_denied`"),
        "{error}"
    );
    let end = &heard.handoffs()[0];
    assert_eq!((end.status, end.attempts, end.end), (HandoffStatus::Denied, 0, None));
    assert_eq!(heard.count(|event| matches!(event, Event::RunStart { .. })), 1, "the parent's and no other");

    let tells = HandoffPolicy { on_denied: HandoffFailureAction::TellModel, ..policy };
    let (report, _) = run(host(delegates_once()), tells).await;
    assert_eq!(report.status, RunStatus::Answered);
    let told = report.answer.unwrap();
    let line = r#"set `handoff.allowed_tools = ["subagent_other", "subagent_worker"]`"#;
    assert!(told.contains(line), "{told}");
}

#[tokio::test]
async fn a_tool_in_the_deny_list_is_refused_whatever_the_allow_list_says() {
    let policy = HandoffPolicy {
        allowed_tools: only(&["subagent_worker"]),
        denied_tools: only(&["subagent_worker"]),
        ..HandoffPolicy::default()
    };
    let (report, _) = run(host(delegates_once()), policy).await;
    assert_eq!(report.status, RunStatus::Denied);
    assert!(report.error.unwrap().contains("it is in `handoff.denied_tools`"));
}

#[tokio::test]
async fn the_rules_are_asked_in_the_order_allow_deny_depth() {
    let all = HandoffPolicy {
        allowed_tools: only(&[]),
        denied_tools: only(&["*"]),
        max_depth: 0,
        ..HandoffPolicy::default()
    };
    let no_allow = HandoffPolicy { allowed_tools: None, ..all.clone() };
    let depth_alone = HandoffPolicy { denied_tools: None, ..no_allow.clone() };
    for (policy, says) in [
        (all, "allowed_tools"),
        (no_allow, "denied_tools"),
        (depth_alone, "handoff depth 1 exceeds `handoff.max_depth` 0"),
    ] {
        let (report, _) = run(host(delegates_once()), policy).await;
        let error = report.error.unwrap();
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[tokio::test]
async fn a_refused_delegation_falls_back_to_the_ordinary_tool_of_its_name() {
    let policy = HandoffPolicy {
        denied_tools: only(&["subagent_worker"]),
        on_denied: HandoffFailureAction::FallbackToPrimary,
        ..HandoffPolicy::default()
    };
    let builder = host(delegates_once()).fallback_tool(stand_in());
    let (report, heard) = run(builder, policy.clone()).await;
    assert_eq!(report.answer.as_deref(), Some("stood in for \"count the boats\""));
    assert_eq!(heard.handoffs()[0].status, HandoffStatus::Fallback);

    // By default no ordinary tool has that name: the model is told so, and the loop goes on.
    let (report, heard) = run(host(delegates_once()), policy).await;
    assert_eq!(report.status, RunStatus::Answered);
    assert!(report.answer.unwrap().starts_with("handoff unavailable: "));
    assert_eq!(heard.handoffs()[0].status, HandoffStatus::Fallback);
}

#[tokio::test]
async fn a_fallback_is_a_call_like_any_other_under_the_rules_on_tools() {
    let policy = HandoffPolicy {
        max_depth: 0,
        on_denied: HandoffFailureAction::FallbackToPrimary,
        ..HandoffPolicy::default()
    };
    let builder =
        host(delegates_once()).fallback_tool(stand_in()).policy(Policy::default().deny("subagent_worker"));
    let (report, _) = run(builder, policy).await;
    assert!(report.answer.unwrap().contains("the policy denies it"));
}

/// A worker whose model fails the first `failures` times that it speaks.
fn fails_at_first(failures: usize) -> (Arc<FnModel>, Arc<AtomicUsize>) {
    let spoken = Arc::new(AtomicUsize::new(0));
    let count = spoken.clone();
    let model = FnModel::new(move |request, last| match request.speaker {
        "parent" if request.history.entries().len() == 1 => {
            calls(&[("subagent_worker", json!({"task": "t"}))])
        }
        "parent" => says(last),
        _ if count.fetch_add(1, Ordering::Relaxed) < failures => {
            Err(ModelError::Protocol { reason: "no".to_owned() })
        }
        _ => says("done"),
    });
    (model, spoken)
}

#[tokio::test]
async fn attempts_are_retries_and_one() {
    for (max_retries, failures, status, attempts) in [
        (0, 1, HandoffStatus::Failed, 1),
        (2, 1, HandoffStatus::Completed, 2),
        (2, 2, HandoffStatus::Completed, 3),
        (2, 9, HandoffStatus::Failed, 3),
    ] {
        let (model, spoken) = fails_at_first(failures);
        let policy = HandoffPolicy { max_retries, ..HandoffPolicy::telling_the_model() };
        let (report, heard) = run(host(model), policy).await;
        let end = &heard.handoffs()[0];
        assert_eq!(
            (end.status, end.attempts),
            (status, attempts),
            "{max_retries} retries, {failures} failures"
        );
        assert_eq!(spoken.load(Ordering::Relaxed), usize::try_from(attempts).unwrap());
        assert_eq!(
            heard.count(|event| matches!(event, Event::RunStart { depth: 1, .. })),
            spoken.load(Ordering::Relaxed)
        );
        assert_eq!(report.status, RunStatus::Answered);
        assert_eq!(report.purse.descendants, u64::from(attempts), "each attempt is a run of the tree");
    }
}

#[tokio::test]
async fn a_failure_ends_the_run_by_default_and_its_text_carries_what_there_was() {
    let (model, _) = fails_at_first(9);
    let (report, heard) = run(host(model), HandoffPolicy::default()).await;
    assert_eq!(report.status, RunStatus::Failed);
    let error = report.error.unwrap();
    for part in [
        "subagent `worker` gave no answer",
        "status failed",
        "attempts 1",
        "model turns 1",
        "session ",
        "`handoff.on_error`",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let end = &heard.handoffs()[0];
    assert!(error.contains(end.session_id.as_ref().unwrap().as_str()));
}

#[tokio::test]
async fn a_timeout_ends_each_attempt_and_then_falls_back() {
    let model = FnModel::new(|request, last| match request.speaker {
        "parent" if request.history.entries().len() == 1 => {
            calls(&[("subagent_worker", json!({"task": "t"}))])
        }
        "parent" => says(last),
        _ => calls(&[("wait", json!({}))]),
    });
    let waits = NativeTool::new("wait", "Waits.", &json!({"type": "object"}), |_| async {
        std::future::pending::<()>().await;
        Ok(String::new())
    });
    let policy = HandoffPolicy {
        timeout: Some(Duration::from_millis(60)),
        max_retries: 1,
        retry_after_side_effects: true,
        on_error: HandoffFailureAction::FallbackToPrimary,
        ..HandoffPolicy::default()
    };
    let heard = Heard::default();
    let host = host(model)
        .tool(waits)
        .subagent(react("worker").tools(["wait"]))
        .fallback_tool(stand_in())
        .handoff_policy(policy)
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run("t").await;
    assert_eq!(report.answer.as_deref(), Some("stood in for \"t\""));
    let end = &heard.handoffs()[0];
    assert_eq!((end.status, end.attempts, end.end), (HandoffStatus::Fallback, 2, Some(RunStatus::TimedOut)));
    assert!(end.error.as_ref().unwrap().contains("time limit of 60 ms"));
    // One attempt is over, with everything that it called, before the next begins.
    let runs: Vec<bool> = heard
        .all()
        .iter()
        .filter_map(|event| match event {
            Event::RunStart { depth: 1, .. } => Some(true),
            Event::RunEnd { agent, .. } if agent.as_str() == "worker" => Some(false),
            _ => None,
        })
        .collect();
    assert_eq!(runs, [true, false, true, false]);
}

#[tokio::test]
async fn a_filter_rewrites_the_task_and_one_that_gives_nothing_changes_nothing() {
    let with = |filter: InputFilter| HandoffPolicy { input_filter: Some(filter), ..HandoffPolicy::default() };
    let hides = InputFilter::new(|call: &ToolCall| {
        Some(ToolCall { arguments: call.arguments.as_str().replace("harbour", "***").into(), ..call.clone() })
    });
    for (policy, reads) in [(with(hides), "in the ***"), (with(InputFilter::new(|_| None)), "in the harbour")]
    {
        let (report, _) = run(host(delegates_once()), policy).await;
        assert!(report.answer.unwrap().contains(reads));
    }
}

#[tokio::test]
async fn a_disabled_policy_still_tells_events_and_keeps_its_timeout() {
    let policy = HandoffPolicy {
        enabled: false,
        allowed_tools: only(&[]),
        denied_tools: only(&["*"]),
        max_depth: 0,
        input_filter: Some(InputFilter::new(|call| {
            Some(ToolCall { arguments: "gone".into(), ..call.clone() })
        })),
        ..HandoffPolicy::default()
    };
    let (report, heard) = run(host(delegates_once()), policy.clone()).await;
    assert!(report.answer.unwrap().contains("count the boats"));
    assert_eq!(heard.handoffs()[0].status, HandoffStatus::Completed);

    let (model, spoken) = fails_at_first(1);
    let retries = HandoffPolicy {
        max_retries: 5,
        on_error: HandoffFailureAction::TellModel,
        timeout: Some(Duration::from_secs(60)),
        ..policy
    };
    let (report, _) = run(host(model), retries).await;
    assert_eq!(
        (report.status, spoken.load(Ordering::Relaxed)),
        (RunStatus::Failed, 1),
        "no retry, no telling"
    );
}

#[tokio::test]
async fn a_name_that_no_subagent_has_is_no_matter_of_policy() {
    let model = FnModel::new(|request, last| match request.history.entries().len() {
        1 => calls(&[("subagent_wroker", json!({"task": "t"}))]),
        _ => says(last),
    });
    let (report, heard) = run(host(model), HandoffPolicy::default()).await;
    assert_eq!(report.status, RunStatus::Answered);
    let told = report.answer.unwrap();
    assert!(told.contains("no tool `subagent_wroker`") && told.contains("subagent_worker"), "{told}");
    assert!(heard.handoffs().is_empty(), "it is no delegation");
}

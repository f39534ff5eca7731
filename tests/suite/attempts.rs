//! Attempts: what is not made again, and what all of them cost together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use deputy::event::Event;
use deputy::governance::{HandoffPolicy, Policy};
use deputy::model::ModelError;
use serde_json::json;

use crate::support::{FnModel, Heard, calls, host, react, says};

#[tokio::test]
async fn what_a_retry_could_do_twice_is_not_retried_unless_the_policy_says_so() {
    for (again, notes) in [(false, 1), (true, 3)] {
        let workspace = tempfile::tempdir().unwrap();
        let written = Arc::new(AtomicUsize::new(0));
        let count = written.clone();
        let model =
            FnModel::new(move |request, last| match (request.speaker, request.history.entries().len()) {
                ("parent", 1) => calls(&[("subagent_worker", json!({"task": "t"}))]),
                ("parent", _) => says(last),
                (_, 1) => {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    calls(&[("write_file", json!({"path": format!("note{number}.txt"), "content": "x"}))])
                }
                _ => Err(ModelError::Protocol { reason: "no".to_owned() }),
            });
        let policy = HandoffPolicy {
            max_retries: 2,
            retry_after_side_effects: again,
            ..HandoffPolicy::telling_the_model()
        };
        let heard = Heard::default();
        let host = host(model)
            .workspace(workspace.path())
            .policy(Policy::default().allow("write_file"))
            .subagent(react("worker").tools(["write_file"]))
            .handoff_policy(policy)
            .events(heard.listener())
            .build()
            .unwrap();
        let report = host.run("t").await;
        assert_eq!(std::fs::read_dir(workspace.path()).unwrap().count(), notes);
        assert_eq!(heard.handoffs()[0].attempts, u32::try_from(notes).unwrap());
        let told = report.answer.unwrap();
        assert_eq!(told.contains("not tried again: it had used `write_file`"), !again, "{told}");
    }
}

#[tokio::test]
async fn usage_adds_up_over_the_tree_with_failed_attempts_in_it() {
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => {
            calls(&[("subagent_lead", json!({"task": "t"})), ("subagent_lead", json!({"task": "u"}))])
        }
        ("lead", 1) => calls(&[("subagent_worker", json!({"task": last}))]),
        ("worker", _) if last == "u" => Err(ModelError::Protocol { reason: "no".to_owned() }),
        _ => says("done"),
    });
    let heard = Heard::default();
    let host = host(model)
        .subagent(react("lead").tools(["subagent_worker"]))
        .subagent(react("worker"))
        .handoff_policy(HandoffPolicy { max_depth: 2, ..HandoffPolicy::telling_the_model() })
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run("t").await;
    // Two turns of the parent, two of each lead, one of the worker that answered; each read 10.
    assert_eq!(report.usage.input_tokens, 10 * (2 + 2 * 2 + 1));
    assert_eq!(report.purse.tokens, report.usage.total());
    let own = |event: &Event| match event {
        Event::RunEnd { usage, .. } => usage.total(),
        _ => 0,
    };
    assert_eq!(
        heard.all().iter().map(own).sum::<u64>(),
        report.usage.total(),
        "every token in one run's own row"
    );
    let leads: Vec<u64> = heard
        .handoffs()
        .iter()
        .filter(|end| end.subagent.as_str() == "lead")
        .map(|end| end.usage.input_tokens)
        .collect();
    assert_eq!(
        {
            let mut leads = leads;
            leads.sort_unstable();
            leads
        },
        [20, 30]
    );
}

//! Places among the runs that work at one time: whoever waits holds none, whatever becomes of what it waits for.

use std::time::Duration;

use deputy::event::{HandoffStatus, RunStatus};
use deputy::governance::{HandoffPolicy, PurseLimits};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{FnModel, Heard, calls, host, react, says};

/// A run hangs or it does not: how long that takes to see is no part of what is tested.
const HANGS: Duration = Duration::from_secs(60);

/// A tree in which each run makes, side by side, the calls that `plan` has for its depth: true is a delegation,
/// false is one that is refused at once. Gives how many runs there were, if it ends at all.
async fn runs(places: u32, plan: Vec<Vec<bool>>) -> Option<u64> {
    let depth = u32::try_from(plan.len()).unwrap();
    let model = FnModel::new(move |request, last| {
        let level: usize = last.trim().parse().unwrap_or(0);
        match plan.get(level) {
            Some(children) if request.history.entries().len() == 1 && !children.is_empty() => {
                let task = |real: &bool| if *real { (level + 1).to_string() } else { String::new() };
                let asks: Vec<_> =
                    children.iter().map(|real| ("subagent_worker", json!({ "task": task(real) }))).collect();
                calls(&asks)
            }
            _ => says("done"),
        }
    });
    let host = host(model)
        .subagent(react("worker").tools(["subagent_worker", "list_files"]))
        .purse(PurseLimits { concurrent_runs: places, descendants: 1000, ..PurseLimits::default() })
        .handoff_policy(HandoffPolicy { max_depth: depth, ..HandoffPolicy::telling_the_model() })
        .build()
        .unwrap();
    let report = tokio::time::timeout(HANGS, host.run("0")).await.ok()?;
    (report.status == RunStatus::Answered).then_some(report.purse.descendants)
}

#[tokio::test]
async fn a_refused_delegation_beside_a_real_one_holds_no_place() {
    for places in [1, 2] {
        assert_eq!(runs(places, vec![vec![true; 2], vec![false, true]]).await, Some(4));
        assert_eq!(
            runs(places, vec![vec![true; 3], vec![true, false, true], vec![false, true]]).await,
            Some(15)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_tree_of_refused_and_real_delegations_ends(
        places in 1..3_u32,
        plan in proptest::collection::vec(proptest::collection::vec(any::<bool>(), 1..4), 1..4),
    ) {
        // The deepest level delegates no more, so its calls are refused for their depth.
        let expected = plan.iter().fold((1_u64, 0_u64), |(runs, all), children| {
            let next = runs * children.iter().filter(|real| **real).count() as u64;
            (next, all + next)
        });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        prop_assert_eq!(runtime.block_on(runs(places, plan)), Some(expected.1));
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_does_not_wait_for_its_place() {
    // The child of `lead` ends and stops the run; its place is `other`'s, which works for as long as it is let.
    let cancel = tokio_util::sync::CancellationToken::new();
    let stop = cancel.clone();
    let model = FnModel::new(move |request, _| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => {
            calls(&[("subagent_lead", json!({"task": "t"})), ("subagent_other", json!({"task": "t"}))])
        }
        ("lead", 1) => calls(&[("subagent_worker", json!({"task": "t"}))]),
        ("other", 1) => calls(&[("subagent_worker", json!({"task": "t"}))]),
        ("worker", _) => {
            stop.cancel();
            says("found")
        }
        _ => says("done"),
    });
    let heard = Heard::default();
    let host = host(model)
        .subagent(react("lead").tools(["subagent_worker"]))
        .subagent(react("other").tools(["subagent_worker"]))
        .subagent(react("worker"))
        .purse(PurseLimits { concurrent_runs: 1, ..PurseLimits::default() })
        .handoff_policy(HandoffPolicy { max_depth: 2, ..HandoffPolicy::telling_the_model() })
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run_until("t", cancel).await;
    assert_eq!(report.status, RunStatus::Cancelled);
    assert!(
        heard.handoffs().iter().all(|end| end.status == HandoffStatus::Cancelled),
        "{:?}",
        heard.handoffs()
    );
}

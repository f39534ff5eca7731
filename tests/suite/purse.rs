//! One budget for a whole tree: adversarial models end within it, everything is accounted, and what was there by
//! then is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deputy::agent::AgentReport;
use deputy::event::{Event, HandoffStatus, RunStatus};
use deputy::governance::{HandoffPolicy, Prices, PurseLimits, PursePart};
use deputy::model::Model;
use deputy::subagent::Subagent;
use deputy::tools::NativeTool;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{FnModel, Heard, calls, host, react, says};

const NAMES: [&str; 3] = ["ann", "bob", "cid"];

fn tool_of(name: &str) -> String {
    format!("subagent_{name}")
}

/// Three subagents that may all delegate to one another, and to themselves.
fn crowd() -> impl Iterator<Item = Subagent> {
    NAMES.into_iter().map(|name| {
        react(name)
            .tools(NAMES.map(tool_of))
            .tools(NAMES.into_iter().map(tool_of).chain(["list_files".to_owned()]))
    })
}

/// Depth is no limit here: only the purse is.
fn deep() -> HandoffPolicy {
    HandoffPolicy { max_depth: 1000, ..HandoffPolicy::telling_the_model() }
}

async fn run(model: Arc<dyn Model>, purse: PurseLimits, policy: HandoffPolicy) -> (AgentReport, Heard) {
    let heard = Heard::default();
    let builder = host(model)
        .purse(purse)
        .handoff_policy(policy)
        .events(heard.listener())
        .max_turns(6)
        .subagent_max_turns(4);
    let host = crowd().fold(builder, |builder, subagent| builder.subagent(subagent)).build().unwrap();
    (host.run("t").await, heard)
}

/// What the events say was used must be what the purse says.
#[track_caller]
fn accounted(report: &AgentReport, heard: &Heard) {
    let events = heard.all();
    let count = |such: &dyn Fn(&Event) -> bool| events.iter().filter(|event| such(event)).count() as u64;
    let purse = report.purse;
    assert_eq!(count(&|event| matches!(event, Event::RunStart { parent: Some(_), .. })), purse.descendants);
    assert_eq!(count(&|event| matches!(event, Event::TurnStart { .. })), purse.turns);
    assert_eq!(
        count(&|event| matches!(event, Event::RunStart { .. })),
        count(&|event| matches!(event, Event::RunEnd { .. }))
    );
    assert_eq!(
        count(&|event| matches!(event, Event::HandoffStart { .. })),
        count(&|event| matches!(event, Event::HandoffEnd(_)))
    );
    let own: u64 = events
        .iter()
        .map(|event| if let Event::RunEnd { usage, .. } = event { usage.total() } else { 0 })
        .sum();
    assert_eq!((own, report.usage.total()), (purse.tokens, purse.tokens));
    let fuel: u64 = heard.handoffs().iter().map(|end| end.fuel).sum();
    assert_eq!(fuel, purse.fuel);
}

#[tokio::test]
async fn a_model_that_always_delegates_to_two_more_ends_within_the_caps() {
    let model = FnModel::new(|_, _| {
        calls(&[("subagent_ann", json!({"task": "more"})), ("subagent_bob", json!({"task": "more"}))])
    });
    let (report, heard) = run(model, PurseLimits::default(), deep()).await;
    assert_eq!(report.status, RunStatus::Partial, "{report:?}");
    assert_eq!(report.purse.descendants, 256);
    assert_eq!(report.purse.spent.map(|spent| spent.part), Some(PursePart::Descendants));
    accounted(&report, &heard);
    let refused = heard.handoffs().into_iter().find(|end| end.attempts == 0).unwrap();
    assert_eq!(refused.status, HandoffStatus::Denied);
    assert!(
        refused.error.unwrap().contains("256 of 256 descendant runs; the setting is `purse.descendants`")
    );
}

#[tokio::test]
async fn two_agents_that_ask_each_other_for_ever_end_as_well() {
    let model = FnModel::new(|request, _| match request.speaker {
        "ann" => calls(&[("subagent_bob", json!({"task": "your turn"}))]),
        _ => calls(&[("subagent_ann", json!({"task": "your turn"}))]),
    });
    let (report, heard) = run(model, PurseLimits { descendants: 20, ..PurseLimits::default() }, deep()).await;
    assert_eq!(report.purse.descendants, 20);
    accounted(&report, &heard);
}

#[tokio::test]
async fn a_run_that_waits_holds_no_place_so_a_chain_longer_than_the_places_goes_through() {
    // Fan-out 3, depth 6, two places.
    let model = FnModel::new(|request, last| {
        let depth: u32 = last.trim().parse().unwrap_or(0);
        match request.history.entries().len() {
            1 if depth < 6 => {
                let task = json!({"task": (depth + 1).to_string()});
                let fan = if depth < 2 { 3 } else { 1 };
                calls(&vec![("subagent_ann", task); fan])
            }
            _ => says("done"),
        }
    });
    let limits = PurseLimits { concurrent_runs: 2, descendants: 100, ..PurseLimits::default() };
    let (report, heard) = run(model, limits, HandoffPolicy { max_depth: 6, ..deep() }).await;
    assert_eq!(report.status, RunStatus::Answered);
    assert_eq!(report.purse.descendants, 3 + 9 * 5);
    assert_eq!(heard.handoffs().iter().filter(|end| end.status == HandoffStatus::Completed).count(), 48);
    accounted(&report, &heard);
}

#[tokio::test]
async fn no_more_runs_work_at_one_time_than_there_are_places() {
    let working = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (working.clone(), most.clone());
    let model = FnModel::new(|request, _| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&vec![("subagent_ann", json!({"task": "t"})); 12]),
        (_, 1) => calls(&[("work", json!({}))]),
        _ => says("done"),
    });
    // Nobody goes on before three work at one time, so fewer places than three would never end.
    let three = Arc::new(tokio::sync::Barrier::new(3));
    let work = NativeTool::new("work", "Works.", &json!({"type": "object"}), move |_| {
        let (now, peak, three) = (now.clone(), peak.clone(), three.clone());
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            three.wait().await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(String::new())
        }
    });
    let host = host(model)
        .tool(work)
        .subagent(react("ann").tools(["work"]))
        .purse(PurseLimits { concurrent_runs: 3, ..PurseLimits::default() })
        .build()
        .unwrap();
    assert_eq!(host.run("t").await.status, RunStatus::Answered);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn waiting_for_a_place_is_not_billed_to_the_one_who_waits() {
    // One place: the slow one has it for longer than the quick one may take.
    const LIMIT: Duration = Duration::from_secs(1);
    let model = FnModel::new(|request, _| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => {
            calls(&[("subagent_slow", json!({"task": "t"})), ("subagent_quick", json!({"task": "t"}))])
        }
        ("slow", 1) => calls(&[("work", json!({}))]),
        _ => says("done"),
    });
    let work = NativeTool::new("work", "Works.", &json!({"type": "object"}), |_| async {
        tokio::time::sleep(LIMIT + LIMIT / 5).await;
        Ok(String::new())
    });
    let limits = deputy::sandbox::GuestLimits { time: Some(LIMIT), ..Default::default() };
    let host = host(model)
        .tool(work)
        .subagent(react("slow").tools(["work"]))
        .subagent(react("quick").limits(limits))
        .purse(PurseLimits { concurrent_runs: 1, ..PurseLimits::default() })
        .build()
        .unwrap();
    let report = host.run("t").await;
    assert_eq!(report.handoffs.len(), 2);
    assert!(report.handoffs.iter().all(|end| end.status == HandoffStatus::Completed), "{report:?}");
}

/// A worker that reads on and on; what it said last is what it has.
fn reads_on() -> Arc<FnModel> {
    FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_ann", json!({"task": "read"}))]),
        ("parent", _) => says(last),
        _ => {
            let mut turn = calls(&[("list_files", json!({"path": "."}))])?;
            turn.message.parts.insert(0, deputy::history::Part::Text("so far: three boats".to_owned()));
            turn.usage.input_tokens = 3000;
            Ok(turn)
        }
    })
}

#[tokio::test]
async fn each_part_that_is_spent_is_named_to_the_model_and_what_was_there_is_kept() {
    let turns = PurseLimits { turns: Some(3), ..PurseLimits::default() };
    let tokens = PurseLimits { tokens: Some(7000), ..PurseLimits::default() };
    let cost = PurseLimits { cost: Some(0.007), ..PurseLimits::default() };
    for (limits, setting) in [(turns, "purse.turns"), (tokens, "purse.tokens"), (cost, "purse.cost")] {
        let heard = Heard::default();
        let host = host(reads_on())
            .purse(limits)
            .prices(Prices { input: 1.0, output: 1.0, ..Prices::default() })
            .subagent(react("ann").tools(["list_files"]))
            .events(heard.listener())
            .build()
            .unwrap();
        let report = host.run("t").await;
        let end = &heard.handoffs()[0];
        assert_eq!((end.status, end.end), (HandoffStatus::Partial, Some(RunStatus::Partial)), "{setting}");
        assert!(end.error.as_ref().unwrap().contains(setting), "{setting}: {end:?}");
        assert_eq!(end.output.as_deref(), Some("so far: three boats"));
        // The parent has no turn left either: its run ends as partial, not as failed.
        assert_eq!(report.status, RunStatus::Partial);
        assert!(report.error.unwrap().contains(setting));
    }
}

#[tokio::test]
async fn tool_calls_that_are_spent_are_told_to_the_model() {
    let heard = Heard::default();
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_ann", json!({"task": "read"}))]),
        ("parent", _) => says(&serde_json::from_str::<Value>(last).unwrap()["output"].to_string()),
        (_, 1 | 3) => calls(&[("list_files", json!({"path": "."}))]),
        _ => says(last),
    });
    let host = host(model)
        .purse(PurseLimits { tool_calls: Some(2), ..PurseLimits::default() })
        .subagent(react("ann").tools(["list_files"]))
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run("t").await;
    let told = report.answer.unwrap();
    assert!(told.contains("2 of 2 tool calls; the setting is `purse.tool_calls`"), "{told}");
    assert_eq!(report.purse.tool_calls, 2);
}

#[tokio::test]
async fn when_the_trees_time_is_over_all_of_it_ends_and_what_was_there_is_kept() {
    let model = FnModel::new(|request, _| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => {
            let mut turn = calls(&[("subagent_ann", json!({"task": "t"}))])?;
            turn.message.parts.insert(0, deputy::history::Part::Text("asking ann".to_owned()));
            Ok(turn)
        }
        _ => calls(&[("wait", json!({}))]),
    });
    let wait = NativeTool::new("wait", "Waits.", &json!({"type": "object"}), |_| async {
        std::future::pending::<()>().await;
        Ok(String::new())
    });
    let heard = Heard::default();
    let host = host(model)
        .tool(wait)
        .subagent(react("ann").tools(["wait"]))
        .purse(PurseLimits { time: Some(Duration::from_secs(1)), ..PurseLimits::default() })
        .events(heard.listener())
        .build()
        .unwrap();
    let report = host.run("t").await;
    assert_eq!((report.status, report.answer.as_deref()), (RunStatus::Partial, Some("asking ann")));
    assert!(report.error.unwrap().contains("purse.time"));
    assert_eq!(heard.handoffs()[0].status, HandoffStatus::Partial);
}

#[tokio::test]
async fn fuel_is_shared_by_all_and_its_end_leaves_what_was_kept() {
    let alone = {
        let (report, _) = run(reads_on(), PurseLimits::default(), deep()).await;
        report.purse.fuel
    };
    let (report, heard) =
        run(reads_on(), PurseLimits { fuel: Some(alone / 2), ..PurseLimits::default() }, deep()).await;
    let end = &heard.handoffs()[0];
    assert_eq!(end.status, HandoffStatus::Partial, "{end:?}");
    assert!(end.error.as_ref().unwrap().contains("purse.fuel"), "{end:?}");
    assert!(report.purse.fuel <= alone / 2);
    accounted(&report, &heard);
    // With all that it needs it is not in the way.
    let (report, _) =
        run(reads_on(), PurseLimits { fuel: Some(alone * 20), ..PurseLimits::default() }, deep()).await;
    assert_eq!(report.handoffs[0].end, Some(RunStatus::Partial), "its own turns are what ends it");
    assert!(report.purse.spent.is_none());
}

#[tokio::test]
async fn a_depth_in_the_purse_holds_where_the_policy_is_off() {
    let model = FnModel::new(|request, last| match request.history.entries().len() {
        1 => calls(&[("subagent_ann", json!({"task": "down"}))]),
        _ => says(last),
    });
    let policy = HandoffPolicy { enabled: false, ..HandoffPolicy::default() };
    let (report, heard) = run(model, PurseLimits { depth: Some(3), ..PurseLimits::default() }, policy).await;
    assert_eq!(report.status, RunStatus::Answered);
    assert_eq!(heard.handoffs().iter().map(|end| end.depth).max(), Some(4), "the fourth was asked for");
    assert_eq!(report.purse.descendants, 3);
}

/// One turn of a model that nobody has seen: what it asks for is a matter of chance.
fn chance(seed: u64, speaker: &str, said: usize, turn: usize) -> Vec<u8> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    (seed, speaker, said, turn).hash(&mut hasher);
    hasher.finish().to_le_bytes().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn models_of_chance_end_within_every_cap_with_everything_accounted(
        seed in any::<u64>(),
        descendants in 0u32..25,
        concurrent_runs in 1u32..4,
        turns in prop::option::of(1u64..60),
        tool_calls in prop::option::of(0u64..60),
        tokens in prop::option::of(0u64..2_000),
        max_depth in 0u32..7,
        max_retries in 0u32..3,
    ) {
        let spoken = Arc::new(AtomicUsize::new(0));
        let model = FnModel::new(move |request, _| {
            let turn = spoken.fetch_add(1, Ordering::Relaxed);
            let dice = chance(seed, request.speaker, request.history.entries().len(), turn);
            let asks: Vec<(String, Value)> = dice.iter().take(4).filter_map(|die| match die % 8 {
                0..=2 => Some((tool_of(NAMES[usize::from(die % 3)]), json!({"task": format!("{die}")}))),
                3 => Some(("list_files".to_owned(), json!({"path": "."}))),
                4 => Some((format!("subagent_{die}"), json!({"task": "nobody"}))),
                _ => None,
            }).collect();
            match dice[7] % 8 {
                0 => Err(deputy::model::ModelError::Protocol { reason: "chance".to_owned() }),
                _ if asks.is_empty() => says("done"),
                _ => calls(&asks.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect::<Vec<_>>()),
            }
        });
        let limits = PurseLimits { descendants, concurrent_runs, turns, tool_calls, tokens, ..PurseLimits::default() };
        let policy = HandoffPolicy { max_depth, max_retries, retry_after_side_effects: true, ..HandoffPolicy::telling_the_model() };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (report, heard) = runtime.block_on(run(model, limits, policy));
        let purse = report.purse;
        prop_assert!(purse.descendants <= u64::from(descendants));
        prop_assert!(turns.is_none_or(|most| purse.turns <= most));
        prop_assert!(tool_calls.is_none_or(|most| purse.tool_calls <= most));
        // A turn costs 11 here; those under way when the last token went may still settle.
        prop_assert!(tokens.is_none_or(|most| purse.tokens <= most + 11 * u64::from(concurrent_runs + 1)));
        for event in heard.all() {
            if let Event::RunStart { depth, .. } = event {
                prop_assert!(depth <= max_depth);
            }
        }
        accounted(&report, &heard);
    }
}

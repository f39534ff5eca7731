//! Which delegations a run may make: depth and lists, on both sides of each limit, and rules that would do nothing.

use std::sync::{Arc, Mutex};

use deputy::event::Event;
use deputy::governance::{HandoffPolicy, ToolList};
use deputy::handoff::SubagentRegistry;
use deputy::host::HostError;
use deputy::tools::NativeTool;
use serde_json::json;

use crate::support::{FnModel, Heard, calls, host, offered as names, output, react, says};

fn to_depth(max_depth: u32) -> HandoffPolicy {
    HandoffPolicy { max_depth, ..HandoffPolicy::telling_the_model() }
}

/// Agents who each ask the next one, whatever they are offered; what each was offered is written down.
fn chain(
    asks: &'static [(&'static str, &'static str)],
    offered: &Arc<Mutex<Vec<(String, bool)>>>,
) -> Arc<FnModel> {
    let offered = offered.clone();
    FnModel::new(move |request, last| {
        let next =
            asks.iter().find(|(who, _)| *who == request.speaker).map(|(_, next)| format!("subagent_{next}"));
        match next {
            Some(next) if request.history.entries().len() == 1 => {
                offered.lock().unwrap().push((request.speaker.to_owned(), names(request).contains(&next)));
                calls(&[(next.as_str(), json!({"task": "t"})), (next.as_str(), json!({"task": "u"}))])
            }
            _ => says(&output(last)),
        }
    })
}

#[tokio::test]
async fn a_depth_of_n_is_n_levels_and_not_one_more_also_side_by_side() {
    for max_depth in 0..=3u32 {
        let offered = Arc::default();
        let heard = Heard::default();
        let model = chain(&[("parent", "a"), ("a", "b"), ("b", "c"), ("c", "d")], &offered);
        let all = ["subagent_a", "subagent_b", "subagent_c", "subagent_d", "list_files"];
        let builder = ["a", "b", "c", "d"]
            .into_iter()
            .fold(host(model).handoff_policy(to_depth(max_depth)), |builder, name| {
                builder.subagent(react(name).tools(all))
            });
        let host = builder.events(heard.listener()).build().unwrap();
        let report = host.run("t").await;
        let told = report.answer.unwrap();
        let refused = format!("handoff depth {} exceeds `handoff.max_depth` {max_depth}", max_depth + 1);
        assert!(told.contains(&refused), "{max_depth}: {told}");
        assert!(told.contains(&format!("set `handoff.max_depth = {}`", max_depth + 1)));
        // Two side by side on every level, and no run, no token below.
        let runs =
            |depth| heard.count(|event| matches!(event, Event::RunStart { depth: at, .. } if *at == depth));
        for depth in 1..=4 {
            assert_eq!(
                runs(depth),
                if depth <= max_depth { 2usize.pow(depth) } else { 0 },
                "{max_depth}, {depth}"
            );
        }
        for (who, was) in offered.lock().unwrap().iter() {
            let depth = ["parent", "a", "b", "c"].iter().position(|one| one == who).unwrap();
            assert_eq!(
                *was,
                depth < max_depth as usize,
                "what is too deep is not even offered: {who} at {max_depth}"
            );
        }
    }
}

#[tokio::test]
async fn who_may_delegate_to_nobody_is_offered_nobody_and_a_forged_call_is_refused() {
    for list in [ToolList::of::<&str>([]), ToolList::of(["subagent_other"])] {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let offered = seen.clone();
        let model =
            FnModel::new(move |request, last| match (request.speaker, request.history.entries().len()) {
                ("parent", 1) => calls(&[("subagent_lead", json!({"task": "t"}))]),
                ("lead", 1) => {
                    *offered.lock().unwrap() = names(request);
                    calls(&[("subagent_worker", json!({"task": "t"}))])
                }
                ("worker", _) => says("ran"),
                _ => says(&output(last)),
            });
        let lead = react("lead").tools(["subagent_worker", "list_files"]).allowed_tools(list);
        let host = host(model)
            .subagent(lead)
            .subagent(react("worker"))
            .subagent(react("other"))
            .handoff_policy(to_depth(3))
            .build()
            .unwrap();
        let told = host.run("t").await.answer.unwrap();
        assert!(told.contains("not in `subagents.lead.allowed_tools`"), "{told}");
        assert_eq!(*seen.lock().unwrap(), ["list_files"]);
    }
    // A list that denies all.
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("subagent_lead", json!({"task": "t"}))]),
        ("lead", 1) => calls(&[("subagent_worker", json!({"task": names(request).join(" ")}))]),
        _ => says(&output(last)),
    });
    let lead = react("lead").tools(["subagent_worker", "list_files"]).denied_tools(ToolList::of(["*"]));
    let host =
        host(model).subagent(lead).subagent(react("worker")).handoff_policy(to_depth(3)).build().unwrap();
    let told = host.run("t").await.answer.unwrap();
    assert!(told.contains("in `subagents.lead.denied_tools`"), "{told}");
}

#[test]
fn names_that_fold_to_one_tool_or_to_nothing_are_refused_with_both_sources() {
    let model = || FnModel::new(|_, _| says("x"));
    let build = |one: &str, other: &str| {
        let one = react(one).source("one.md");
        host(model()).subagent(one).subagent(react(other).source("two.md")).build().unwrap_err().to_string()
    };
    let error = build("Stock Desk", "stock-desk");
    for part in ["`Stock Desk` (one.md)", "`stock-desk` (two.md)", "`subagent_stock_desk`"] {
        assert!(error.contains(part), "{error}");
    }
    // Two words of another script fold to nothing: each is refused by itself, and a tool name of its own mends it.
    let error = build("worker", "评审");
    assert!(error.contains("`评审` (two.md)") && error.contains("tool_name"), "{error}");
    let named = |tool: &str, name: &str| react(name).tool_name(tool);
    assert!(
        host(model()).subagent(named("review", "评审")).subagent(named("research", "研究")).build().is_ok()
    );
    // Nor may one name stand for two, under whatever tool names: rules would hold for one of them only.
    let error = host(model())
        .subagent(react("writer"))
        .subagent(named("w1", "writer"))
        .build()
        .unwrap_err()
        .to_string();
    assert!(error.contains("two subagents are called `writer`"), "{error}");
    let error = host(model()).subagent(named("read_file", "reader")).build().unwrap_err().to_string();
    assert!(error.contains("there is a tool of that name"), "{error}");
}

#[test]
fn rules_that_would_do_nothing_are_refused() {
    let builder = || host(FnModel::new(|_, _| says("x"))).subagent(react("worker"));
    let listed =
        HandoffPolicy { denied_tools: Some(ToolList::of(["subagent_wroker"])), ..HandoffPolicy::default() };
    let error = builder().handoff_policy(listed).build().unwrap_err();
    assert!(
        matches!(error, HostError::UnknownDelegation { .. }) && error.to_string().contains("subagent_worker")
    );
    let stand_in =
        NativeTool::new("subagent_wroker", "x", &json!({"type": "object"}), |_| async { Ok(String::new()) });
    assert!(matches!(
        builder().fallback_tool(stand_in).build().unwrap_err(),
        HostError::FallbackOfNothing { .. }
    ));
    let cost = deputy::governance::PurseLimits { cost: Some(1.0), ..Default::default() };
    assert!(matches!(builder().purse(cost).build().unwrap_err(), HostError::CostWithoutPrices));
}

/// Subagents that an embedder holds elsewhere.
#[derive(Debug)]
struct OwnRegistry(Vec<Arc<deputy::subagent::Subagent>>);

impl SubagentRegistry for OwnRegistry {
    fn get(&self, tool: &deputy::ids::ToolName) -> Option<Arc<deputy::subagent::Subagent>> {
        self.0.iter().find(|one| one.tool() == tool).cloned()
    }

    fn all(&self) -> Vec<Arc<deputy::subagent::Subagent>> {
        self.0.clone()
    }
}

#[tokio::test]
async fn an_embedder_may_bring_a_registry_of_its_own() {
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[("ask_ann", json!({"task": "t"}))]),
        ("parent", _) => says(&output(last)),
        _ => says("from elsewhere"),
    });
    let ann = Arc::new(react("ann").tool_name("ask_ann"));
    let own = host(model.clone()).registry(Arc::new(OwnRegistry(vec![ann.clone()]))).build().unwrap();
    assert_eq!(own.run("t").await.answer.as_deref(), Some("from elsewhere"));
    // It is held to the same rules, and not mixed with others.
    let twice = OwnRegistry(vec![ann.clone(), ann]);
    assert!(matches!(host(model.clone()).registry(Arc::new(twice)).build(), Err(HostError::Subagents(_))));
    let both = host(model.clone()).registry(Arc::new(OwnRegistry(Vec::new()))).subagent(react("bob"));
    assert!(matches!(both.build(), Err(HostError::TwoRegistries)));
}

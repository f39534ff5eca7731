//! Delegation through the real sandbox: a parent, the stock subagents, real files.

use std::sync::{Arc, Mutex};

use deputy::event::{Event, HandoffStatus, RunStatus};
use deputy::host::Host;
use deputy::sandbox::Component;
use deputy::subagent::Subagent;
use serde_json::json;

use crate::support::{FnModel, Heard, calls, host, react, says, telling};

pub(crate) fn stock(name: &str) -> Subagent {
    let stock = deputy_stock::STOCK.iter().find(|one| one.name == name).expect("a stock subagent");
    let component = Component::from_bytes(name, stock.wasm.into()).unwrap();
    Subagent::new(name, component).description(stock.description).tools(stock.tools.iter().copied())
}

#[tokio::test]
async fn a_subagent_reads_real_files_and_the_parent_sees_only_its_final_text() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("tides.txt"), "low 03:10\nhigh 09:24\n").unwrap();
    let model = FnModel::new(|request, last| match (request.speaker, last) {
        ("parent", "when is high tide?") => {
            calls(&[("subagent_explore", json!({"task": "find high tide", "context": "tides.txt"}))])
        }
        ("explore", "find high tide\n\nContext:\ntides.txt") => {
            calls(&[("grep_files", json!({"pattern": "^high"}))])
        }
        ("explore", found) => says(&format!("found {found}")),
        ("parent", result) => {
            let result: serde_json::Value = serde_json::from_str(result).expect(result);
            says(result["output"].as_str().unwrap())
        }
        other => panic!("{other:?}"),
    });
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = events.clone();
    let host = Host::builder()
        .model(model)
        .workspace(workspace.path())
        .subagent(stock("explore"))
        .events(move |event: &Event| heard.lock().unwrap().push(event.clone()))
        .build()
        .unwrap();
    let report = host.run("when is high tide?").await;
    assert_eq!(report.status, RunStatus::Answered, "{report:?}\n{:?}", events.lock().unwrap());
    assert_eq!(report.answer.as_deref(), Some("found tides.txt:2:high 09:24"));
    let handoff = &report.handoffs[0];
    assert_eq!((handoff.status, handoff.turns, handoff.tool_calls), (HandoffStatus::Completed, 2, 1));
    assert!(handoff.fuel > 0 && handoff.peak_memory > 0);
    assert_eq!(report.usage.input_tokens, 40, "two turns of the parent, two of the subagent");
}

#[tokio::test]
async fn calls_of_one_turn_each_have_a_result_in_their_order_whatever_they_are() {
    for order in [["list_files", "subagent_worker"], ["subagent_worker", "list_files"]] {
        let model =
            FnModel::new(move |request, last| match (request.speaker, request.history.entries().len()) {
                ("parent", 1) => calls(&order.map(|tool| (tool, json!({"task": "t", "path": "."})))),
                ("parent", _) => {
                    let results =
                        request.history.entries().iter().filter_map(|entry| match entry.message() {
                            deputy::history::Message::Tool(result) => Some(result.tool.to_string()),
                            _ => None,
                        });
                    says(&results.collect::<Vec<_>>().join(" "))
                }
                _ => says(last),
            });
        let workspace = tempfile::tempdir().unwrap();
        let host =
            telling(host(model)).workspace(workspace.path()).subagent(react("worker")).build().unwrap();
        let report = host.run("t").await;
        assert_eq!(report.answer.unwrap(), order.join(" "));
        assert_eq!(report.handoffs[0].status, HandoffStatus::Completed);
    }
}

#[tokio::test]
async fn a_subagent_is_found_at_every_turn_whoever_spoke_last() {
    let model = FnModel::new(|request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", n @ (1 | 5 | 9)) => calls(&[("subagent_a", json!({"task": n.to_string()}))]),
        ("parent", 3 | 7) => calls(&[("subagent_b", json!({"task": "between"}))]),
        _ => says(last),
    });
    let host = telling(host(model)).subagent(react("a")).subagent(react("b")).build().unwrap();
    let report = host.run("t").await;
    let who: Vec<_> = report.handoffs.iter().map(|end| (end.subagent.as_str(), end.status)).collect();
    assert_eq!(who, ["a", "b", "a", "b", "a"].map(|who| (who, HandoffStatus::Completed)));
}

#[tokio::test]
async fn a_task_is_checked_before_anything_is_spent_on_it() {
    for arguments in [
        json!({}),
        json!({"task": ""}),
        json!({"task": null}),
        json!({"context": "only"}),
        json!({"task": " \n"}),
    ] {
        let given = arguments.clone();
        let model = FnModel::new(move |request, last| match request.history.entries().len() {
            1 => calls(&[("subagent_worker", given.clone())]),
            _ => says(last),
        });
        let heard = Heard::default();
        // Bad arguments are the model's to mend, whatever a failure leads to.
        let host = host(model).subagent(react("worker")).events(heard.listener()).build().unwrap();
        let report = host.run("t").await;
        assert!(report.answer.unwrap().contains("needs a `task`"), "{arguments}");
        let end = &heard.handoffs()[0];
        assert_eq!((end.status, end.attempts, report.purse.descendants), (HandoffStatus::Failed, 0, 0));
    }
}

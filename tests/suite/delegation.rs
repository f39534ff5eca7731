//! Delegation through the real sandbox: a parent, the stock subagents, real files.

use std::sync::{Arc, Mutex};

use deputy::event::{Event, HandoffStatus, RunStatus};
use deputy::host::Host;
use deputy::sandbox::Component;
use deputy::subagent::Subagent;
use serde_json::json;

use crate::support::{FnModel, calls, says};

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

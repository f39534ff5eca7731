//! A host in a program of one's own: a native tool, two subagents, one task. Run with
//! `cargo run -p deputy --example embed`.
#![expect(clippy::print_stdout, reason = "an example shows its answer")]

use std::sync::Arc;

use deputy::host::Host;
use deputy::model::ScriptedModel;
use deputy::sandbox::Component;
use deputy::subagent::Subagent;
use deputy::tools::NativeTool;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wasm = |name| {
        Component::from_file(format!("{}/../stock/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR")).as_ref())
    };
    let tide =
        NativeTool::new("tide", "The tide at a place.", &json!({"type": "object"}), |arguments| async move {
            Ok(format!(
                "high at the {}",
                arguments.get("place").and_then(|place| place.as_str()).unwrap_or("?")
            ))
        });
    let host = Host::builder()
        .workspace(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .model(Arc::new(ScriptedModel::parse("embed.json".as_ref(), include_str!("embed.json"))?)) // or `deputy::model::connect`
        .tool(tide)
        .subagent(Subagent::new("scout", wasm("explore")?).tools_as_imported())
        .subagent(Subagent::new("planner", wasm("plan")?).tools_as_imported())
        .build()?;
    println!("{}", host.run("How is the tide, and where is the licence?").await.answer.unwrap_or_default());
    Ok(())
}

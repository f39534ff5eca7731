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

const SCRIPT: &str = r#"{"steps": [
    {"calls": [{"tool": "tide", "arguments": {"place": "pier"}},
               {"tool": "subagent_scout", "arguments": {"task": "Where is the licence named?"}}]},
    {"speaker": "scout", "calls": [{"tool": "grep_files", "arguments": {"pattern": "^license", "glob": "Cargo.toml"}}]},
    {"speaker": "scout", "said": "license", "take": {"hit": "\\S+:\\d+"}, "answer": "At {{hit}}."},
    {"said": ["high at the pier", "At "], "take": {"where": "At ([^ ]+)\\."}, "answer": "High water; the licence is at {{where}}."}
]}"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wasm = |name| {
        Component::from_file(format!("{}/../stock/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR")).as_ref())
    };
    let tide =
        NativeTool::new("tide", "The tide at a place.", &json!({"type": "object"}), |arguments| async move {
            Ok(format!(
                "high at the {}",
                arguments.get("place").and_then(|place| place.as_str()).unwrap_or("shore")
            ))
        });
    let host = Host::builder()
        .workspace(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .model(Arc::new(ScriptedModel::parse("example".as_ref(), SCRIPT)?)) // or `deputy::model::connect`
        .tool(tide)
        .subagent(Subagent::new("scout", wasm("explore")?).tools_as_imported())
        .subagent(Subagent::new("planner", wasm("plan")?).tools_as_imported())
        .build()?;
    println!("{}", host.run("How is the tide, and where is the licence?").await.answer.unwrap_or_default());
    Ok(())
}

//! `deputy inspect`: what a component can and cannot do, read from its bytes.

use deputy::sandbox::{Component, Surface, sha256};
use deputy_contract::{ALL_TOOLS, WIT_PACKAGE};
use serde_json::{Value, json};

use crate::arguments::InspectArguments;
use crate::ending::{Ending, ends};
use crate::render;
use crate::subagents::named;

pub(crate) fn run(arguments: &InspectArguments) -> anyhow::Result<Ending> {
    let named = named(&arguments.component)?;
    let surface =
        Component::inspect(&named.name, &named.bytes).map_err(|error| ends(Ending::Failed, error))?;
    if arguments.json {
        let mut object = surface_json(&surface);
        object["file"] = json!(named.name);
        object["sha256"] = json!(sha256(&named.bytes));
        object["bytes"] = json!(named.bytes.len());
        render::json(&object);
    } else {
        render::out(&words(&named.name, &named.bytes, &surface));
    }
    Ok(Ending::Answered)
}

/// The imports and exports as an object.
pub(crate) fn surface_json(surface: &Surface) -> Value {
    json!({
        "file": null,
        "sha256": null,
        "bytes": null,
        "wit": wit(surface),
        "tools": surface.tools,
        "model": surface.model,
        "toolbox": surface.toolbox,
        "progress": surface.progress,
        "wasi": surface.wasi,
        "other": surface.other,
        "exports": surface.exports,
        "description": surface.description,
    })
}

/// The contract that a component names.
fn wit(surface: &Surface) -> Option<String> {
    surface.wit_versions.iter().next_back().map(|version| format!("{WIT_PACKAGE}@{version}"))
}

fn words(name: &str, bytes: &[u8], surface: &Surface) -> String {
    let mut text = format!("{}\n", render::line(name));
    let mut row = |label: &str, value: &str| text.push_str(&format!("  {label:<12} {value}\n"));
    row("sha256", &sha256(bytes));
    row("bytes", &bytes.len().to_string());
    row("contract", &wit(surface).unwrap_or_else(|| "none: it is no subagent of Deputy".to_owned()));
    if let Some(description) = &surface.description {
        row("says", &render::line(description));
    }
    let mut can: Vec<String> = surface.tools.iter().cloned().collect();
    can.extend(surface.model.then(|| "speak with a model".to_owned()));
    can.extend(surface.toolbox.then(|| "call tools that it is handed".to_owned()));
    can.extend(surface.progress.then(|| "report progress".to_owned()));
    let or_nothing =
        |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    row("can", &or_nothing(can));
    let cannot =
        ALL_TOOLS.iter().filter(|tool| !surface.tools.contains(tool.name)).map(|tool| tool.name.to_owned());
    row("cannot", &or_nothing(cannot.collect()));
    row("wasi", &format!("{} interfaces of the inert base", surface.wasi.len()));
    for import in &surface.other {
        row("unknown", &format!("{}: no host of this version grants it", render::line(import)));
    }
    row("exports", &or_nothing(surface.exports.iter().map(|name| render::line(name)).collect()));
    text
}

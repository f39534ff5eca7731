//! `deputy inspect`: what a component can and cannot do, read from its bytes.

use std::collections::{BTreeMap, BTreeSet};

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
        Component::inspect(&named.name, &named.bytes).map_err(|error| ends(Ending::Failed, &error))?;
    if arguments.json {
        let mut object = json!({
            "file": named.name,
            "sha256": sha256(&named.bytes),
            "bytes": named.bytes.len(),
        });
        if let (Some(object), Some(surface)) =
            (object.as_object_mut(), surface_json(&surface).as_object_mut())
        {
            object.append(surface);
        }
        render::json(&object);
    } else {
        render::out(&words(&named.name, &named.bytes, &surface));
    }
    Ok(Ending::Answered)
}

/// The imports and exports as an object.
pub(crate) fn surface_json(surface: &Surface) -> Value {
    json!({
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
    row(&mut text, "sha256", &sha256(bytes));
    row(&mut text, "bytes", &bytes.len().to_string());
    row(
        &mut text,
        "contract",
        &wit(surface).unwrap_or_else(|| "none: it is no subagent of Deputy".to_owned()),
    );
    if let Some(description) = &surface.description {
        row(&mut text, "says", &render::line(description));
    }
    text.push_str(&surface_words(surface));
    text
}

/// What a component can and cannot do, in rows.
pub(crate) fn surface_words(surface: &Surface) -> String {
    let mut text = String::new();
    let more = [
        (surface.model, "speak with a model"),
        (surface.toolbox, "call tools that it is handed"),
        (surface.progress, "report progress"),
    ];
    let more = more.into_iter().filter(|(is, _)| *is).map(|(_, can)| can);
    row(&mut text, "can", &render::or_nothing(surface.tools.iter().map(String::as_str).chain(more)));
    let cannot = ALL_TOOLS.iter().map(|tool| tool.name).filter(|tool| !surface.tools.contains(*tool));
    row(&mut text, "cannot", &render::or_nothing(cannot));
    row(&mut text, "wasi", &render::or_nothing(by_package(&surface.wasi)));
    for import in &surface.other {
        row(&mut text, "unknown", &format!("{}: no host of this version grants it", render::line(import)));
    }
    row(&mut text, "exports", &render::or_nothing(&surface.exports));
    text
}

fn row(text: &mut String, label: &str, value: &str) {
    text.push_str(&format!("  {label:<12} {value}\n"));
}

/// Interfaces of a package together, without versions: `cli (environment exit)`.
fn by_package(interfaces: &BTreeSet<String>) -> Vec<String> {
    let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for interface in interfaces {
        let name = interface.split('@').next().unwrap_or(interface);
        let name = name.strip_prefix("wasi:").unwrap_or(name);
        let (package, interface) = name.split_once('/').unwrap_or((name, ""));
        packages.entry(package).or_default().push(interface);
    }
    packages.iter().map(|(package, interfaces)| format!("{package} ({})", interfaces.join(" "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_words_say_what_is_there_and_claim_nothing_of_it() {
        let surface = Surface {
            tools: set(&["grep_files", "run_program"]),
            model: true,
            wasi: set(&["wasi:cli/exit@0.2.6", "wasi:cli/stderr@0.2.6", "wasi:sockets/tcp@0.2.6"]),
            other: set(&["lighthouse:keeper/lamp@1.0.0"]),
            exports: set(&["deputy:agent/handler@0.1.0"]),
            ..Surface::default()
        };
        let words = surface_words(&surface);
        let rows: Vec<&str> = words.lines().collect();
        assert_eq!(rows[0], "  can          grep_files, run_program, speak with a model");
        assert!(
            rows[1].starts_with("  cannot       edit_file, fetch_url, find_files, list_files,"),
            "{words}"
        );
        assert!(!rows[1].contains("grep_files") && !rows[1].contains("run_program"), "{words}");
        assert_eq!(rows[2], "  wasi         cli (exit stderr), sockets (tcp)");
        assert!(rows[3].starts_with("  unknown      lighthouse:keeper/lamp@1.0.0"), "{words}");
        assert_eq!(rows[4], "  exports      deputy:agent/handler@0.1.0");
    }

    #[test]
    fn a_component_that_imports_nothing_can_do_nothing() {
        let words = surface_words(&Surface::default());
        assert!(
            words.starts_with("  can          nothing\n") && words.contains("  exports      nothing\n"),
            "{words}"
        );
        assert_eq!(wit(&Surface::default()), None);
    }
}

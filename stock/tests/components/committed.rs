//! The committed components: what they import is what their world and their declaration say.

use std::process::Command;

use deputy_contract::WIT_VERSION;
use deputy_stock::{STOCK, stock};

use crate::component::{Component, short_name, world};
use crate::guest_build::{repository, run};

#[test]
fn each_imports_every_tool_of_its_world_and_nothing_beside_the_base() {
    for subagent in STOCK {
        let component = Component::read(subagent.wasm);
        assert_eq!(component.tools(), subagent.tools, "{}", subagent.name);
        // `react` runs prompts: its world is the smallest.
        let named = if subagent.name == "react" { "agent" } else { subagent.name };
        let (imports, exports) = world(&repository(), named);
        let tools: Vec<_> =
            imports.keys().filter_map(|name| short_name(name)).filter(|name| is_tool(name)).collect();
        let declared: Vec<_> = subagent.tools.iter().map(|tool| tool.replace('_', "-")).collect();
        assert_eq!(declared, tools, "{}", subagent.name);
        for (name, functions) in component.imports.iter().filter(|(name, _)| short_name(name).is_some()) {
            let allowed = imports.get(name).unwrap_or_else(|| panic!("{}: `{name}`", subagent.name));
            assert!(functions.is_subset(allowed), "{}: `{name}` {functions:?}", subagent.name);
        }
        assert_eq!(component.exports, exports, "{}", subagent.name);
    }
}

#[test]
fn only_what_is_used_is_imported_of_the_base_too() {
    let component = Component::read(stock("explore").unwrap().wasm);
    let functions = |interface: &str| {
        let name = format!("deputy:agent/{interface}@{WIT_VERSION}");
        component.imports[&name].iter().map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(functions("types"), "[method]task.input [method]task.max-turns");
    assert_eq!(
        functions("model"),
        "[method]conversation.answer-call [method]conversation.complete [method]conversation.say [static]conversation.open"
    );
    assert_eq!(functions("toolbox"), "[method]tool.spec call-all");
    assert_eq!(functions("progress"), "keep report");
}

#[test]
fn each_says_of_itself_what_the_crate_says_of_it() {
    for subagent in STOCK {
        let section = Component::read(subagent.wasm).section;
        assert_eq!(section["description"], subagent.description, "{}", subagent.name);
        assert_eq!(section["sdk"], env!("CARGO_PKG_VERSION"), "{}", subagent.name);
        assert_eq!(section["wit"], WIT_VERSION, "{}", subagent.name);
    }
}

#[test]
fn each_description_says_what_the_subagent_cannot_see() {
    for subagent in STOCK {
        assert!(subagent.description.contains("does not see this conversation"), "{}", subagent.name);
        assert!(subagent.description.len() < 1024, "{}: {}", subagent.name, subagent.description.len());
        assert_eq!(stock(subagent.name), Some(subagent));
    }
    assert_eq!(stock("Explore"), None);
}

#[test]
fn each_is_small_and_holds_no_path_of_the_machine_that_built_it() {
    for subagent in STOCK {
        assert!(subagent.wasm.len() < 250 * 1024, "{}: {} bytes", subagent.name, subagent.wasm.len());
        for path in ["/work", "/root", "/home", "/Users", "/tmp", ".cargo/registry"] {
            let found = subagent.wasm.windows(path.len()).any(|bytes| bytes == path.as_bytes());
            assert!(!found, "{} holds `{path}`", subagent.name);
        }
    }
}

#[test]
fn the_sources_are_those_that_the_stock_was_built_from() {
    let now = run(Command::new(repository().join("scripts/stock-sources")));
    let built = std::fs::read_to_string(repository().join("stock/sources.sha256")).unwrap();
    let changed: Vec<_> = now
        .lines()
        .filter(|line| !built.lines().any(|other| other == *line))
        .chain(built.lines().filter(|line| !now.lines().any(|other| other == *line)))
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    assert!(changed.is_empty(), "sources changed since the stock was built; run `make stock`: {changed:?}");
}

fn is_tool(interface: &str) -> bool {
    deputy_contract::ALL_TOOLS.iter().any(|tool| tool.interface() == interface)
}

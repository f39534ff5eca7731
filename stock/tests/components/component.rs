//! What a component says of itself, read without running it; and what a world of `wit/` allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use deputy_contract::{ALL_TOOLS, WIT_PACKAGE, WIT_VERSION};
use serde_json::Value;
use wasmparser::{Parser, Payload};
use wit_component::{DecodedWasm, decode};
use wit_parser::{Resolve, WorldId, WorldItem};

/// Interfaces by their full name, each with its functions.
pub(crate) type Interfaces = BTreeMap<String, BTreeSet<String>>;

/// Interfaces of the package that are no tool.
const BASE: &[&str] = &["types", "model", "toolbox", "progress"];

/// WASI interfaces that a host links for a guest built with Rust's standard library.
const WASI: &[&str] = &["wasi:io/", "wasi:clocks/", "wasi:random/", "wasi:cli/"];
const WASI_FILES: &[&str] = &["wasi:filesystem/types@", "wasi:filesystem/preopens@"];

/// The decoded world of a component.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) imports: Interfaces,
    pub(crate) exports: Interfaces,
    /// The section `deputy:subagent`.
    pub(crate) section: Value,
}

impl Component {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let DecodedWasm::Component(resolve, world) = decode(bytes).unwrap() else {
            panic!("a WIT package where a component was expected");
        };
        let (imports, exports) = interfaces(&resolve, world);
        Self { imports, exports, section: section(bytes) }
    }

    /// The built-in tools that it imports, by name, sorted. Fails where an import is neither a tool, nor the
    /// base of every subagent, nor the base of a standard library.
    pub(crate) fn tools(&self) -> Vec<String> {
        let mut tools = Vec::new();
        for (name, functions) in &self.imports {
            if let Some(interface) = short_name(name) {
                if let Some(tool) = ALL_TOOLS.iter().find(|tool| tool.interface() == interface) {
                    assert_eq!(functions, &BTreeSet::from([interface.to_owned()]), "{name}");
                    tools.push(tool.name.to_owned());
                } else {
                    assert!(BASE.contains(&interface), "`{name}` is no interface of the contract");
                }
            } else {
                let known = WASI.iter().chain(WASI_FILES).any(|prefix| name.starts_with(prefix));
                assert!(known, "`{name}` is outside the base that a host links");
            }
        }
        tools
    }
}

/// What the world of that name in `wit/` imports and exports.
pub(crate) fn world(repository: &Path, name: &str) -> (Interfaces, Interfaces) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(repository.join("wit")).unwrap();
    let world = resolve.select_world(&[package], Some(name)).unwrap();
    interfaces(&resolve, world)
}

/// `read-file` of `deputy:agent/read-file@0.1.0`.
pub(crate) fn short_name(interface: &str) -> Option<&str> {
    interface.strip_prefix(WIT_PACKAGE)?.strip_prefix('/')?.strip_suffix(WIT_VERSION)?.strip_suffix('@')
}

fn interfaces(resolve: &Resolve, world: WorldId) -> (Interfaces, Interfaces) {
    let world = &resolve.worlds[world];
    let named = |items: &mut dyn Iterator<Item = (&wit_parser::WorldKey, &WorldItem)>| {
        items
            .map(|(key, item)| {
                let WorldItem::Interface { id, .. } = item else {
                    panic!("only interfaces are expected, not {item:?}");
                };
                let functions = resolve.interfaces[*id].functions.keys().cloned().collect();
                (resolve.name_world_key(key), functions)
            })
            .collect()
    };
    (named(&mut world.imports.iter()), named(&mut world.exports.iter()))
}

fn section(bytes: &[u8]) -> Value {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::CustomSection(section) = payload.unwrap()
            && section.name() == "deputy:subagent"
        {
            found.push(section.data().to_vec());
        }
    }
    assert_eq!(found.len(), 1, "one section says what the component is");
    serde_json::from_slice(&found.concat()).unwrap()
}

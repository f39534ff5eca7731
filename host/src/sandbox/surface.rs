//! What a component imports and exports, read from its bytes before anything is compiled or run.
//! Must not decide whether that is fine: it only says what is there.

use std::collections::{BTreeMap, BTreeSet};

use deputy_contract::{ALL_TOOLS, WIT_PACKAGE};
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldItem, WorldKey};

/// Name of the custom section in which an author describes a subagent.
const DESCRIPTION_SECTION: &str = "deputy:subagent";
/// Most bytes of that section that are read.
const DESCRIPTION_BYTES: usize = 16 * 1024;

/// A component's list of permissions, and what it offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// The versions of `deputy:agent` that it names, imports and exports together.
    pub wit_versions: BTreeSet<String>,
    /// Built-in tools whose function it imports, by our names.
    pub tools: BTreeSet<String>,
    /// True where it may take model turns.
    pub model: bool,
    /// True where it may call tools that are handed to it.
    pub toolbox: bool,
    /// True where it may report progress.
    pub progress: bool,
    /// WASI interfaces, with their versions.
    pub wasi: BTreeSet<String>,
    /// Imports that we do not know.
    pub other: BTreeSet<String>,
    /// Exports.
    pub exports: BTreeSet<String>,
    /// What its author says of it; untrusted text.
    pub description: Option<String>,
}

/// The custom section, as its author wrote it. Fields that we do not know are left alone.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Described {
    #[serde(default)]
    description: Option<String>,
}

impl Surface {
    /// Reads the surface of a component.
    ///
    /// # Errors
    /// What the parser said, where the bytes are no valid component.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let decoded = wit_component::decode(bytes).map_err(|error| format!("{error:#}"))?;
        let DecodedWasm::Component(resolve, world) = decoded else {
            return Err("the file holds a WIT package, not a component".to_owned());
        };
        let world = resolve.worlds.get(world).ok_or_else(|| "the component describes no world".to_owned())?;
        let mut surface = Self { description: description(bytes), ..Self::default() };
        for (key, item) in &world.imports {
            surface.add_import(&resolve, key, item);
        }
        for (key, _) in &world.exports {
            let name = resolve.name_world_key(key);
            if let Some(interface) = of_package(&name) {
                surface.wit_versions.extend(interface.version.map(str::to_owned));
            }
            surface.exports.insert(name);
        }
        Ok(surface)
    }

    fn add_import(&mut self, resolve: &Resolve, key: &WorldKey, item: &WorldItem) {
        let name = resolve.name_world_key(key);
        let WorldItem::Interface { id, .. } = item else {
            // Types at world level carry no authority; a bare function is one that we do not know.
            if matches!(item, WorldItem::Function(_)) {
                self.other.insert(name);
            }
            return;
        };
        if name.starts_with("wasi:") {
            self.wasi.insert(name);
            return;
        }
        let Some(interface) = of_package(&name) else {
            self.other.insert(name);
            return;
        };
        self.wit_versions.extend(interface.version.map(str::to_owned));
        let functions: BTreeMap<_, _> =
            resolve.interfaces.get(*id).map(|of| of.functions.iter().collect()).unwrap_or_default();
        match interface.name {
            "types" => {}
            "model" => self.model |= !functions.is_empty(),
            "toolbox" => self.toolbox |= !functions.is_empty(),
            "progress" => self.progress |= !functions.is_empty(),
            name => match ALL_TOOLS.iter().find(|tool| tool.interface() == name) {
                Some(tool) => {
                    for function in functions.keys() {
                        if **function == tool.interface() {
                            self.tools.insert(tool.name.to_owned());
                        } else {
                            self.other.insert(format!("{WIT_PACKAGE}/{name}#{function}"));
                        }
                    }
                }
                None => {
                    self.other.insert(format!("{WIT_PACKAGE}/{name}"));
                }
            },
        }
    }
}

/// An interface of our own package.
struct Ours<'a> {
    name: &'a str,
    version: Option<&'a str>,
}

/// Parts `deputy:agent/read-file@0.1.0`; none where the interface is another package's.
fn of_package(name: &str) -> Option<Ours<'_>> {
    let rest = name.strip_prefix(WIT_PACKAGE)?.strip_prefix('/')?;
    Some(match rest.split_once('@') {
        Some((name, version)) => Ours { name, version: Some(version) },
        None => Ours { name: rest, version: None },
    })
}

/// The author's description, from the custom section of the component or of a module in it.
fn description(bytes: &[u8]) -> Option<String> {
    for payload in Parser::new(0).parse_all(bytes) {
        let Ok(Payload::CustomSection(section)) = payload else { continue };
        if section.name() != DESCRIPTION_SECTION || section.data().len() > DESCRIPTION_BYTES {
            continue;
        }
        if let Ok(described) = serde_json::from_slice::<Described>(section.data()) {
            return described.description.filter(|text| !text.trim().is_empty());
        }
    }
    None
}

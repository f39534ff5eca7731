//! Where subagents come from: the stock ones and component files. Must not run or register them.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use deputy::sandbox::{Component, ComponentError};
use deputy::subagent::Subagent;
use deputy_stock::{STOCK, StockSubagent};

/// The component that runs prompts; it is no subagent by itself.
const PROMPT_RUNNER: &str = "react";

/// The stock subagents that a parent can delegate to.
pub(crate) fn stock() -> Result<Vec<Subagent>, ComponentError> {
    STOCK.iter().filter(|one| one.name != PROMPT_RUNNER).map(stock_subagent).collect()
}

fn stock_subagent(one: &StockSubagent) -> Result<Subagent, ComponentError> {
    let component = Component::from_bytes(one.name, one.wasm.into())?;
    Ok(Subagent::new(one.name, component).description(one.description).tools(one.tools.iter().copied()))
}

/// A component file as a subagent: named by its file, described by itself, asking for what it imports.
pub(crate) fn plugin(path: &Path) -> Result<Subagent, ComponentError> {
    let component = Component::from_file(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Subagent::new(name, component).tools_as_imported())
}

/// The bytes that a name on the command line stands for, and what to call them.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) bytes: Arc<[u8]>,
}

/// Finds a component file or a stock subagent.
pub(crate) fn named(given: &str) -> anyhow::Result<Named> {
    let path = Path::new(given);
    let is_file = given.contains('/') || path.extension().is_some_and(|extension| extension == "wasm");
    if is_file {
        let bytes = Component::read_file(path)?;
        return Ok(Named { name: given.to_owned(), bytes });
    }
    match STOCK.iter().find(|one| one.name == given) {
        Some(one) => Ok(Named { name: given.to_owned(), bytes: one.wasm.into() }),
        None => {
            let names: Vec<&str> = STOCK.iter().map(|one| one.name).collect();
            Err(anyhow!(
                "`{given}` is no stock subagent and no component file: expected one of {}, or a file that ends in .wasm",
                names.join(", ")
            ))
        }
    }
}

/// What was perhaps meant by `given`.
pub(crate) fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.map(|one| (strsim::jaro_winkler(given, one), one));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
}

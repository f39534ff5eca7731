//! One layer of the configuration: a table that fits the types, and where it is from. Must not weigh layers
//! against one another, beyond that a later one wins.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use toml::{Table, Value};

use super::problem::{Problem, short};
use super::{Config, File, lines, reader};

/// The configuration of the binary itself.
const BUILT_IN: &str = include_str!("default.toml");

/// What a value of an override begins with that can only be meant as TOML.
const TOML_ONLY: [char; 4] = ['"', '\'', '[', '{'];

#[derive(Debug)]
enum Origin {
    BuiltIn,
    File { path: PathBuf, text: String },
    Override(String),
}

/// A layer, checked against the types.
#[derive(Debug)]
pub(super) struct Layer {
    origin: Origin,
    table: Table,
}

impl Layer {
    pub(super) fn built_in() -> anyhow::Result<Self> {
        let table = BUILT_IN.parse().context("the built-in configuration")?;
        Self { origin: Origin::BuiltIn, table }.checked()
    }

    pub(super) fn of_file(file: &File) -> anyhow::Result<Self> {
        let path = file.path();
        let text = std::str::from_utf8(file.bytes())
            .with_context(|| format!("{} is not UTF-8 text", path.display()))?;
        let table = text.parse::<Table>().map_err(|error| {
            let line = error.span().map(|span| lines::of_offset(text, span.start));
            anyhow!("{}: {}", place(path, line), error.message())
        })?;
        Self { origin: Origin::File { path: path.to_owned(), text: text.to_owned() }, table }.checked()
    }

    /// From `KEY=VALUE`: a dotted key and a TOML value, or a word that is text.
    pub(super) fn of_override(given: &str) -> anyhow::Result<Self> {
        let set = short(given);
        // A whole line of a file, keys in quotes included.
        if let (false, Ok(table)) = (given.contains('\n'), given.parse::<Table>())
            && !table.is_empty()
        {
            return Self { origin: Origin::Override(set), table }.checked();
        }
        let parts = given.split_once('=').map(|(key, value)| {
            let keys: Vec<String> = key.split('.').map(|key| key.trim().to_owned()).collect();
            (keys, value.trim())
        });
        let Some((keys, value)) = parts.filter(|(keys, _)| keys.iter().all(|key| !key.is_empty())) else {
            return Err(anyhow!("--set {set}: expected KEY=VALUE, such as handoff.max_depth=2"));
        };
        let value = match value.parse::<Value>() {
            Ok(value) => value,
            Err(error) if value.starts_with(TOML_ONLY) => {
                return Err(anyhow!("--set {set}: {}; quote it where text is meant", error.message()));
            }
            Err(_) => Value::String(value.to_owned()),
        };
        Self { origin: Origin::Override(set), table: nested(&keys, value) }.checked()
    }

    /// The same layer with less in it.
    pub(super) fn with(self, table: Table) -> Self {
        Self { table, ..self }
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn has(&self, keys: &[&str]) -> bool {
        has(&self.table, keys)
    }

    /// A problem of this layer, with where it stands.
    pub(super) fn told(&self, problem: &Problem) -> anyhow::Error {
        match &self.origin {
            Origin::BuiltIn => anyhow!("the built-in configuration: {problem}"),
            Origin::Override(set) => anyhow!("--set {set}: {problem}"),
            Origin::File { path, text } => {
                anyhow!("{}: {problem}", place(path, lines::of_steps(text, &problem.steps)))
            }
        }
    }

    fn checked(self) -> anyhow::Result<Self> {
        match reader::read::<Config>(&self.table) {
            Ok(_) => Ok(self),
            Err(problem) => Err(self.told(&problem)),
        }
    }
}

fn place(path: &std::path::Path, line: Option<usize>) -> String {
    line.map_or_else(|| path.display().to_string(), |line| format!("{}:{line}", path.display()))
}

/// Lays one table over another: what it has wins, key by key.
pub(super) fn merge(under: &mut Table, over: &Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

/// A value with the tables around it.
pub(super) fn nested(keys: &[String], value: Value) -> Table {
    let mut table = Table::new();
    if let Some((first, rest)) = keys.split_first() {
        let value = if rest.is_empty() { value } else { Value::Table(nested(rest, value)) };
        table.insert(first.clone(), value);
    }
    table
}

/// The value that some keys lead to.
pub(super) fn at<'a, K: AsRef<str>>(table: &'a Table, keys: &[K]) -> Option<&'a Value> {
    let (last, tables) = keys.split_last()?;
    let mut table = table;
    for key in tables {
        table = table.get(key.as_ref())?.as_table()?;
    }
    table.get(last.as_ref())
}

/// Whether the keys lead to something.
pub(super) fn has(table: &Table, keys: &[&str]) -> bool {
    at(table, keys).is_some()
}

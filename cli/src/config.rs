//! The configuration: what counts of the built-in one, a file and what the command line sets, and what that
//! settles to. Must not decide what a value means for a run, nor whom to trust.

mod duration;
mod file;
mod layers;
mod lines;
mod narrow;
mod numbers;
mod problem;
mod reader;
mod tables;
mod tools;

use std::path::PathBuf;

use anyhow::anyhow;
use toml::Table;

pub(crate) use file::{File, NAME};
use layers::Layer;
use problem::{Problem, Step};
pub(crate) use tables::{
    Config, Declarations, Handoff, Model, Prices, Purse, Subagent, Tools, WorkspaceWord,
};
pub(crate) use tools::INHERIT;

/// Where a configuration file comes from, which decides how much of it counts.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// There is none.
    None,
    /// The operator named it: it counts whole.
    Operator(File),
    /// The workspace's own, where it has one. Untrusted, it can only narrow.
    Workspace { file: Option<File>, trusted: bool },
}

/// A subagent that is built in, and the tools that it declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stock<'a> {
    pub(crate) name: &'a str,
    pub(crate) tools: &'a [&'a str],
}

/// A configuration and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
    /// What of the file did not count, for want of trust.
    pub(crate) ignored: Vec<Ignored>,
}

/// A key that counts only when its file is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ignored {
    /// Dotted; fit for a terminal.
    pub(crate) key: String,
}

impl Config {
    /// Settles the layers: the built-in one, the file, then each of `overrides`, given as `KEY=VALUE`. What comes
    /// later wins key by key.
    pub(crate) fn load(source: Source, overrides: &[String], stock: &[Stock<'_>]) -> anyhow::Result<Loaded> {
        let (loaded, layers) = Self::layered(source, overrides, stock)?;
        loaded.config.check(&layers, stock)?;
        Ok(loaded)
    }

    /// How agent files are found and read, which is asked before it is known which subagents there are.
    pub(crate) fn declarations(source: Source, overrides: &[String]) -> anyhow::Result<Declarations> {
        Ok(Self::layered(source, overrides, &[])?.0.config.declarations)
    }

    fn layered(
        source: Source,
        overrides: &[String],
        stock: &[Stock<'_>],
    ) -> anyhow::Result<(Loaded, Vec<Layer>)> {
        let (file, whole) = match source {
            Source::None => (None, true),
            Source::Operator(file) => (Some(file), true),
            Source::Workspace { file, trusted } => (file, trusted),
        };
        let mut layers = vec![Layer::built_in()?];
        let overrides: Vec<Layer> =
            overrides.iter().map(|text| Layer::of_override(text)).collect::<anyhow::Result<_>>()?;
        let mut ignored = Vec::new();
        if let Some(file) = &file {
            let mut layer = Layer::of_file(file)?;
            if !whole {
                let operator = narrow::Operator { base: merged(&layers), set: merged(&overrides), stock };
                let narrowed = operator.narrow(layer.table());
                ignored = narrowed.ignored;
                layer = layer.with(narrowed.table);
            }
            layers.push(layer);
        }
        let set = merged(&overrides);
        layers.extend(overrides);
        let mut config: Self = reader::read(&merged(&layers)).map_err(|problem| anyhow!("{problem}"))?;
        if let Some(file) = &file {
            config.resolve(file, &set);
        }
        Ok((Loaded { config, file: file.map(|file| file.path().to_owned()), ignored }, layers))
    }

    /// That each subagent is one thing.
    fn check(&self, layers: &[Layer], stock: &[Stock<'_>]) -> anyhow::Result<()> {
        let names: Vec<&str> = stock.iter().map(|one| one.name).collect();
        for (name, subagent) in &self.subagents {
            let elsewhere =
                matches!(subagent.workspace, Some(WorkspaceWord::Shared | WorkspaceWord::Worktree));
            let wrong = match (&subagent.component, &subagent.prompt) {
                _ if elsewhere && subagent.workspace_path.is_some() => {
                    "has a `workspace_path`, which goes with `workspace = \"isolated\"` alone".to_owned()
                }
                (Some(_), Some(_)) => "has both `component` and `prompt`: keep one of them".to_owned(),
                (None, None) if !names.contains(&name.as_str()) => format!(
                    "needs a `component` or a `prompt`: {}",
                    crate::subagents::unknown("subagent", &problem::short(name), &names)
                ),
                _ => continue,
            };
            let steps = vec![Step::Key("subagents".to_owned()), Step::Key(name.clone())];
            let problem = Problem { steps, fault: problem::Fault::Other(wrong) };
            let from = layers.iter().rev().find(|layer| layer.has(&["subagents", name]));
            return Err(from.map_or_else(|| anyhow!("{problem}"), |layer| layer.told(&problem)));
        }
        Ok(())
    }

    /// Makes the components and directories that the file names relative to it; those of the command line stay as they are.
    fn resolve(&mut self, file: &File, set: &Table) {
        let agents = self.declarations.agents.iter_mut().flatten();
        if !layers::has(set, &["declarations", "agents"]) {
            agents.for_each(|path| *path = file.directory().join(&path));
        }
        for (name, subagent) in &mut self.subagents {
            for (key, path) in
                [("component", &mut subagent.component), ("workspace_path", &mut subagent.workspace_path)]
            {
                if let Some(path) = path.as_mut().filter(|_| !layers::has(set, &["subagents", name, key])) {
                    *path = file.directory().join(&path);
                }
            }
        }
    }
}

/// A key as a line of a file has it.
pub(crate) fn dotted_key(keys: &[&str]) -> String {
    problem::dotted(&keys.iter().map(|key| Step::Key((*key).to_owned())).collect::<Vec<_>>())
}

fn merged(layers: &[Layer]) -> Table {
    let mut all = Table::new();
    for layer in layers {
        layers::merge(&mut all, layer.table());
    }
    all
}

#[cfg(test)]
mod tests;

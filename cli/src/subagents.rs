//! Where subagents come from: the stock ones and component files. Must not run or register them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use deputy::governance::ToolList;
use deputy::sandbox::{Component, ComponentError, GuestLimits};
use deputy::subagent::Subagent;
use deputy::workspace::WorkspaceMode;
use deputy_stock::{STOCK, StockSubagent};

use crate::config::{self, Config, INHERIT, WorkspaceWord};
use crate::declarations::GENERAL_PURPOSE;

/// The component that runs prompts; it is no subagent by itself.
const PROMPT_RUNNER: &str = "react";

/// The subagent that writes and runs commands, in a worktree so that nothing of it is final.
const GENERAL: &str = "general";

/// The subagent that mirrors its parent.
const MIRROR: &str = "general-purpose";

const MIRROR_DESCRIPTION: &str = "Does a whole task from end to end on the same files, with the reading and writing tools that you have \
yourself; no commands, no network, no delegation. Use it for work that would fill this conversation and fits none of the more limited \
subagents. It does not see this conversation: put into the task whatever it has to know.";

/// The subagents that a parent can delegate to unless it is told otherwise. `runner` runs prompts.
pub(crate) fn stock(runner: &Arc<Component>) -> Result<Vec<Subagent>, ComponentError> {
    let mirror = Subagent::new(MIRROR, runner.clone())
        .description(MIRROR_DESCRIPTION)
        .instructions(GENERAL_PURPOSE)
        .inherit_tools()
        .source("built in");
    let of_stock = STOCK.iter().filter(|one| one.name != PROMPT_RUNNER).map(stock_subagent);
    std::iter::once(Ok(mirror)).chain(of_stock).collect()
}

fn stock_subagent(one: &StockSubagent) -> Result<Subagent, ComponentError> {
    let component = Component::from_bytes(one.name, one.wasm.into())?;
    let subagent = Subagent::new(one.name, component)
        .description(one.description)
        .tools(one.tools.iter().copied())
        .source("built in");
    Ok(if one.name == GENERAL { subagent.workspace(WorkspaceMode::Worktree) } else { subagent })
}

/// A component file as a subagent: named by its file, described by itself, asking for what it imports.
pub(crate) fn plugin(path: &Path) -> Result<Subagent, ComponentError> {
    let component = Component::from_file(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Subagent::new(name, component).tools_as_imported().source(path.display().to_string()))
}

/// The subagents as the configuration has them: changed, left out, or of its own. What is `declared` was made under it
/// already.
pub(crate) fn configured(
    known: Vec<Subagent>,
    declared: impl IntoIterator<Item = Subagent>,
    config: &Config,
    file: Option<&Path>,
    runner: &Arc<Component>,
) -> anyhow::Result<Vec<Subagent>> {
    let mut subagents: Vec<Subagent> = Vec::new();
    for subagent in known {
        match config.subagents.get(subagent.name().as_str()) {
            None => subagents.push(limited(subagent, config, None)),
            Some(table) if table.enabled == Some(false) => {}
            Some(table) => subagents.push(as_set(limited(subagent, config, Some(table)), table)),
        }
    }
    subagents.extend(declared);
    for (name, table) in &config.subagents {
        let made = match (&table.component, &table.prompt) {
            (Some(component), _) => {
                Subagent::new(name.as_str(), Component::from_file(component)?).tools_as_imported()
            }
            (None, Some(prompt)) => {
                Subagent::new(name.as_str(), runner.clone()).instructions(prompt.as_str())
            }
            (None, None) => continue,
        };
        let source = file.map_or_else(|| "--set".to_owned(), |file| file.display().to_string());
        if table.enabled != Some(false) {
            subagents.retain(|one| one.name() != made.name());
            subagents.push(as_set(limited(made.source(source), config, Some(table)), table));
        }
    }
    Ok(subagents)
}

/// The component that runs prompts: one for all of them, read and compiled once.
pub(crate) fn prompt_runner() -> anyhow::Result<Arc<Component>> {
    let one = STOCK
        .iter()
        .find(|one| one.name == PROMPT_RUNNER)
        .context("there is no component that runs prompts")?;
    Ok(Arc::new(Component::from_bytes(one.name, one.wasm.into())?))
}

/// A subagent under the limits of the configuration.
fn limited(subagent: Subagent, config: &Config, own: Option<&config::Subagent>) -> Subagent {
    subagent.limits(guest_limits(config, own))
}

/// The limits of the configuration for one subagent: its own, else those of all.
pub(crate) fn guest_limits(config: &Config, own: Option<&config::Subagent>) -> GuestLimits {
    let base = GuestLimits::default();
    let memory = own.and_then(|own| own.memory).or(config.limits.memory);
    GuestLimits {
        time: own.and_then(|own| own.timeout),
        fuel: own.and_then(|own| own.fuel).or(config.limits.fuel).unwrap_or(base.fuel),
        memory: memory.map_or(base.memory, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
    }
}

/// A subagent with what its table sets, its place among it.
fn as_set(subagent: Subagent, table: &config::Subagent) -> Subagent {
    let subagent = changed(subagent, table);
    if let Some(path) = &table.workspace_path {
        return subagent.workspace(WorkspaceMode::At(path.clone()));
    }
    match table.workspace {
        Some(WorkspaceWord::Shared) => subagent.workspace(WorkspaceMode::Shared),
        Some(WorkspaceWord::Isolated) => subagent.workspace(WorkspaceMode::Isolated),
        Some(WorkspaceWord::Worktree) => subagent.workspace(WorkspaceMode::Worktree),
        None => subagent,
    }
}

/// A subagent with what its table sets but for its place.
pub(crate) fn changed(mut subagent: Subagent, table: &config::Subagent) -> Subagent {
    let list = |names: &[String]| ToolList::of(names.iter().map(String::as_str));
    if let Some(description) = &table.description {
        subagent = subagent.description(description);
    }
    if let Some(tool_name) = &table.tool_name {
        subagent = subagent.tool_name(tool_name.as_str());
    }
    if let Some(tools) = &table.tools {
        let inherits = tools.iter().any(|tool| tool == INHERIT);
        subagent = subagent.tools(tools.iter().filter(|tool| *tool != INHERIT).map(String::as_str));
        subagent = if inherits { subagent.inherit_tools() } else { subagent };
    }
    if let Some(mode) = table.session_mode {
        subagent = subagent.session_mode(mode);
    }
    if let Some(turns) = table.max_turns {
        subagent = subagent.max_turns(turns);
    }
    if let Some(names) = &table.allowed_tools {
        subagent = subagent.allowed_tools(list(names));
    }
    match &table.denied_tools {
        Some(names) => subagent.denied_tools(list(names)),
        None => subagent,
    }
}

/// The bytes that a name on the command line stands for, and what to call them.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) bytes: Arc<[u8]>,
}

/// Whether a word of the command line means a file, not a name.
pub(crate) fn is_file(given: &str) -> bool {
    given.contains('/') || given.ends_with(".wasm")
}

/// Finds a component file or a stock subagent.
pub(crate) fn named(given: &str) -> anyhow::Result<Named> {
    let path = Path::new(given);
    if is_file(given) {
        let bytes = Component::read_file(path)?;
        return Ok(Named { name: given.to_owned(), bytes });
    }
    match STOCK.iter().find(|one| one.name == given) {
        Some(one) => Ok(Named { name: given.to_owned(), bytes: one.wasm.into() }),
        None => {
            let names: Vec<&str> = STOCK.iter().map(|one| one.name).collect();
            Err(anyhow!(
                "{}, or a component file, whose name ends in .wasm; `deputy agents show` knows agents that files declare",
                unknown("stock subagent", given, &names)
            ))
        }
    }
}

/// That there is nothing of that name, what was perhaps meant, and what there is.
pub(crate) fn unknown(kind: &str, given: &str, known: &[&str]) -> String {
    let hint = nearest(given, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("there is no {kind} `{given}`{hint} (expected one of {})", known.join(", "))
}

/// What was perhaps meant by `given`.
pub(crate) fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known.iter().map(|one| (strsim::jaro_winkler(&given.to_lowercase(), one), *one));
    scored.filter(|(score, _)| *score > 0.75).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_named_and_a_far_one_is_not() {
        let known = ["explore", "plan", "verify"];
        for (given, hint) in
            [("explorer", Some("explore")), ("PLAN", Some("plan")), ("verfy", Some("verify")), ("zzz", None)]
        {
            let told = unknown("subagent", given, &known);
            assert!(told.contains(given) && told.contains("explore, plan, verify"), "{told}");
            assert_eq!(told.contains("did you mean"), hint.is_some(), "{told}");
            assert!(hint.is_none_or(|hint| told.contains(&format!("did you mean `{hint}`?"))), "{told}");
        }
    }

    #[test]
    fn what_looks_like_a_path_is_a_file_and_all_else_a_stock_name() {
        assert_eq!(named("react").unwrap().name, "react");
        for given in ["./explore", "explore.wasm", "nowhere/explore"] {
            let error = named(given).unwrap_err().to_string();
            assert!(error.contains("cannot read the component"), "{given}: {error}");
        }
        let error = named("exlpore").unwrap_err().to_string();
        assert!(error.contains("`explore`?") && error.contains(".wasm"), "{error}");
    }

    #[test]
    fn the_prompt_runner_is_no_subagent_by_itself() {
        let stock = stock(&prompt_runner().unwrap()).unwrap();
        let names: Vec<String> = stock.iter().map(|one| one.name().to_string()).collect();
        assert_eq!(names, ["general-purpose", "explore", "plan", "verify", "general"]);
    }

    #[test]
    fn the_mirror_inherits_and_names_nothing_and_the_one_that_writes_does_so_in_a_worktree() {
        let stock = stock(&prompt_runner().unwrap()).unwrap();
        let of = |name: &str| stock.iter().find(|one| one.name().as_str() == name).unwrap();
        let mirror = of(MIRROR);
        assert!(mirror.declaration().tools.inherit && mirror.declared_tools().is_empty());
        assert_eq!(*mirror.workspace_mode(), WorkspaceMode::Shared);
        assert_eq!(*of(GENERAL).workspace_mode(), WorkspaceMode::Worktree);
        assert_eq!(*of("explore").workspace_mode(), WorkspaceMode::Shared);
    }
}

//! What a host is set up from: configuration, flags and subagents, settled the same way for every command. Must not
//! build a host, or a check would not say what a run does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deputy::governance::{HandoffPolicy, Policy, Prices, PurseLimits, ToolList};
use deputy::host::HostBuilder;
use deputy::ids::AgentName;
use deputy::model::ModelSpec;
use deputy::subagent::Subagent;
use deputy_declared::Note;

use crate::arguments::{RuleArguments, SettingArguments, Shell, SupposedArguments};
use crate::config::{self, Config, File, Loaded, Source, Stock};
use crate::declarations::{self, Declarations, Place, Taken, Trust};
use crate::subagents::{configured, plugin, prompt_runner, stock};
use crate::trust::TrustList;
use crate::{render, settings, state};

/// The settled parts of a host.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) workspace: PathBuf,
    pub(crate) config: Config,
    pub(crate) subagents: Vec<Subagent>,
    /// Subagents with models of their own, which are connected when a run begins.
    pub(crate) models: Vec<(AgentName, ModelSpec)>,
    /// Agent files that make no subagent, by their ids, and why.
    pub(crate) refused: Vec<(String, String)>,
    pub(crate) policy: Policy,
    pub(crate) shell: Shell,
}

impl Setup {
    /// Settles the configuration, then the flags over it, and says what of a workspace's files did not count.
    pub(crate) fn load(
        settings: &SettingArguments,
        rules: &RuleArguments,
        yes: bool,
        shell: Option<Shell>,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        let plugins = settings.subagent.iter().map(|path| plugin(path)).collect::<Result<Vec<_>, _>>()?;
        let Settled { config, subagents, declarations } = settled(settings, plugins, quiet)?;
        if !quiet {
            declarations::tell(&declarations, true);
        }
        let models = declarations
            .agents()
            .filter_map(|agent| agent.model.clone().map(|model| (agent.subagent.name().clone(), model)));
        Ok(Self {
            workspace: settings.workspace.clone(),
            subagents,
            models: models.collect(),
            refused: declarations.refused().map(|(id, error)| (id.to_owned(), error.to_owned())).collect(),
            policy: settings::policy(&config.tools, rules, yes),
            shell: shell.or(config.tools.shell).unwrap_or(Shell::Confined),
            config,
        })
    }

    /// The same for a command that runs nothing.
    pub(crate) fn supposed(supposed: &SupposedArguments) -> anyhow::Result<Self> {
        let SupposedArguments { settings, rules, shell, json } = supposed;
        Self::load(settings, rules, false, *shell, *json)
    }

    /// Gives a builder all that is settled, but for the subagents.
    pub(crate) fn apply(&self, builder: HostBuilder) -> HostBuilder {
        let Config { limits, .. } = &self.config;
        let mut builder = builder
            .workspace(&self.workspace)
            .policy(self.policy.clone())
            .handoff_policy(handoff_policy(&self.config.handoff))
            .purse(purse(&self.config.purse));
        if let Some(prices) = prices(&self.config.model.prices) {
            builder = builder.prices(prices);
        }
        if let Some(turns) = limits.max_turns {
            builder = builder.max_turns(turns);
        }
        if let Some(turns) = limits.subagent_max_turns {
            builder = builder.subagent_max_turns(turns);
        }
        match limits.result_bytes {
            Some(bytes) => builder.result_bytes(bytes),
            None => builder,
        }
    }

    /// The same with the subagents.
    pub(crate) fn apply_with_subagents(&self, builder: HostBuilder) -> HostBuilder {
        self.subagents.iter().cloned().fold(self.apply(builder), HostBuilder::subagent)
    }
}

/// The configuration, and all subagents as it has them.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) config: Config,
    pub(crate) subagents: Vec<Subagent>,
    pub(crate) declarations: Declarations,
}

/// Settles the configuration and the subagents, `plugins` among them; says what of a workspace's configuration did not
/// count.
pub(crate) fn settled(
    settings: &SettingArguments,
    plugins: Vec<Subagent>,
    quiet: bool,
) -> anyhow::Result<Settled> {
    let source = source(settings)?;
    let table = Config::declarations(source.clone(), &settings.set)?;
    let root = root(&settings.workspace);
    let places = places(&settings.agents, &table, &settings.workspace, &root)?;
    let found = declarations::find(&places, table.strict.unwrap_or(false), &root, &trust(&places, &root)?);
    let runner = prompt_runner()?;
    let stock = stock(&runner)?;

    let loaded = loaded(source, settings, &found, stock.iter().chain(&plugins))?;
    if !quiet {
        warn_of_ignored(&loaded);
    }
    let config = loaded.config;
    let tools = tools_taken(stock.iter().chain(&plugins), &config);
    let mut taken = Taken { plugins: &plugins, stock: &stock, tools, runner: &runner, root: &root };
    let mut declarations = declarations::settle(found, &config, &mut taken);
    let shadowed = shadowed(&stock, &mut declarations);
    let left = stock.into_iter().filter(|one| !shadowed.contains(one.name()));
    let known = left.chain(plugins).collect();
    let declared = declarations.agents().map(|agent| agent.subagent.clone());
    let subagents = configured(known, declared, &config, loaded.file.as_deref(), &runner)?;
    Ok(Settled { config, subagents, declarations })
}

/// The directories of agent files of a run.
pub(crate) fn places(
    flags: &[PathBuf],
    table: &config::Declarations,
    workspace: &Path,
    root: &Path,
) -> anyhow::Result<Vec<Place>> {
    let settings = table.agents.as_deref().unwrap_or_default();
    declarations::places(flags, settings, workspace, root, |name| std::env::var_os(name))
}

/// The canonical path of a workspace.
pub(crate) fn root(workspace: &Path) -> PathBuf {
    let canonical = workspace.canonicalize().or_else(|_| std::path::absolute(workspace));
    canonical.unwrap_or_else(|_| workspace.to_owned())
}

/// What is trusted in the workspace, looked up where there is something to trust.
fn trust(places: &[Place], root: &Path) -> anyhow::Result<Trust> {
    let any = places.iter().any(|place| place.in_workspace && place.directory.is_dir());
    // Without a place for the list nothing is on it.
    let list = if any { trust_list().ok() } else { None };
    Ok(Trust::Hashes(list.map_or(Ok(BTreeSet::new()), |list| list.hashes(root))?))
}

/// Tools that no agent file may be called as.
fn tools_taken<'a>(known: impl Iterator<Item = &'a Subagent>, config: &Config) -> BTreeSet<String> {
    let own =
        config.subagents.iter().filter(|(_, table)| table.prompt.is_some() || table.component.is_some());
    let folded = own.map(|(name, _)| deputy::subagent::tool_name_for(&name.as_str().into()).to_string());
    let set = config.subagents.values().filter_map(|table| table.tool_name.clone());
    known.map(|one| one.tool().to_string()).chain(folded).chain(set).collect()
}

/// The built-in subagents in whose place a file's stands; said in a note, as is where a file does not.
fn shadowed(stock: &[Subagent], declarations: &mut Declarations) -> Vec<AgentName> {
    let mut shadowed = Vec::new();
    for name in stock.iter().map(Subagent::name) {
        let same = |id: &str| id.eq_ignore_ascii_case(name.as_str());
        let Some(entry) = declarations
            .entries
            .iter()
            .filter(|entry| same(&entry.id))
            .max_by_key(|entry| entry.agent.is_ok())
        else {
            continue;
        };
        let (file, files) = (entry.source.display(), vec![entry.source.clone()]);
        let message = if entry.agent.is_ok() {
            shadowed.push(name.clone());
            format!("two agents are called `{name}`: {file} counts, the one that is built in is left out")
        } else {
            format!("`{name}` is the one that is built in, since {file} was refused")
        };
        declarations.notes.push(Note { files, message });
    }
    shadowed
}

/// Says what of a workspace's file did not count, and what would make it count.
fn warn_of_ignored(loaded: &Loaded) {
    let Some(file) = &loaded.file else { return };
    let directory = file.parent().unwrap_or(file).display();
    for one in &loaded.ignored {
        render::warning(&format!(
            "{} sets `{}`, which counts only after `deputy trust {directory}`",
            file.display(),
            one.key
        ));
    }
}

/// The configuration, with the subagents that a table of it may be about.
fn loaded<'a>(
    source: Source,
    settings: &SettingArguments,
    found: &declarations::Found,
    known: impl Iterator<Item = &'a Subagent>,
) -> anyhow::Result<Loaded> {
    let known: Vec<(&str, Vec<&str>)> = known
        .map(|one| (one.name().as_str(), one.declared_tools().iter().map(|tool| tool.as_str()).collect()))
        .collect();
    // A file's agent stands before one that is built in, so its tools are those that a table can narrow.
    let declared: Vec<(&str, Vec<&str>)> = found.names().collect();
    let stock: Vec<Stock<'_>> =
        declared.iter().chain(&known).map(|(name, tools)| Stock { name, tools }).collect();
    Config::load(source, &settings.set, &stock)
}

/// The configuration's source: the file that the operator named, else the workspace's own.
fn source(settings: &SettingArguments) -> anyhow::Result<Source> {
    match &settings.config {
        Some(path) => Ok(Source::Operator(File::named(path)?)),
        None => of_workspace(settings),
    }
}

fn of_workspace(settings: &SettingArguments) -> anyhow::Result<Source> {
    let Some(file) = File::of_workspace(&settings.workspace)? else { return Ok(Source::None) };
    // Without a place for the list nothing is on it.
    let trusted = trust_list().map_or(Ok(false), |list| list.is_trusted(&file))?;
    Ok(Source::Workspace { file: Some(file), trusted })
}

/// The list of trusted workspaces.
pub(crate) fn trust_list() -> anyhow::Result<TrustList> {
    let state = state::directory(|name| std::env::var_os(name)).map_err(anyhow::Error::msg)?;
    Ok(TrustList::kept_in(state))
}

fn handoff_policy(table: &config::Handoff) -> HandoffPolicy {
    let base = HandoffPolicy::default();
    let list = |names: &Option<Vec<String>>| {
        names.as_ref().map(|names| ToolList::of(names.iter().map(String::as_str)))
    };
    HandoffPolicy {
        enabled: table.enabled.unwrap_or(base.enabled),
        max_depth: table.max_depth.unwrap_or(base.max_depth),
        max_retries: table.max_retries.unwrap_or(base.max_retries),
        timeout: table.timeout,
        allowed_tools: list(&table.allowed_tools),
        denied_tools: list(&table.denied_tools),
        on_denied: table.on_denied.unwrap_or(base.on_denied),
        on_error: table.on_error.unwrap_or(base.on_error),
        retry_after_side_effects: table.retry_after_side_effects.unwrap_or(base.retry_after_side_effects),
        input_filter: None,
        surface: table.surface.unwrap_or(base.surface),
    }
}

fn purse(table: &config::Purse) -> PurseLimits {
    let base = PurseLimits::default();
    PurseLimits {
        descendants: table.descendants.unwrap_or(base.descendants),
        concurrent_runs: table.concurrent_runs.unwrap_or(base.concurrent_runs),
        depth: table.depth,
        turns: table.turns,
        tool_calls: table.tool_calls,
        tokens: table.tokens,
        cost: table.cost,
        time: table.time,
        fuel: table.fuel,
    }
}

/// Prices, where any is set; the others are nothing.
fn prices(table: &config::Prices) -> Option<Prices> {
    let config::Prices { input, output, cache_read, cache_write } = table;
    let some = [input, output, cache_read, cache_write].into_iter().any(Option::is_some);
    let price = |price: &Option<f64>| price.unwrap_or_default();
    some.then(|| Prices {
        input: price(input),
        output: price(output),
        cache_read: price(cache_read),
        cache_write: price(cache_write),
    })
}

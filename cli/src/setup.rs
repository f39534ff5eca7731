//! What a host is set up from: configuration, flags and subagents, settled the same way for every command. Must not
//! build a host, or a check would not say what a run does.

use std::path::PathBuf;

use deputy::governance::{HandoffPolicy, Policy, Prices, PurseLimits, ToolList};
use deputy::host::HostBuilder;
use deputy::subagent::Subagent;

use crate::arguments::{RuleArguments, SettingArguments, Shell, SupposedArguments};
use crate::config::{self, Config, File, Loaded, Source, Stock};
use crate::subagents::{configured, plugin, stock};
use crate::trust::TrustList;
use crate::{render, settings, state};

/// The settled parts of a host.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) workspace: PathBuf,
    pub(crate) config: Config,
    pub(crate) subagents: Vec<Subagent>,
    pub(crate) policy: Policy,
    pub(crate) shell: Shell,
}

impl Setup {
    /// Settles the configuration, then the flags over it, and says what of a workspace's file did not count.
    pub(crate) fn load(
        settings: &SettingArguments,
        rules: &RuleArguments,
        yes: bool,
        shell: Option<Shell>,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        let plugins = settings.subagent.iter().map(|path| plugin(path));
        let known = stock()?.into_iter().map(Ok).chain(plugins).collect::<Result<Vec<_>, _>>()?;
        let (config, subagents) = settled(settings, known, quiet)?;
        Ok(Self {
            workspace: settings.workspace.clone(),
            subagents,
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

/// The configuration, and `known` subagents as it has them; says what of a workspace's file did not count.
pub(crate) fn settled(
    settings: &SettingArguments,
    known: Vec<Subagent>,
    quiet: bool,
) -> anyhow::Result<(Config, Vec<Subagent>)> {
    let loaded = loaded(settings, &known)?;
    if !quiet {
        warn_of_ignored(&loaded);
    }
    let subagents = configured(known, &loaded.config, loaded.file.as_deref())?;
    Ok((loaded.config, subagents))
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

/// The configuration: of the file that the operator named, else of the workspace's own.
fn loaded(settings: &SettingArguments, known: &[Subagent]) -> anyhow::Result<Loaded> {
    let source = match &settings.config {
        Some(path) => Source::Operator(path.clone()),
        None => of_workspace(settings)?,
    };
    let declared: Vec<Vec<&str>> =
        known.iter().map(|one| one.declared_tools().iter().map(|tool| tool.as_str()).collect()).collect();
    let known: Vec<Stock<'_>> =
        known.iter().zip(&declared).map(|(one, tools)| Stock { name: one.name().as_str(), tools }).collect();
    Config::load(source, &settings.set, &known)
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

//! What `run` and `check` set up alike: rules, confinement, sandbox, web. Must not differ between the two,
//! or a check would not say what a run does.

use std::sync::Arc;

use anyhow::Context as _;
use deputy::governance::Policy;
use deputy::sandbox::SandboxOptions;
use deputy::tools::{Confinement, ShellMode, WebClient, WebLimits};

use crate::arguments::{RuleArguments, Shell};
use crate::config::Tools;
use crate::{cache, render};

/// The rules of the configuration, and those of the flags over them.
pub(crate) fn policy(tools: &Tools, rules: &RuleArguments, yes: bool) -> Policy {
    let named = |names: &[String]| names.iter().filter(|tool| !tool.is_empty()).cloned().collect::<Vec<_>>();
    let listed = |names: &Option<Vec<String>>| named(names.as_deref().unwrap_or_default());
    let mut policy = Policy::default();
    policy = listed(&tools.allow).into_iter().fold(policy, Policy::allow);
    policy = listed(&tools.ask).into_iter().fold(policy, Policy::ask);
    policy = named(&rules.allow).into_iter().fold(policy, Policy::allow);
    policy = listed(&tools.deny).into_iter().chain(named(&rules.deny)).fold(policy, Policy::deny);
    if yes { policy.yes_to_all() } else { policy }
}

/// How commands run, or why no tool starts one.
pub(crate) fn confinement(shell: Shell) -> anyhow::Result<Result<Arc<Confinement>, String>> {
    let mode = match shell {
        Shell::Confined => ShellMode::Confined,
        Shell::Unconfined => ShellMode::Unconfined,
        Shell::Off => return Ok(Err("run with `--shell confined`".to_owned())),
    };
    let helper = std::env::current_exe().context("cannot find the deputy binary to run commands with")?;
    Ok(Confinement::new(helper, mode).map(Arc::new).map_err(|error| error.to_string()))
}

/// How guests run: with compiled code kept, where there is a safe place for it.
pub(crate) fn sandbox(quiet: bool) -> SandboxOptions {
    let cache = cache::directory(|name| std::env::var_os(name));
    if let (Err(reason), false) = (&cache, quiet) {
        render::warning(&format!("compiled components are not kept: {reason}"));
    }
    SandboxOptions { cache: cache.ok(), ..SandboxOptions::default() }
}

/// The client behind `fetch_url`.
pub(crate) fn web() -> anyhow::Result<Arc<WebClient>> {
    Ok(Arc::new(WebClient::new(WebLimits::default())?))
}

#[cfg(test)]
mod tests {
    use deputy::governance::{Effect, Setting};

    use super::*;

    #[test]
    fn a_deny_stands_against_every_allow_and_yes() {
        let rules = RuleArguments {
            allow: vec!["write_file".into(), "run_command".into(), String::new()],
            deny: vec!["write_file".into()],
        };
        for (yes, asked) in [(false, Setting::Ask), (true, Setting::Allow)] {
            let policy = policy(&Tools::default(), &rules, yes);
            let setting = |tool: &str, effect| policy.setting(&tool.into(), effect);
            assert_eq!(setting("write_file", Effect::Write), Setting::Deny);
            assert_eq!(setting("run_command", Effect::Shell), Setting::Allow);
            assert_eq!(setting("fetch_url", Effect::Web), asked);
            assert_eq!(setting("read_file", Effect::Read), Setting::Allow);
        }
    }

    #[test]
    fn flags_stand_over_the_configuration_and_a_deny_of_either_over_both() {
        let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let tools = Tools {
            allow: list(&["edit_file"]),
            ask: list(&["read_file", "write_file"]),
            deny: list(&["fetch_url"]),
            shell: None,
        };
        let rules = RuleArguments { allow: vec!["write_file".into(), "fetch_url".into()], deny: Vec::new() };
        let policy = policy(&tools, &rules, false);
        let setting = |tool: &str, effect| policy.setting(&tool.into(), effect);
        assert_eq!(setting("edit_file", Effect::Write), Setting::Allow);
        assert_eq!(setting("read_file", Effect::Read), Setting::Ask);
        assert_eq!(setting("write_file", Effect::Write), Setting::Allow);
        assert_eq!(setting("fetch_url", Effect::Web), Setting::Deny);
    }
}

//! What `run` and `check` set up alike: rules, confinement, sandbox, web. Must not differ between the two,
//! or a check would not say what a run does.

use std::sync::Arc;

use anyhow::Context as _;
use deputy::governance::Policy;
use deputy::sandbox::SandboxOptions;
use deputy::tools::{Confinement, ShellMode, WebClient, WebLimits};

use crate::arguments::{RuleArguments, Shell};
use crate::{cache, render};

/// The rules of the flags.
pub(crate) fn policy(rules: &RuleArguments, yes: bool) -> Policy {
    let mut policy = Policy::default();
    for tool in rules.allow.iter().filter(|tool| !tool.is_empty()) {
        policy = policy.allow(tool.as_str());
    }
    for tool in rules.deny.iter().filter(|tool| !tool.is_empty()) {
        policy = policy.deny(tool.as_str());
    }
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
            let policy = policy(&rules, yes);
            let setting = |tool: &str, effect| policy.setting(&tool.into(), effect);
            assert_eq!(setting("write_file", Effect::Write), Setting::Deny);
            assert_eq!(setting("run_command", Effect::Shell), Setting::Allow);
            assert_eq!(setting("fetch_url", Effect::Web), asked);
            assert_eq!(setting("read_file", Effect::Read), Setting::Allow);
        }
    }
}

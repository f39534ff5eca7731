//! From the environment and the flags to a model and a confinement. The only code that reads variables.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use deputy::model::{Model, ModelConfig, ModelSpec, connect};
use deputy::secret::Secret;
use deputy::tools::{Confinement, ShellMode};

use crate::arguments::{RunArguments, Shell_};

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The model of a run.
pub(crate) fn model(arguments: &RunArguments) -> anyhow::Result<Arc<dyn Model>> {
    let Some(spec) = arguments.model.clone().or_else(|| variable("DEPUTY_MODEL")) else {
        bail!(
            "no model: give one with --model or in DEPUTY_MODEL, as openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE"
        );
    };
    let mut config = ModelConfig::new(spec.parse::<ModelSpec>()?);
    let (key, server) = match &config.spec {
        ModelSpec::OpenAi { .. } => (variable("OPENAI_API_KEY"), variable("OPENAI_BASE_URL")),
        ModelSpec::Anthropic { .. } => (variable("ANTHROPIC_API_KEY"), variable("ANTHROPIC_BASE_URL")),
        _ => (None, None),
    };
    config.base_url = arguments.base_url.clone().or(server);
    config.api_key = key.map(Secret::new);
    config.stream = !arguments.no_stream;
    config.limits.idle = Duration::from_secs(arguments.model_timeout);
    Ok(connect(config)?)
}

/// How commands run, or why no tool starts one.
pub(crate) fn confinement(shell: Shell_) -> anyhow::Result<Result<Arc<Confinement>, String>> {
    let mode = match shell {
        Shell_::Confined => ShellMode::Confined,
        Shell_::Unconfined => ShellMode::Unconfined,
        Shell_::Off => return Ok(Err("run with `--shell confined`".to_owned())),
    };
    let helper = std::env::current_exe().context("cannot find the deputy binary to run commands with")?;
    Ok(match Confinement::new(helper, mode) {
        Ok(confinement) => Ok(Arc::new(confinement)),
        Err(error) => Err(error.to_string()),
    })
}

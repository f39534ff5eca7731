//! From environment variables and flags to a model. The only code that knows the variables' names.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use deputy::model::{Model as Client, ModelConfig, ModelSpec, connect};
use deputy::secret::Secret;

use crate::arguments::ModelArguments;
use crate::config::Model;

/// Where variables are looked up.
pub(crate) struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Variables<'static> {
    /// The process's own.
    pub(crate) fn of_process() -> Self {
        Self(&|name| std::env::var(name).ok())
    }
}

impl Variables<'_> {
    /// A variable that is set to something.
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }
}

impl fmt::Debug for Variables<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values are keys.
        f.write_str("Variables")
    }
}

/// Which model a run uses and how it is reached. A flag wins over a variable, a variable over the file; a provider's variables count for
/// its own models alone.
pub(crate) fn model(
    arguments: &ModelArguments,
    variables: &Variables<'_>,
    file: &Model,
) -> anyhow::Result<ModelConfig> {
    let spec =
        arguments.model.clone().or_else(|| variables.get("DEPUTY_MODEL")).or_else(|| file.spec.clone());
    let Some(spec) = spec else {
        bail!(
            "no model: give one with --model, in DEPUTY_MODEL or as `model.spec` of deputy.toml, as openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE"
        );
    };
    let mut config = ModelConfig::new(spec.parse::<ModelSpec>()?);
    let (key, server) = of_provider(&config.spec, variables);
    config.base_url = arguments.base_url.clone().or(server).or_else(|| file.base_url.clone());
    config.api_key = key.map(Secret::new);
    config.stream = !arguments.no_stream && file.stream.unwrap_or(true);
    if let Some(idle) = arguments.model_timeout.map(Duration::from_secs).or(file.timeout) {
        config.limits.idle = idle;
    }
    Ok(config)
}

/// How a model that one subagent asks for is reached: as the run's own where both are of one provider, since a server
/// that was named for it holds for all of it; else as the environment says.
pub(crate) fn own_model(spec: ModelSpec, of_run: &ModelConfig, variables: &Variables<'_>) -> ModelConfig {
    let mut config = of_run.clone();
    if std::mem::discriminant(&spec) != std::mem::discriminant(&of_run.spec) {
        let (key, server) = of_provider(&spec, variables);
        config.api_key = key.map(Secret::new);
        config.base_url = server;
    }
    config.spec = spec;
    config
}

/// The key and the server that the environment names for the provider of a model.
fn of_provider(spec: &ModelSpec, variables: &Variables<'_>) -> (Option<String>, Option<String>) {
    match spec {
        ModelSpec::OpenAi { .. } => (variables.get("OPENAI_API_KEY"), variables.get("OPENAI_BASE_URL")),
        ModelSpec::Anthropic { .. } => {
            (variables.get("ANTHROPIC_API_KEY"), variables.get("ANTHROPIC_BASE_URL"))
        }
        _ => (None, None),
    }
}

/// The client of a model.
pub(crate) fn connected(config: ModelConfig) -> anyhow::Result<Arc<dyn Client>> {
    Ok(connect(config)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(
        model_flag: Option<&str>,
        base_url: Option<&str>,
        set: &[(&str, &str)],
    ) -> anyhow::Result<ModelConfig> {
        let lookup =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let arguments = ModelArguments {
            model: model_flag.map(str::to_owned),
            base_url: base_url.map(str::to_owned),
            model_timeout: None,
            no_stream: false,
        };
        model(&arguments, &Variables(&lookup), &Model::default())
    }

    const BOTH: &[(&str, &str)] = &[
        ("DEPUTY_MODEL", "anthropic:opus"),
        ("OPENAI_API_KEY", "open-key"),
        ("OPENAI_BASE_URL", "http://open"),
        ("ANTHROPIC_API_KEY", "anthropic-key"),
        ("ANTHROPIC_BASE_URL", "http://anthropic"),
    ];

    #[test]
    fn each_provider_gets_its_own_key_and_server() {
        let reached = |flag: Option<&str>| {
            let config = settled(flag, None, BOTH).unwrap();
            (config.spec.to_string(), config.api_key.map(|key| key.expose().to_owned()), config.base_url)
        };
        let own = |spec: &str, key: &str, server: &str| {
            (spec.to_owned(), Some(key.to_owned()), Some(server.to_owned()))
        };
        assert_eq!(reached(None), own("anthropic:opus", "anthropic-key", "http://anthropic"));
        assert_eq!(reached(Some("openai:m")), own("openai:m", "open-key", "http://open"));
        assert_eq!(reached(Some("ollama:m")), ("ollama:m".to_owned(), None, None));
    }

    #[test]
    fn the_flag_wins_over_the_variable_and_a_blank_variable_is_none() {
        assert_eq!(
            settled(Some("openai:m"), Some("http://flag"), BOTH).unwrap().base_url.as_deref(),
            Some("http://flag")
        );
        let blank =
            settled(Some("openai:m"), None, &[("OPENAI_API_KEY", " "), ("OPENAI_BASE_URL", "")]).unwrap();
        assert!(blank.api_key.is_none() && blank.base_url.is_none());
        let error = settled(None, None, &[("DEPUTY_MODEL", "")]).unwrap_err().to_string();
        for part in ["--model", "DEPUTY_MODEL", "openai:", "anthropic:", "ollama:", "scripted:"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }

    #[test]
    fn a_subagents_own_model_is_reached_as_the_runs_where_both_are_of_one_provider() {
        let lookup =
            |name: &str| BOTH.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let of_run = settled(Some("openai:m"), Some("http://flag"), BOTH).unwrap();
        let reached = |spec: &str| {
            let config = own_model(spec.parse().unwrap(), &of_run, &Variables(&lookup));
            (config.spec.to_string(), config.api_key.map(|key| key.expose().to_owned()), config.base_url)
        };
        let own = |spec: &str, key: Option<&str>, server: Option<&str>| {
            (spec.to_owned(), key.map(str::to_owned), server.map(str::to_owned))
        };
        assert_eq!(reached("openai:small"), own("openai:small", Some("open-key"), Some("http://flag")));
        assert_eq!(
            reached("anthropic:m"),
            own("anthropic:m", Some("anthropic-key"), Some("http://anthropic"))
        );
        assert_eq!(reached("ollama:m"), own("ollama:m", None, None));
    }

    #[test]
    fn the_file_is_asked_last() {
        let file = Model {
            spec: Some("openai:file".to_owned()),
            base_url: Some("http://file".to_owned()),
            stream: Some(false),
            timeout: Some(Duration::from_secs(7)),
            ..Model::default()
        };
        let with = |flag: Option<&str>, set: &[(&str, &str)]| {
            let lookup = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let arguments = ModelArguments {
                model: flag.map(str::to_owned),
                base_url: None,
                model_timeout: flag.map(|_| 9),
                no_stream: false,
            };
            let config = model(&arguments, &Variables(&lookup), &file).unwrap();
            (config.spec.to_string(), config.base_url.unwrap(), config.stream, config.limits.idle.as_secs())
        };
        assert_eq!(with(None, &[]), ("openai:file".to_owned(), "http://file".to_owned(), false, 7));
        assert_eq!(with(None, &[("DEPUTY_MODEL", "openai:set")]).0, "openai:set");
        let flagged = with(Some("openai:flag"), &[("OPENAI_BASE_URL", "http://set")]);
        assert_eq!(flagged, ("openai:flag".to_owned(), "http://set".to_owned(), false, 9));
    }
}

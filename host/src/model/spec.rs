//! Which model is meant, and how it is connected. The key comes from the caller: must not read the
//! environment.

mod connect;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

pub use connect::connect;

use super::retry::RetryPolicy;
use super::scripted::ScriptError;
use super::transport::ModelLimits;
use crate::secret::Secret;

/// Which model to use, as people write it: `openai:gpt-4o`, `anthropic:claude-opus-4-1`,
/// `ollama:llama3.2:3b`, `scripted:demo.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelSpec {
    /// A model of OpenAI, or of a server that speaks its chat completions.
    OpenAi {
        /// The model's name.
        model: String,
    },
    /// A model of Anthropic, or of a server that speaks its messages.
    Anthropic {
        /// The model's name.
        model: String,
    },
    /// A model that Ollama serves.
    Ollama {
        /// The model's name, tag included.
        model: String,
    },
    /// A script in a file.
    Scripted {
        /// The file.
        file: PathBuf,
    },
}

/// The forms of a model spec, each with an example.
const FORMS: &str = "`openai:NAME` (`openai:gpt-4o`), `anthropic:NAME` (`anthropic:claude-opus-4-1`), \
                     `ollama:NAME` (`ollama:llama3.2`) or `scripted:FILE` (`scripted:demo.json`)";

const PROVIDERS: [&str; 4] = ["openai", "anthropic", "ollama", "scripted"];

/// Why there is no such model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelSpecError {
    /// The text names no model.
    #[error("expected a model as {FORMS}, `{text}` came{suggestion}")]
    Form {
        /// The text.
        text: String,
        /// What was meant perhaps; starts with `; ` where there is one.
        suggestion: String,
    },
    /// The base URL is none.
    #[error("expected an http or https URL as the model's base URL, `{base_url}` came: {reason}")]
    BaseUrl {
        /// What came.
        base_url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The provider's own server wants a key.
    #[error("`{model}` needs a key: set `{variable}`, or a base URL of a server that needs none")]
    MissingKey {
        /// The model, as it was written.
        model: String,
        /// The environment variable that holds the key, by custom.
        variable: &'static str,
    },
    /// The key cannot be sent.
    #[error("the key for `{model}` holds characters that no HTTP header can hold; check `{variable}`")]
    UnusableKey {
        /// The model, as it was written.
        model: String,
        /// The environment variable that holds the key, by custom.
        variable: &'static str,
    },
    /// The HTTP client could not be made.
    #[error("the client for `{model}` could not be made: {reason}")]
    Client {
        /// The model, as it was written.
        model: String,
        /// Why.
        reason: String,
    },
    /// The script could not be used.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// Everything that a connection to a model needs.
#[derive(Clone)]
#[non_exhaustive]
pub struct ModelConfig {
    /// Which model.
    pub spec: ModelSpec,
    /// Where its server is; the provider's own by default. Blank counts as none.
    pub base_url: Option<String>,
    /// The key; none or blank where the server needs none.
    pub api_key: Option<Secret>,
    /// Whether answers come as streams; true by default.
    pub stream: bool,
    /// Most tokens of an answer. None: 8192 for Anthropic, which wants a figure; the server's own limit otherwise.
    pub max_output_tokens: Option<u32>,
    /// The limits of one attempt at a turn.
    pub limits: ModelLimits,
    /// How often a turn is tried.
    pub retry: RetryPolicy,
}

impl ModelConfig {
    /// The configuration of `spec` with every default and no key.
    #[must_use]
    pub fn new(spec: ModelSpec) -> Self {
        Self {
            spec,
            base_url: None,
            api_key: None,
            stream: true,
            max_output_tokens: None,
            limits: ModelLimits::default(),
            retry: RetryPolicy::default(),
        }
    }
}

impl fmt::Debug for ModelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A base URL may hold a password.
        f.debug_struct("ModelConfig")
            .field("spec", &self.spec)
            .field("base_url", &self.base_url.as_deref().map(connect::shown_base))
            .field("api_key", &self.api_key)
            .field("stream", &self.stream)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("limits", &self.limits)
            .field("retry", &self.retry)
            .finish()
    }
}

impl FromStr for ModelSpec {
    type Err = ModelSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (provider, name) = match text.split_once(':') {
            Some((provider, name)) => (provider.trim(), name.trim()),
            None => (text, ""),
        };
        let model = name.to_owned();
        match provider {
            _ if name.is_empty() => Err(form(text, provider, name)),
            "openai" => Ok(Self::OpenAi { model }),
            "anthropic" => Ok(Self::Anthropic { model }),
            "ollama" => Ok(Self::Ollama { model }),
            "scripted" => Ok(Self::Scripted { file: name.into() }),
            _ => Err(form(text, provider, name)),
        }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenAi { model } => write!(f, "openai:{model}"),
            Self::Anthropic { model } => write!(f, "anthropic:{model}"),
            Self::Ollama { model } => write!(f, "ollama:{model}"),
            Self::Scripted { file } => write!(f, "scripted:{}", file.display()),
        }
    }
}

fn form(text: &str, provider: &str, name: &str) -> ModelSpecError {
    let meant = meant(provider).map(|meant| match name {
        "" => format!("; did you mean `{meant}:` with a name after it?"),
        name => format!("; did you mean `{meant}:{name}`?"),
    });
    ModelSpecError::Form { text: text.to_owned(), suggestion: meant.unwrap_or_default() }
}

/// The provider that a word is near to, or whose models are called so.
fn meant(provider: &str) -> Option<&'static str> {
    let word = provider.to_lowercase();
    let (likeness, near) = PROVIDERS
        .into_iter()
        .map(|known| (strsim::jaro_winkler(known, &word), known))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness > 0.8).then_some(near)
}

#[cfg(test)]
mod tests;

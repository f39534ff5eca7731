//! From a configuration to a model that answers. The one place that knows the providers' addresses.

use std::sync::Arc;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::{ModelConfig, ModelSpec, ModelSpecError};
use crate::model::Model;
use crate::model::anthropic::Anthropic;
use crate::model::openai::OpenAi;
use crate::model::retry::Retrying;
use crate::model::scripted::ScriptedModel;
use crate::model::transport::{Cleaner, Endpoint, HttpModel, Protocol, client, endpoint, same_origin, shown};
use crate::secret::Secret;

/// Most tokens of an answer where the provider wants a figure and the configuration has none.
const ANTHROPIC_MAX_TOKENS: u32 = 8192;

/// The version of the messages API that we speak.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// What sets one provider apart from another.
struct Provider {
    own_base: &'static str,
    endpoint: Endpoint,
    /// The variable that holds the key, by custom.
    variable: &'static str,
    needs_key: bool,
    protocol: Box<dyn Protocol>,
}

/// Connects a model. Nothing is sent yet; HTTP models try transient failures again.
///
/// # Errors
/// [`ModelSpecError`] where the configuration cannot work: no key, no usable URL, no script.
pub fn connect(config: ModelConfig) -> Result<Arc<dyn Model>, ModelSpecError> {
    let ModelConfig { spec, base_url, api_key, stream, max_output_tokens, limits, retry } = config;
    let name = spec.to_string();
    let provider = match spec {
        ModelSpec::Scripted { file } => return Ok(Arc::new(ScriptedModel::load(&file)?)),
        ModelSpec::OpenAi { model } => Provider {
            own_base: "https://api.openai.com/v1",
            endpoint: Endpoint::ChatCompletions,
            variable: "OPENAI_API_KEY",
            needs_key: true,
            protocol: Box::new(OpenAi {
                model,
                stream,
                max_tokens: max_output_tokens.map(|tokens| ("max_completion_tokens", tokens)),
            }),
        },
        ModelSpec::Ollama { model } => Provider {
            own_base: "http://localhost:11434/v1",
            endpoint: Endpoint::ChatCompletions,
            variable: "OLLAMA_API_KEY",
            needs_key: false,
            protocol: Box::new(OpenAi {
                model,
                stream,
                max_tokens: max_output_tokens.map(|tokens| ("max_tokens", tokens)),
            }),
        },
        ModelSpec::Anthropic { model } => Provider {
            own_base: "https://api.anthropic.com",
            endpoint: Endpoint::Messages,
            variable: "ANTHROPIC_API_KEY",
            needs_key: true,
            protocol: Box::new(Anthropic {
                model,
                stream,
                max_tokens: max_output_tokens.unwrap_or(ANTHROPIC_MAX_TOKENS),
            }),
        },
    };
    let base = base_url.filter(|base| !base.trim().is_empty());
    let base = base.as_deref().unwrap_or(provider.own_base);
    let url = request_url(base, provider.endpoint)?;
    // Keys read from files end in a line feed more often than not.
    let key =
        api_key.map(|key| Secret::new(key.expose().trim().to_owned())).filter(|key| !key.expose().is_empty());
    let own = request_url(provider.own_base, provider.endpoint)?;
    if key.is_none() && provider.needs_key && same_origin(&url, &own) {
        return Err(ModelSpecError::MissingKey { model: name, variable: provider.variable });
    }
    let headers = match headers(provider.endpoint, key.as_ref()) {
        Some(headers) => headers,
        None => return Err(ModelSpecError::UnusableKey { model: name, variable: provider.variable }),
    };
    let client = client(&url, limits.connect)
        .map_err(|reason| ModelSpecError::Client { model: name.clone(), reason })?;
    let protocol = provider.protocol;
    let model = HttpModel { name, protocol, client, url, headers, cleaner: Cleaner { key }, limits };
    Ok(Arc::new(Retrying::new(model, retry)))
}

/// A base URL as it is shown: without credentials and query, and not at all where it is none.
pub(super) fn shown_base(base: &str) -> String {
    Url::parse(base.trim()).map_or_else(|_| "(no URL)".to_owned(), |url| shown(&url))
}

fn request_url(base: &str, kind: Endpoint) -> Result<Url, ModelSpecError> {
    endpoint(base, kind).map_err(|reason| ModelSpecError::BaseUrl {
        // What is no URL holds no password that we could find, unless an `@` stands in it.
        base_url: if base.contains('@') { shown_base(base) } else { base.to_owned() },
        reason,
    })
}

/// The headers of every request; none where the key cannot stand in one.
fn headers(kind: Endpoint, key: Option<&Secret>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let (name, prefix) = match kind {
        Endpoint::ChatCompletions => (AUTHORIZATION, "Bearer "),
        Endpoint::Messages => {
            let version = HeaderName::from_static("anthropic-version");
            headers.insert(version, HeaderValue::from_static(ANTHROPIC_VERSION));
            (HeaderName::from_static("x-api-key"), "")
        }
    };
    if let Some(key) = key {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose())).ok()?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Some(headers)
}

//! The script file: its form, checked before anything runs. Must not follow it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::usage::Usage;

/// Why a file is no script.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file could not be read.
    #[error("script {} could not be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not JSON of the right form.
    #[error("script {}: {reason}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What was expected and what came.
        reason: String,
    },
    /// One step is wrong.
    #[error("step {step} of script {}: {reason}", file.display())]
    Step {
        /// The file.
        file: PathBuf,
        /// The step's number, counted from 1 over all speakers.
        step: usize,
        /// What was expected and what came.
        reason: String,
    },
}

/// A script.
#[derive(Debug)]
pub(super) struct Script {
    pub file: PathBuf,
    pub steps: Vec<Step>,
}

/// One step: when it fits, and what is answered then.
#[derive(Debug)]
pub(super) struct Step {
    /// Counted from 1 over all speakers, as in the file.
    pub number: usize,
    pub speaker: String,
    pub said: Vec<String>,
    pub take: Vec<(String, Regex)>,
    pub answer: Option<String>,
    pub calls: Vec<Call>,
    pub usage: Option<Usage>,
    pub delay: Duration,
    pub fail: Option<String>,
    pub repeat: bool,
}

/// One call of a step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub tool: String,
    /// An object, or text that is sent as it is.
    #[serde(default)]
    pub arguments: Value,
    #[serde(default)]
    pub id: Option<String>,
}

const STEP_KEYS: [&str; 9] =
    ["speaker", "said", "take", "answer", "calls", "usage", "delay_ms", "fail", "repeat"];
const CALL_KEYS: [&str; 3] = ["tool", "arguments", "id"];
const USAGE_KEYS: [&str; 4] = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    said: Option<OneOrMany>,
    #[serde(default)]
    take: Map<String, Value>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    fail: Option<String>,
    #[serde(default)]
    repeat: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected `said` to be a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
}

impl Script {
    pub(super) fn parse(file: &Path, text: &str) -> Result<Self, ScriptError> {
        let malformed = |reason: String| ScriptError::Malformed { file: file.to_owned(), reason };
        let root: Value = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        let Value::Object(mut root) = root else {
            return Err(malformed("expected an object with the key `steps`".to_owned()));
        };
        known_keys(&root, &["steps"]).map_err(malformed)?;
        let Some(Value::Array(steps)) = root.remove("steps") else {
            return Err(malformed("expected the key `steps` to hold a list of steps".to_owned()));
        };
        let steps = (1..)
            .zip(steps)
            .map(|(number, step)| {
                Step::parse(number, step).map_err(|reason| ScriptError::Step {
                    file: file.to_owned(),
                    step: number,
                    reason,
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { file: file.to_owned(), steps })
    }

    /// Those who have a step, for an error.
    pub(super) fn speakers(&self) -> String {
        let mut speakers: Vec<String> = self.steps.iter().map(|step| format!("`{}`", step.speaker)).collect();
        speakers.sort_unstable();
        speakers.dedup();
        if speakers.is_empty() { "nobody".to_owned() } else { speakers.join(", ") }
    }
}

impl Step {
    fn parse(number: usize, step: Value) -> Result<Self, String> {
        if let Value::Object(keys) = &step {
            known_keys(keys, &STEP_KEYS)?;
            for call in keys.get("calls").and_then(Value::as_array).into_iter().flatten() {
                known_keys_of(call, &CALL_KEYS)?;
            }
            if let Some(usage) = keys.get("usage") {
                known_keys_of(usage, &USAGE_KEYS)?;
            }
        }
        let raw: RawStep = serde_json::from_value(step).map_err(|error| error.to_string())?;
        if raw.answer.is_none() && raw.calls.is_empty() && raw.fail.is_none() {
            return Err("expected `answer`, `calls` or `fail`, none of them is there".to_owned());
        }
        if raw.fail.is_some() && (raw.answer.is_some() || !raw.calls.is_empty()) {
            return Err("expected `fail` alone, without `answer` and `calls`".to_owned());
        }
        if let Some(call) = raw
            .calls
            .iter()
            .find(|call| !matches!(call.arguments, Value::Null | Value::String(_) | Value::Object(_)))
        {
            return Err(format!(
                "expected the arguments of `{}` to be an object or a text, `{}` came",
                call.tool, call.arguments
            ));
        }
        Ok(Self {
            number,
            speaker: raw.speaker.unwrap_or_else(|| "parent".to_owned()),
            said: match raw.said {
                None => Vec::new(),
                Some(OneOrMany::One(part)) => vec![part],
                Some(OneOrMany::Many(parts)) => parts,
            },
            take: raw.take.into_iter().map(pattern).collect::<Result<_, _>>()?,
            answer: raw.answer,
            calls: raw.calls,
            usage: raw.usage.map(Usage::from),
            delay: Duration::from_millis(raw.delay_ms),
            fail: raw.fail,
            repeat: raw.repeat,
        })
    }
}

impl From<RawUsage> for Usage {
    fn from(usage: RawUsage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            estimated: false,
        }
    }
}

fn pattern((name, pattern): (String, Value)) -> Result<(String, Regex), String> {
    let Value::String(pattern) = pattern else {
        return Err(format!("expected `take.{name}` to be a regular expression, `{pattern}` came"));
    };
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("expected names of letters, digits and `_` in `take`, `{name}` came"));
    }
    match Regex::new(&pattern) {
        Ok(regex) => Ok((name, regex)),
        Err(error) => Err(format!("`take.{name}` is no regular expression: {error}")),
    }
}

fn known_keys_of(value: &Value, known: &[&str]) -> Result<(), String> {
    value.as_object().map_or(Ok(()), |keys| known_keys(keys, known))
}

fn known_keys(keys: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    let Some(unknown) = keys.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let near = known
        .iter()
        .map(|key| (strsim::jaro_winkler(key, unknown), key))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(likeness, _)| *likeness > 0.75)
        .map(|(_, key)| format!("; did you mean `{key}`?"))
        .unwrap_or_default();
    let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    Err(format!("expected the keys {}, `{unknown}` came{near}", known.join(", ")))
}

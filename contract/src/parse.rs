//! Turns a model's arguments text into a typed value, with an error that the model can act on.
//! Must not repair what cannot be read: a guess could run something that was not asked for.

use std::fmt;

use serde::de::DeserializeOwned;

use crate::spec::ToolSpec;

/// Why a call's arguments were not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentsError {
    /// The tool that was called.
    pub tool: String,
    /// What the parser said, with the place in the text.
    pub reason: String,
    /// What was sent, cut to [`ArgumentsError::SHOWN_BYTES`].
    pub sent: String,
    /// The tool's JSON Schema.
    pub schema: String,
}

impl ArgumentsError {
    /// How much of the sent text an error repeats.
    pub const SHOWN_BYTES: usize = 400;
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the arguments of `{}` do not fit: {}. Sent: {}. Expected a JSON object after this schema: {}",
            self.tool, self.reason, self.sent, self.schema
        )
    }
}

impl std::error::Error for ArgumentsError {}

/// Reads `arguments` as the arguments of the tool that `T` belongs to.
///
/// Empty, blank and `null` text means `{}`: providers send them for calls without parameters.
///
/// # Errors
/// [`ArgumentsError`] where the text is not JSON or does not fit the tool's schema.
pub fn parse_arguments<T: DeserializeOwned>(spec: &ToolSpec, arguments: &str) -> Result<T, ArgumentsError> {
    let text = match arguments.trim() {
        "" | "null" => "{}",
        text => text,
    };
    serde_json::from_str(text).map_err(|error| ArgumentsError {
        tool: spec.name.to_owned(),
        reason: error.to_string(),
        sent: shown(arguments),
        schema: spec.parameters.to_owned(),
    })
}

/// The head of `text`, cut at a character border and marked where it was cut.
fn shown(text: &str) -> String {
    if text.len() <= ArgumentsError::SHOWN_BYTES {
        return format!("`{text}`");
    }
    let mut end = ArgumentsError::SHOWN_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("`{}…` ({} bytes)", text.get(..end).unwrap_or_default(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, ListFiles, ReadFile};

    #[test]
    fn blank_and_null_mean_an_empty_object() {
        for text in ["", "  \n", "null", "{}"] {
            let error = parse_arguments::<ReadFile>(&ReadFile::SPEC, text).unwrap_err();
            assert!(error.reason.contains("missing field `path`"), "{text:?}: {error}");
            assert_eq!(
                parse_arguments::<ListFiles>(&ListFiles::SPEC, text).unwrap(),
                ListFiles { path: ".".into() }
            );
        }
    }

    #[test]
    fn what_is_no_json_is_refused_with_the_place_and_the_text() {
        let error = parse_arguments::<ReadFile>(&ReadFile::SPEC, r#"{"path":"a.txt"}]"#).unwrap_err();
        assert!(error.reason.contains("column 17"), "{error}");
        assert!(error.to_string().contains(r#"{"path":"a.txt"}]"#));
        let long = format!("\"{}", "é".repeat(1000));
        assert!(parse_arguments::<ReadFile>(&ReadFile::SPEC, &long).unwrap_err().sent.contains("2001 bytes"));
    }

    #[test]
    fn an_unknown_field_is_named() {
        let error = parse_arguments::<ReadFile>(&ReadFile::SPEC, r#"{"path":"a","mode":"w"}"#).unwrap_err();
        assert!(error.reason.contains("unknown field `mode`"), "{error}");
    }
}

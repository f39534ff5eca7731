//! What both request bodies share. Must not know either wire format as a whole.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{ModelError, ToolDescription};
use crate::history::Arguments;

/// Longest tool name that the providers take.
const NAME_LENGTH: usize = 64;

/// The arguments of a call that is sent back: always a JSON object, since providers refuse a whole
/// conversation for one that is not. What the model wrote instead stands in the call's error result.
pub(super) fn replayed_arguments(arguments: &Arguments) -> &str {
    match arguments.object() {
        Ok(object) if !object.is_empty() => arguments.as_str().trim(),
        Ok(_) | Err(_) => "{}",
    }
}

/// A tool name that providers take back: a model may make up any, and would be refused for ever after.
pub(super) fn replayed_name(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().map(kept).take(NAME_LENGTH).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// JSON text of what cannot fail to serialise: our own strings, maps and lists.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A tool's parameters, checked to be a JSON object.
pub(super) fn parameters(tool: &ToolDescription) -> Result<Box<RawValue>, ModelError> {
    let unusable = |reason: String| ModelError::Request {
        reason: format!(
            "expected the parameters of tool `{}` to be a JSON Schema object, {reason}",
            tool.name
        ),
    };
    let text = tool.parameters.trim();
    if !text.starts_with('{') {
        return Err(unusable("another text came".to_owned()));
    }
    RawValue::from_string(text.to_owned()).map_err(|error| unusable(error.to_string()))
}

#[cfg(test)]
mod tests;

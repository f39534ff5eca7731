//! Errors that a server reports in JSON: their text, and whether they may pass. Must not clean the
//! text: that needs the key, and happens where the key is.

use serde_json::Value;

use crate::model::ModelError;

/// The error for an `error` value inside an answer that began well.
pub(super) fn reported(error: &Value) -> ModelError {
    let message = server_message(error);
    if says_context_is_full(&message) || label(error, "code") == "context_length_exceeded" {
        return ModelError::ContextFull { message };
    }
    ModelError::Reported { message, transient: may_pass(error) }
}

/// What a person reads of an error that came as JSON: its `message` where it has one.
pub(in crate::model) fn server_message(error: &Value) -> String {
    let inner = error.get("error").unwrap_or(error);
    match (inner.get("message").and_then(Value::as_str), inner) {
        (Some(message), _) if !message.trim().is_empty() => match label(inner, "type").as_str() {
            "" => message.to_owned(),
            kind => format!("{message} ({kind})"),
        },
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

/// True where a server says that the conversation is too long for the model.
pub(in crate::model) fn says_context_is_full(message: &str) -> bool {
    const WORDINGS: [&str; 10] = [
        "context_length_exceeded",
        "context length",
        "context window",
        "context size",
        "context limit",
        "prompt is too long",
        "input is too long",
        "too many input tokens",
        "exceeds the maximum number of tokens",
        "reduce the length of the messages",
    ];
    let message = message.to_lowercase();
    WORDINGS.iter().any(|wording| message.contains(wording))
}

/// False for the kinds of error that come back however often one asks. An error without a kind that
/// we know came in the middle of an answer, so the request itself was good.
fn may_pass(error: &Value) -> bool {
    const LASTING: [&str; 9] = [
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "not_found_error",
        "billing_error",
        "request_too_large",
        "insufficient_quota",
        "invalid_api_key",
        "model_not_found",
    ];
    let kinds = [label(error, "type"), label(error, "code")];
    if kinds.iter().any(|kind| LASTING.contains(&kind.as_str())) {
        return false;
    }
    !matches!(kinds.iter().find_map(|kind| kind.parse::<u16>().ok()), Some(400..=404 | 413 | 422))
}

/// A field that holds a word or a number, as text.
fn label(error: &Value, field: &str) -> String {
    match error.get(field) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

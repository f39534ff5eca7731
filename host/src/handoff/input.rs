//! From the arguments of a delegation to the task text. Must not look at who is asked.

use serde_json::Value;

use crate::tools::ToolError;

/// The task of a delegation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskInput {
    /// The task, with the caller's context joined to it.
    pub text: String,
    /// Arguments that the tool does not have and that were not empty.
    pub ignored: Vec<String>,
}

/// The text of a delegation's arguments: `task`, else `input`; with `context`, if any, after a line
/// `Context:`. Arguments that are not a JSON object are the task as they are; no arguments are an empty task.
#[must_use]
pub fn resolve_input(arguments: &str) -> TaskInput {
    let trimmed = arguments.trim();
    if trimmed.is_empty() {
        return TaskInput::default();
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(trimmed) else {
        return TaskInput { text: arguments.to_owned(), ignored: Vec::new() };
    };
    let text = |name: &str| fields.get(name).map(as_text).filter(|text| !text.trim().is_empty());
    let task = text("task").or_else(|| text("input")).unwrap_or_default();
    let text = match text("context") {
        Some(context) => format!("{task}\n\nContext:\n{context}"),
        None => task.clone(),
    };
    let ignored = fields
        .iter()
        .filter(|(name, value)| !matches!(name.as_str(), "task" | "input" | "context") && !is_empty(value))
        .map(|(name, _)| name.clone())
        .collect();
    // Context without a task is no task.
    TaskInput { text: if task.is_empty() { task } else { text }, ignored }
}

impl TaskInput {
    /// Refuses a delegation without a task before anything is spent on it.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.text.trim().is_empty() {
            return Err(ToolError::InvalidArguments(
                "a delegation needs a `task`: expected {\"task\": \"what to do\", \"context\": \"what it must know\"}"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// What the model should know about how its arguments were read.
    pub(super) fn note(&self) -> Option<String> {
        if self.ignored.is_empty() {
            return None;
        }
        let names = self.ignored.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Some(format!(
            "ignored {names}: a delegation takes `task` and `context`, and starts a new conversation"
        ))
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Null) || value.as_str().is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_resolve_as_documented() {
        for (arguments, text) in [
            ("", ""),
            ("{}", ""),
            (r#"{"task":"count"}"#, "count"),
            (r#"{"input":"count"}"#, "count"),
            (r#"{"task":"count","input":"other"}"#, "count"),
            (r#"{"task":"count","context":"in src"}"#, "count\n\nContext:\nin src"),
            (r#"{"context":"in src"}"#, ""),
            ("count the files", "count the files"),
            (r#"{"task": "cou"#, r#"{"task": "cou"#),
            (r#"{"task":["a","b"]}"#, r#"["a","b"]"#),
        ] {
            assert_eq!(resolve_input(arguments).text, text, "{arguments}");
        }
    }

    #[test]
    fn an_invented_argument_is_said_and_an_empty_one_is_not() {
        let noted = |arguments: &str| resolve_input(arguments).note();
        assert!(noted(r#"{"task":"t","session":"94807773"}"#).is_some_and(|note| note.contains("`session`")));
        assert_eq!(noted(r#"{"task":"t","session":"","label":null}"#), None);
    }

    #[test]
    fn a_delegation_without_a_task_is_refused() {
        for arguments in ["", "{}", r#"{"task":"  "}"#, r#"{"context":"only this"}"#] {
            assert!(resolve_input(arguments).check().is_err(), "{arguments}");
        }
    }
}

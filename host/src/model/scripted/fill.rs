//! Takes words out of what was said and puts them into answers and arguments. Must not choose a step.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

/// What a step took, by name.
pub(super) type Taken = HashMap<String, String>;

/// Finds each pattern in `said`: its first group, or all of it where it has no group.
pub(super) fn take(patterns: &[(String, Regex)], said: &str) -> Result<Taken, String> {
    patterns
        .iter()
        .map(|(name, pattern)| {
            let found = pattern.captures(said).and_then(|groups| groups.get(1).or_else(|| groups.get(0)));
            match found {
                Some(found) => Ok((name.clone(), found.as_str().to_owned())),
                None => Err(format!("expected `take.{name}` (`{pattern}`) to be found in what was said")),
            }
        })
        .collect()
}

/// The text with each `{{name}}` replaced. Braces around anything but a name stay.
pub(super) fn text(template: &str, taken: &Taken) -> Result<String, String> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        match after.split_once("}}") {
            Some((name, after)) if is_name(name.trim()) => {
                let name = name.trim();
                let value = taken.get(name).ok_or_else(|| unknown(name, taken))?;
                filled.push_str(value);
                rest = after;
            }
            _ => {
                filled.push('{');
                // The second brace may begin the next pair.
                rest = rest.get(before.len() + 1..).unwrap_or_default();
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The arguments text: of an object with every text in it filled, or of a text as it is.
pub(super) fn arguments(arguments: &Value, taken: &Taken) -> Result<String, String> {
    match arguments {
        Value::Null => Ok("{}".to_owned()),
        Value::String(raw) => text(raw, taken),
        other => Ok(value(other, taken)?.to_string()),
    }
}

fn value(template: &Value, taken: &Taken) -> Result<Value, String> {
    Ok(match template {
        Value::String(template) => Value::String(text(template, taken)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| value(item, taken)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| Ok((key.clone(), value(field, taken)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => other.clone(),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unknown(name: &str, taken: &Taken) -> String {
    let mut known: Vec<String> = taken.keys().map(|name| format!("`{name}`")).collect();
    known.sort_unstable();
    let known =
        if known.is_empty() { "takes nothing".to_owned() } else { format!("takes {}", known.join(", ")) };
    format!("expected `take` to have `{name}`, since `{{{{{name}}}}}` stands in the step, but it {known}")
}

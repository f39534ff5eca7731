//! Reads what a component may use. Must not choose defaults.

use serde_json::Value;

use super::DeclaredLimits;
use super::front_matter::Field;
use super::keys::Key;
use super::problem::Problem;

/// Takes one of the keys about limits; of two that speak of one limit the smaller counts.
///
/// # Errors
/// Where it cannot be read.
pub(super) fn take(limits: &mut DeclaredLimits, field: &Field) -> Result<(), Problem> {
    match (field.meaning, &field.value) {
        (Key::LimitsFuel, _) => limits.fuel = least(limits.fuel, field.count()?),
        (Key::LimitsMemory, _) => limits.memory = least(limits.memory, field.size()?),
        (_, Value::Null) => {}
        (_, Value::Object(parts)) => {
            for (name, value) in parts {
                let part = field.part(name, value);
                match name.as_str() {
                    "fuel" => limits.fuel = least(limits.fuel, part.count()?),
                    "memory" => limits.memory = least(limits.memory, part.size()?),
                    _ => return Err(part.expected("only `fuel` and `memory` in `limits`")),
                }
            }
        }
        (_, Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return Err(field.expected("a map with `fuel` and `memory`"));
        }
    }
    Ok(())
}

fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

//! Reads single values: texts, counts, times, sizes, words. Must not know which key they belong to.

use std::time::Duration;

use serde_json::Value;

use super::front_matter::Field;
use super::problem::{Problem, shown};

impl Field {
    /// A refusal at this field.
    pub(super) fn expected(&self, what: &str) -> Problem {
        let came = match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Object(_) => format!("a map {}", shown(&self.value.to_string())),
            Value::Array(_) => format!("a list {}", shown(&self.value.to_string())),
            Value::String(text) => shown(text),
            Value::Bool(_) | Value::Number(_) => shown(&self.value.to_string()),
        };
        Problem::at(self.line, format!("{}: expected {what}, found {came}", shown(&self.key)))
    }

    /// The part of a map field under `name`, as a field of its own.
    pub(super) fn part(&self, name: &str, value: &Value) -> Self {
        Self { key: format!("{}.{name}", self.key), value: value.clone(), raw: String::new(), ..self.clone() }
    }

    /// Text without blanks around it; numbers and booleans as they stand in the file. `None` where blank.
    ///
    /// # Errors
    /// For a list or a map.
    pub(super) fn text(&self) -> Result<Option<String>, Problem> {
        let text = match &self.value {
            Value::Null => "",
            Value::String(text) => text.trim(),
            Value::Bool(_) | Value::Number(_) if self.raw.is_empty() => {
                return Ok(Some(self.value.to_string()));
            }
            Value::Bool(_) | Value::Number(_) => self.raw.split(" #").next().unwrap_or_default().trim(),
            Value::Array(_) | Value::Object(_) => {
                return Err(self.expected("one text: write it on one line, in quotes"));
            }
        };
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }

    /// A whole number from 1. `None` where blank.
    ///
    /// # Errors
    /// For anything else.
    pub(super) fn count(&self) -> Result<Option<u64>, Problem> {
        let number = match &self.value {
            Value::Null => return Ok(None),
            Value::Number(number) => number.as_u64(),
            Value::String(digits) => digits.trim().replace('_', "").parse().ok(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        match number {
            Some(number) if number > 0 => Ok(Some(number)),
            _ => Err(self.expected("a whole number from 1, such as `10`")),
        }
    }

    /// A time: a bare number is seconds, else parts such as `90s`, `1m30s`, `500ms`. `None` where blank.
    ///
    /// # Errors
    /// For anything else, and for no time at all.
    pub(super) fn duration(&self) -> Result<Option<Duration>, Problem> {
        let time = match &self.value {
            Value::Null => return Ok(None),
            Value::Number(number) => number.as_u64().map(Duration::from_secs),
            Value::String(text) => duration(text.trim()),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let time = time.filter(|time| !time.is_zero());
        time.map(Some)
            .ok_or_else(|| self.expected("a time above zero, such as `90s`, `5m` or `30` for 30 seconds"))
    }

    /// A size in bytes: a bare number, or one with `KiB`, `MiB`, `GiB` (1024) or `KB`, `MB`, `GB` (1000). `None`
    /// where blank.
    ///
    /// # Errors
    /// For anything else, and for no size at all.
    pub(super) fn size(&self) -> Result<Option<usize>, Problem> {
        let size = match &self.value {
            Value::Null => return Ok(None),
            Value::Number(number) => number.as_u64(),
            Value::String(text) => size(text.trim()),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let size = size.filter(|size| *size > 0).and_then(|size| usize::try_from(size).ok());
        size.map(Some)
            .ok_or_else(|| self.expected("a size above zero, such as `64MiB`, or a number of bytes"))
    }

    /// One of `words`, whatever its case. `None` where blank.
    ///
    /// # Errors
    /// For anything else.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<Option<T>, Problem> {
        let names: Vec<_> = words.iter().map(|(name, _)| shown(name)).collect();
        let refuse = || self.expected(&format!("one of {}", names.join(", ")));
        let Some(word) = self.text().map_err(|_| refuse())? else { return Ok(None) };
        let found = words.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word));
        found.map(|(_, value)| Some(*value)).ok_or_else(refuse)
    }
}

/// Whether a value says yes or no, in the words that people use for it.
pub(super) fn switch(value: &Value) -> Option<bool> {
    let word = match value {
        Value::Bool(on) => return Some(*on),
        Value::String(word) => word.trim().to_ascii_lowercase(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    match word.as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Splits off the leading digits.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

fn duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = leading_number(rest)?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let part = match unit {
            "ms" => Duration::from_millis(number),
            "s" | "sec" | "second" | "seconds" => Duration::from_secs(number),
            "m" | "min" | "minute" | "minutes" => Duration::from_secs(number.checked_mul(60)?),
            "h" | "hour" | "hours" => Duration::from_secs(number.checked_mul(3600)?),
            "" if rest == text && after.is_empty() => Duration::from_secs(number),
            _ => return None,
        };
        total = total.checked_add(part)?;
        rest = after.trim_start();
    }
    Some(total)
}

fn size(text: &str) -> Option<u64> {
    let (number, unit) = leading_number(text)?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_documented() {
        for (text, millis) in
            [("90s", 90_000), ("1m30s", 90_000), ("500ms", 500), ("2 h", 7_200_000), ("7", 7000)]
        {
            assert_eq!(duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["5x", "s", "1m30", "-3s", "1.5h", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_documented() {
        for (text, bytes) in [("64MiB", 64 << 20), ("2 kb", 2000), ("17", 17), ("1g", 1 << 30)] {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["MiB", "1.5GiB", "-1", "99999999999GiB", "5 apples"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}

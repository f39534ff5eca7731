//! What can be wrong with a value or a key, and the dotted key where it is. Must not know which layer it
//! came from.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::subagents::nearest;

/// Most characters of a value that a message repeats.
const SHOWN: usize = 60;

/// A step into a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

/// The steps as a dotted key.
pub(crate) fn dotted(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) => {
                let bare =
                    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                let dot = if text.is_empty() { "" } else { "." };
                text.push_str(dot);
                text.push_str(&if bare { key.clone() } else { quoted(key) });
            }
            Step::Item(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", short(text))
}

/// Text from outside, short and on one line.
pub(crate) fn short(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{rest}", shown.escape_debug())
}

/// What is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A key that its table does not have, the last of the steps.
    Unknown { known: &'static [&'static str] },
    /// A value that its key does not take.
    Wrong { expected: String, came: String },
    /// Anything else.
    Other(String),
}

/// A fault and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) steps: Vec<Step>,
    pub(crate) fault: Fault,
}

impl Problem {
    pub(crate) fn unknown(key: &str, known: &'static [&'static str]) -> Self {
        Self { steps: vec![Step::Key(key.to_owned())], fault: Fault::Unknown { known } }
    }

    pub(crate) fn wrong(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { steps: Vec::new(), fault: Fault::Wrong { expected: expected.into(), came: came.into() } }
    }

    /// The same, seen from one table or list further out.
    pub(crate) fn inside(mut self, step: Step) -> Self {
        self.steps.insert(0, step);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = dotted(&self.steps);
        match &self.fault {
            Fault::Unknown { known } => {
                let table = self.steps.split_last().map_or(String::new(), |(_, table)| dotted(table));
                write!(f, "unknown key `{at}`")?;
                let hint = match self.steps.last() {
                    Some(Step::Key(key)) => nearest(key, known),
                    Some(Step::Item(_)) | None => None,
                };
                let (dot, inside) = match table.as_str() {
                    "" => ("", "at the top".to_owned()),
                    table => (".", format!("in [{table}]")),
                };
                if let Some(near) = hint {
                    write!(f, "; did you mean `{table}{dot}{near}`?")?;
                }
                write!(f, " (known {inside}: {})", known.join(", "))
            }
            Fault::Wrong { expected, came } if at.is_empty() => write!(f, "expected {expected}, got {came}"),
            Fault::Wrong { expected, came } => write!(f, "`{at}`: expected {expected}, got {came}"),
            Fault::Other(told) if at.is_empty() => f.write_str(told),
            Fault::Other(told) => write!(f, "`{at}`: {told}"),
        }
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(told: T) -> Self {
        Self { steps: Vec::new(), fault: Fault::Other(told.to_string()) }
    }

    fn invalid_type(came: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong(plain(&expected.to_string()), shown(came))
    }

    fn invalid_value(came: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(came, expected)
    }
}

/// What the reader of a primitive type says it expects, in the words of a configuration.
fn plain(expected: &str) -> String {
    match expected {
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" | "usize" => "a whole number that is 0 or more".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" => "text".to_owned(),
        "a sequence" => "a list of text".to_owned(),
        other if other == "a map" || other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    }
}

/// A value that came, short and on one line.
fn shown(came: Unexpected<'_>) -> String {
    match came {
        Unexpected::Str(text) => format!("text {}", quoted(text)),
        Unexpected::Bool(truth) => truth.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Float(number) => format!("{number:?}"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_from_outside_cannot_steer_a_terminal_or_flood_it() {
        let steps = [Step::Key("tools".into()), Step::Key("a\u{1b}[2J\nb".into()), Step::Item(3)];
        assert_eq!(dotted(&steps), r#"tools."a\u{1b}[2J\nb"[3]"#);
        let long = dotted(&[Step::Key("é ".repeat(500))]);
        assert!(long.chars().count() < 2 * SHOWN && long.contains('…'), "{long}");
        assert_eq!(dotted(&[Step::Key(String::new())]), r#""""#);
    }
}

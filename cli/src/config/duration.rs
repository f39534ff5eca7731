//! Durations as text, such as `90s` or `1h 30m`. Must not take a bare number: it would not say of what.

use std::fmt;
use std::time::Duration;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// The duration that a text stands for.
pub(super) fn parse(text: &str) -> Option<Duration> {
    humantime::parse_duration(text).ok()
}

/// Reads the value of a key that holds a duration.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    deserializer.deserialize_str(Text).map(Some)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"90s\" or \"1h 30m\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_needs_its_unit() {
        for (text, seconds) in [("90s", 90), ("5m", 300), ("1h 30m", 5400), ("0s", 0), ("1day", 86_400)] {
            assert_eq!(parse(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse("250ms"), Some(Duration::from_millis(250)));
        for text in ["", "90", "s", "-5s", "five minutes", "5 parsecs", "99999999999999999999s"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! Numbers with a range that their type does not hold. Must not know which key they stand at.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// Reads a whole number of one or more.
pub(super) fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    deserializer.deserialize_u32(AtLeastOne).map(Some)
}

/// Reads a finite number of zero or more.
pub(super) fn not_negative<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    deserializer.deserialize_f64(NotNegative).map(Some)
}

struct AtLeastOne;

impl Visitor<'_> for AtLeastOne {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 1 to {}", u32::MAX)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        let taken = u32::try_from(number).ok().filter(|number| *number > 0);
        taken.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

struct NotNegative;

impl Visitor<'_> for NotNegative {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number that is 0 or more")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
        if number.is_finite() && number >= 0.0 {
            Ok(number)
        } else {
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 the next number does as well")]
    fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
        if number >= 0 { Ok(number as f64) } else { Err(E::invalid_value(Unexpected::Signed(number), &self)) }
    }
}

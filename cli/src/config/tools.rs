//! The tools of a subagent: a list, or the one word for what its parent has. Must not know which tools there are.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};

/// Stands for the tools of the parent.
pub(crate) const INHERIT: &str = "inherit";

/// Reads a list of text, or `inherit` as the list of it.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    deserializer.deserialize_any(Names).map(Some)
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of text, or \"{INHERIT}\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<String>, E> {
        if text == INHERIT {
            Ok(vec![INHERIT.to_owned()])
        } else {
            Err(E::invalid_value(Unexpected::Str(text), &self))
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = items.next_element()? {
            names.push(name);
        }
        Ok(names)
    }
}

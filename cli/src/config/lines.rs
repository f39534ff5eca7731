//! The line of a TOML text where a key or a list's item stands. Must not judge it.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::Step;

/// The line of what the steps lead to; of the last one that is found where they lead nowhere.
pub(super) fn of_steps(text: &str, steps: &[Step]) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut span: Option<Range<usize>> = None;
    let mut table: Option<&DeTable<'_>> = Some(document.get_ref());
    let mut value: Option<&Spanned<DeValue<'_>>> = None;
    for step in steps {
        let next = match step {
            Step::Key(key) => {
                let found = table.and_then(|table| table.iter().find(|(name, _)| name.get_ref() == key));
                found.map(|(name, value)| (name.span(), value))
            }
            Step::Item(index) => {
                let items = value.and_then(|value| value.get_ref().as_array());
                items.and_then(|items| items.get(*index)).map(|item| (item.span(), item))
            }
        };
        let Some((at, found)) = next else { break };
        span = Some(at);
        value = Some(found);
        table = found.get_ref().as_table();
    }
    span.map(|span| of_offset(text, span.start))
}

/// The line of a byte.
pub(super) fn of_offset(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_each_way_of_writing_it() {
        let text = "# é\n[a]\nb = 1\nc.d = 2\n\n[e]\nf = [\n  1,\n  2,\n]\ng = { h = 3 }\n\"i j\" = 4\n";
        let line = |path: &[Step]| of_steps(text, path);
        let key = |name: &str| Step::Key(name.to_owned());
        for (path, expected) in [
            (vec![key("a")], 2),
            (vec![key("a"), key("b")], 3),
            (vec![key("a"), key("c"), key("d")], 4),
            (vec![key("e"), key("f"), Step::Item(1)], 9),
            (vec![key("e"), key("g"), key("h")], 11),
            (vec![key("e"), key("i j")], 12),
            (vec![key("a"), key("nothing")], 2),
        ] {
            assert_eq!(line(&path), Some(expected), "{path:?}");
        }
        assert_eq!(line(&[key("nothing")]), None);
        assert_eq!(line(&[]), None);
    }
}

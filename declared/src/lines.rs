//! Cuts front matter into one piece a key, by lines alone. Must not interpret values.

use super::keys::{Key, MERGE, meaning, restricts};
use super::problem::{Problem, shown};

/// A key and all lines up to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The key as written, quotes removed.
    pub(super) key: String,
    /// What it means.
    pub(super) meaning: Key,
    /// Line number of the key.
    pub(super) line: usize,
    /// The line with the key and those after it.
    pub(super) lines: Vec<String>,
}

impl Piece {
    /// What follows the key on its line.
    pub(super) fn first_value(&self) -> &str {
        self.lines.first().and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim())
    }

    /// The value as plain text, whatever marks of YAML are in it: outer quotes and a block mark are removed.
    pub(super) fn raw_text(&self) -> String {
        let first = self.first_value();
        let block = first.starts_with(['|', '>']) && first.len() <= 3;
        let mut lines = vec![if block { "" } else { first }];
        lines.extend(self.lines.iter().skip(1).map(|line| line.trim()));
        let text = lines.join("\n").trim().to_owned();
        let unquoted = ['"', '\''].iter().find_map(|q| text.strip_prefix(*q)?.strip_suffix(*q));
        unquoted.map(str::trim).map(str::to_owned).unwrap_or(text)
    }

    /// Refuses where a later line of unmarked text looks like a key that limits the agent: whether it is text or
    /// a key with a slip in it (no space after the colon, indented by mistake) cannot be known.
    ///
    /// # Errors
    /// At the first such line.
    pub(super) fn hides_no_restriction(&self) -> Result<(), Problem> {
        for (offset, line) in self.lines.iter().enumerate().skip(1) {
            if let Some(key) = restriction_like(line) {
                return Err(Problem::at(
                    self.line + offset,
                    format!(
                        "expected {key} as a key of its own (`{key}: value`, in the first column, a space after the \
                         colon), found {} inside {}: write it as a key, or put the text of {} in quotes",
                        shown(line.trim()),
                        shown(&self.key),
                        shown(&self.key),
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Cuts at every key in the first column; lines before the first key are left out. With `known_only`, a word
/// that is no key of the table does not end a text: dialogues such as `user: "…"` stay in the description.
pub(super) fn pieces(lines: &[String], first_line: usize, known_only: bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (offset, line) in lines.iter().enumerate() {
        let key = key_of(line).map(|key| (key.to_owned(), meaning(key)));
        match (key, pieces.last_mut()) {
            (Some((_, Key::Unknown)), Some(text)) if known_only && text.meaning == Key::Description => {
                text.lines.push(line.clone());
            }
            (Some((key, meaning)), _) => {
                pieces.push(Piece { key, meaning, line: first_line + offset, lines: vec![line.clone()] });
            }
            (None, Some(piece)) => piece.lines.push(line.clone()),
            (None, None) => {}
        }
    }
    pieces
}

/// What YAML puts before a key or value that is not plain.
const MARKS: [char; 4] = ['{', '&', '!', '?'];

/// The key of a line `key: …` in the first column.
fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let separated = value.is_empty() || value.starts_with([' ', '\t']);
    if !separated || key.starts_with([' ', '\t', '#', '-']) || key.starts_with(MARKS) {
        return None;
    }
    let key = key.trim_end();
    let key = ['"', '\''].iter().find_map(|q| key.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(key);
    let one_word = !key.is_empty() && !key.contains([' ', '\t', '<', '"', '\'']);
    (one_word || key == MERGE).then_some(key)
}

/// The restriction that a line seems to be meant as: its key, then `:` (also the full-width one) or `=`; after a
/// mark of YAML, any word of the line.
pub(super) fn restriction_like(line: &str) -> Option<&str> {
    let is = |key: &&str| key.len() <= 40 && restricts(meaning(key));
    if line.trim_start().starts_with(MARKS) {
        return line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').find(is);
    }
    let (key, _) = line.split_once([':', '：', '='])?;
    let key = key.trim().trim_matches(['"', '\'', '-', '*']).trim();
    Some(key).filter(|key| !key.contains(' ')).filter(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_dialogue_stays_in_its_text_and_known_keys_end_it() {
        let all = lines("description: Use it. Examples:\n\nuser: \"hm\"\nassistant: \"ah\"\nmodel: big");
        let pieces = pieces(&all, 2, true);
        let keys: Vec<_> = pieces.iter().map(|piece| (piece.key.as_str(), piece.line)).collect();
        assert_eq!(keys, [("description", 2), ("model", 6)]);
        assert_eq!(pieces[0].raw_text(), "Use it. Examples:\n\nuser: \"hm\"\nassistant: \"ah\"");
    }

    #[test]
    fn what_looks_like_a_restriction_is_seen_in_any_guise() {
        for line in [
            "tools:Read",
            "  tools: Read",
            "tools：Read",
            "\"tools\" : x",
            "Tools = Read",
            "maxTurns:3",
            "? tools",
            "&a tools: x",
            "{a: b, tools: x}",
            "- tools: x",
        ] {
            assert!(restriction_like(line).is_some(), "{line}");
        }
        for line in ["user: \"tools: x\"", "the tools: some", "http://x", "no colon"] {
            assert_eq!(restriction_like(line), None, "{line}");
        }
    }
}

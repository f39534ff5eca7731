//! Reads front matter into keys and values: as YAML where it is YAML, else key by key. Must not know what any
//! key is for beyond whether it limits the agent.

use serde_json::{Map, Value};

use super::keys::{Key, meaning, restricts};
use super::lines::{Piece, pieces, restriction_like};
use super::problem::{Notes, Problem, shown};

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// As written.
    pub(super) key: String,
    pub(super) meaning: Key,
    pub(super) line: usize,
    pub(super) value: Value,
    /// The value's text in the file, for scalars that YAML takes for numbers. Empty where it is not known.
    pub(super) raw: String,
}

/// Reads `lines`, the first of which is line `first_line` of the file.
///
/// # Errors
/// Where a restriction cannot be read with certainty.
pub(super) fn fields(lines: &[String], first_line: usize, notes: &mut Notes) -> Result<Vec<Field>, Problem> {
    let error = match yaml(&lines.join("\n")) {
        Ok(map) => return from_yaml(map, &pieces(lines, first_line, false), first_line),
        Err(error) => error,
    };
    let pieces = pieces(lines, first_line, true);
    let first = pieces.first().map_or(lines.len(), |piece| piece.line - first_line);
    if let Some((offset, line)) =
        lines.iter().take(first).enumerate().find(|(_, line)| restriction_like(line).is_some())
    {
        return Err(Problem::at(
            first_line + offset,
            format!("expected `key: value` in the first column, found {}: write it so", shown(line.trim())),
        ));
    }
    notes.say(first_line, format!("the front matter is not strict YAML ({error}) and was read line by line"));
    pieces.iter().map(|piece| from_piece(piece, notes)).collect()
}

/// The fields of a sound mapping; the pieces give them their lines.
fn from_yaml(map: Map<String, Value>, pieces: &[Piece], first_line: usize) -> Result<Vec<Field>, Problem> {
    let mut fields = Vec::with_capacity(map.len());
    for (key, value) in map {
        let piece = pieces.iter().find(|piece| piece.key == key);
        if let (Some(piece), Value::String(_)) = (piece, &value)
            && plain(piece)
        {
            piece.hides_no_restriction()?;
        }
        let cut = |piece: &&Piece| {
            piece.meaning == Key::Description
                && plain(piece)
                && piece.lines.iter().any(|line| line.contains(" #"))
        };
        let value = match piece.filter(cut) {
            // ` #` in running text is a ticket number far more often than a comment.
            Some(piece) if value.is_string() => Value::String(piece.raw_text()),
            _ => value,
        };
        fields.push(Field {
            meaning: meaning(&key),
            line: piece.map_or(first_line, |piece| piece.line),
            raw: piece.map(Piece::raw_text).unwrap_or_default(),
            key,
            value,
        });
    }
    Ok(fields)
}

/// One key of front matter that as a whole is no YAML: by itself it often is.
fn from_piece(piece: &Piece, notes: &mut Notes) -> Result<Field, Problem> {
    let field = |value| Field {
        key: piece.key.clone(),
        meaning: piece.meaning,
        line: piece.line,
        value,
        raw: piece.raw_text(),
    };
    let alone = yaml(&piece.lines.join("\n")).and_then(|map| match (map.len(), map.into_iter().next()) {
        (1, Some((key, value))) if key == piece.key => Ok(value),
        _ => Err("more than one key".to_owned()),
    });
    match alone {
        Ok(Value::String(text)) if plain(piece) => {
            piece.hides_no_restriction()?;
            let text = if piece.meaning == Key::Description { piece.raw_text() } else { text };
            Ok(field(Value::String(text)))
        }
        Ok(value) => Ok(field(value)),
        Err(error)
            if restricts(piece.meaning) || piece.meaning == Key::Url || piece.meaning == Key::Component =>
        {
            Err(Problem::at(
                piece.line,
                format!(
                    "expected a value for {} that can be read with certainty, found {} ({error}): write it as YAML, \
                     for example in quotes or as a list `[a, b]`",
                    shown(&piece.key),
                    shown(&piece.raw_text()),
                ),
            ))
        }
        Err(error) => {
            piece.hides_no_restriction()?;
            if !matches!(piece.meaning, Key::Description | Key::Name) {
                notes.say(
                    piece.line,
                    format!("{} is not strict YAML ({error}); taken as text", shown(&piece.key)),
                );
            }
            Ok(field(Value::String(piece.raw_text())))
        }
    }
}

/// Whether the value is text without quotes or a block mark.
fn plain(piece: &Piece) -> bool {
    let rest = piece.lines.iter().skip(1).map(|line| line.trim());
    let first = std::iter::once(piece.first_value()).chain(rest).find(|line| !line.is_empty());
    !first.is_some_and(|line| line.starts_with(['"', '\'', '|', '>', '&', '!', '[', '{']))
}

/// `text` as a YAML mapping; blank text is an empty one.
///
/// # Errors
/// What the YAML reader said, in one line.
fn yaml(text: &str) -> Result<Map<String, Value>, String> {
    let budget =
        serde_saphyr::budget! { max_depth: 16, max_nodes: 20_000, max_aliases: 100, max_anchors: 100 };
    let options = serde_saphyr::options! {
        budget: budget,
        merge_keys: serde_saphyr::options::MergeKeyPolicy::Error,
        leading_zero_numbers_as_strings: true,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Value>(text, options) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("it is no mapping of keys to values".to_owned()),
        Err(error) => Err(error.to_string().lines().next().unwrap_or("unreadable").to_owned()),
    }
}

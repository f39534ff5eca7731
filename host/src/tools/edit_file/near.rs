//! Where a text that was not found stands apart from its white space: a hint for an error message.
//! Must not be used to place an edit.

use super::super::text::head;
use super::occurrences::search;

/// Most bytes of the file that a hint shows.
const SHOWN_BYTES: usize = 200;

/// The 1-based line where `old` stands apart from white space, and what the file has on it.
pub(super) fn place(body: &[u8], old: &str) -> Option<(usize, String)> {
    let squeezed = squeeze(body);
    let wanted = squeeze(old.as_bytes());
    if wanted.is_empty() {
        return None;
    }
    let before = search(&squeezed, &wanted).next()?.start;
    // The place in the file: as many bytes that are no white space stand before it.
    let (at, _) = body.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace()).nth(before)?;
    let start = body.get(..at)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = body.get(..at)?.iter().filter(|byte| **byte == b'\n').count() + 1;
    let text = body.get(start..)?.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let text = text.trim_end_matches('\r');
    let shown = head(text, SHOWN_BYTES);
    Some((line, if shown.len() < text.len() { format!("{shown}…") } else { shown.to_owned() }))
}

fn squeeze(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

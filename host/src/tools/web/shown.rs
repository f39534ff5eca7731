//! Text that somebody else controls, made fit for a message. Must not know where it came from.

/// `text` on one line, control and invisible characters written out, at most `most` characters.
pub(super) fn shown(text: &str, most: usize) -> String {
    let mut result = String::new();
    for (index, character) in text.chars().enumerate() {
        if index >= most {
            result.push('…');
            break;
        }
        if is_hidden(character) {
            result.extend(character.escape_unicode());
        } else {
            result.push(character);
        }
    }
    result
}

/// True for characters that do not show as themselves: controls, line separators, marks of direction, fillers.
pub(super) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The last character boundary of `text` at or before byte `most`.
pub(in super::super) fn cut_at(text: &str, most: usize) -> usize {
    text.floor_char_boundary(most)
}

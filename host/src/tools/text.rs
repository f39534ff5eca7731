//! Bytes as text: which encoding a file has, how it reads, where its lines end, how a long line is cut.
//! Must not touch files.

use std::borrow::Cow;

/// The mark that some programs put before UTF-8 text.
pub(super) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file's bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8 without a byte order mark.
    Utf8,
    /// UTF-8 with a byte order mark.
    Utf8Marked,
    /// UTF-16 with a byte order mark, low byte first.
    Utf16Le,
    /// UTF-16 with a byte order mark, high byte first.
    Utf16Be,
    /// Text of another encoding.
    Unknown,
    /// Holds NUL characters: no text.
    Binary,
}

impl Encoding {
    /// The encoding of `bytes`. `whole` is false where they are only the start of a file, so that a last
    /// character may be missing its end.
    pub(super) fn of(bytes: &[u8], whole: bool) -> Self {
        let utf16 = if bytes.starts_with(b"\xff\xfe") {
            Some((Self::Utf16Le, encoding_rs::UTF_16LE))
        } else if bytes.starts_with(b"\xfe\xff") {
            Some((Self::Utf16Be, encoding_rs::UTF_16BE))
        } else {
            None
        };
        if let Some((encoding, codec)) = utf16 {
            let (text, _) = codec.decode_with_bom_removal(bytes);
            return if text.contains('\0') { Self::Binary } else { encoding };
        }
        if bytes.contains(&0) {
            return Self::Binary;
        }
        match std::str::from_utf8(bytes) {
            Err(error) if whole || error.error_len().is_some() => Self::Unknown,
            _ if bytes.starts_with(UTF8_MARK) => Self::Utf8Marked,
            _ => Self::Utf8,
        }
    }

    /// Its name, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf8Marked => "UTF-8 with a byte order mark",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Unknown => "not UTF-8 (an 8-bit encoding perhaps)",
            Self::Binary => "binary",
        }
    }
}

/// A readable view of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct View {
    /// The text, without a byte order mark, every line end a line feed.
    pub(super) text: String,
    /// What sets the view apart from the file's bytes, in words; empty for UTF-8.
    pub(super) note: String,
}

/// The readable view of `bytes`; none where they are binary. `whole` as for [`Encoding::of`].
pub(super) fn view(bytes: &[u8], whole: bool) -> Option<View> {
    let encoding = Encoding::of(bytes, whole);
    let (text, note) = match encoding {
        Encoding::Binary => return None,
        Encoding::Utf8 | Encoding::Utf8Marked => {
            let bytes = bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes);
            let end = std::str::from_utf8(bytes).err().map_or(bytes.len(), |error| error.valid_up_to());
            (String::from_utf8_lossy(bytes.get(..end).unwrap_or(bytes)), String::new())
        }
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let (text, lossy) = decode_utf16(bytes, encoding);
            let broken = if lossy && whole { ", broken pairs as replacement characters" } else { "" };
            (text, format!("the file is {}: shown decoded{broken}", encoding.name()))
        }
        Encoding::Unknown => (
            String::from_utf8_lossy(bytes),
            "not UTF-8: shown with replacement characters; edit_file keeps the bytes that it does not \
             replace, write_file does not"
                .to_owned(),
        ),
    };
    let text = if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text.into_owned() };
    Some(View { text, note })
}

/// The text of UTF-16 bytes without their mark, and whether something in them was broken.
pub(super) fn decode_utf16(bytes: &[u8], encoding: Encoding) -> (Cow<'_, str>, bool) {
    let codec = if encoding == Encoding::Utf16Be { encoding_rs::UTF_16BE } else { encoding_rs::UTF_16LE };
    codec.decode_with_bom_removal(bytes)
}

/// UTF-16 bytes of `text`, with a mark.
pub(super) fn encode_utf16(text: &str, encoding: Encoding) -> Vec<u8> {
    let big = encoding == Encoding::Utf16Be;
    std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
        .collect()
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// There is no line end.
    None,
    /// Line feeds alone.
    Lf,
    /// Carriage return and line feed, everywhere.
    CrLf,
    /// Both kinds.
    Mixed,
}

impl LineEnds {
    /// The line ends of `bytes`.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let (mut bare, mut paired) = (false, false);
        let mut before = None;
        for byte in bytes {
            if *byte == b'\n' {
                if before == Some(b'\r') { paired = true } else { bare = true }
            }
            before = Some(*byte);
        }
        match (bare, paired) {
            (false, false) => Self::None,
            (true, false) => Self::Lf,
            (false, true) => Self::CrLf,
            (true, true) => Self::Mixed,
        }
    }
}

/// The longest head of `text` that has at most `most` bytes and ends between characters.
pub(super) fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest tail of `text`, like [`head`].
fn tail(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// One line around a match, cut to `most` bytes so that the match itself stays to be seen; what is hidden is
/// counted in characters.
pub(super) fn cut_around(before: &str, found: &str, after: &str, most: usize) -> String {
    if before.len() + found.len() + after.len() <= most {
        return format!("{before}{found}{after}");
    }
    let shown = head(found, most);
    let room = most - shown.len();
    // A third of the room for what stands before, and whatever the other side does not need.
    let left = (room / 3).max(room.saturating_sub(after.len()));
    let start = tail(before, left);
    let end = if shown.len() < found.len() { "" } else { head(after, room - start.len()) };
    let hidden_before = before.chars().count() - start.chars().count();
    let hidden_after =
        found.chars().count() + after.chars().count() - shown.chars().count() - end.chars().count();
    let mark = |hidden: usize| match hidden {
        0 => String::new(),
        1 => "[… 1 character hidden]".to_owned(),
        more => format!("[… {more} characters hidden]"),
    };
    format!("{}{start}{shown}{end}{}", mark(hidden_before), mark(hidden_after))
}

#[cfg(test)]
mod tests;

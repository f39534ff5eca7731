//! What an answer is and how its bytes become text. Must not fetch anything.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use url::Url;

use super::html::readable;

/// How far into a page a declaration of its encoding counts, in bytes.
const DECLARATION_BYTES: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Xml,
    Text,
    /// The server did not say.
    Unknown,
}

/// A type that is text, with the encoding that came along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Media {
    kind: Kind,
    charset: Option<String>,
}

/// Text and what was lost on the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageText {
    pub(super) text: String,
    pub(super) lossy: bool,
    pub(super) cut: bool,
}

impl Media {
    /// `None` where the type is not text.
    pub(super) fn parse(content_type: &str) -> Option<Self> {
        let mut parts = content_type.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
        });
        Some(Self { kind: kind_of(&essence)?, charset })
    }

    /// True where the server did not say what it sent.
    pub(super) fn is_unknown(&self) -> bool {
        self.kind == Kind::Unknown
    }
}

fn kind_of(essence: &str) -> Option<Kind> {
    match essence {
        "" => return Some(Kind::Unknown),
        "text/html" | "application/xhtml+xml" => return Some(Kind::Html),
        "text/xml" | "application/xml" => return Some(Kind::Xml),
        "application/json"
        | "application/javascript"
        | "application/ecmascript"
        | "application/x-javascript"
        | "application/ndjson"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/sql"
        | "application/graphql"
        | "application/x-sh"
        | "application/xml-dtd" => return Some(Kind::Text),
        _ => {}
    }
    let (family, name) = essence.split_once('/')?;
    match name.rsplit_once('+').map(|(_, suffix)| suffix) {
        Some("xml") => Some(Kind::Xml),
        Some("json" | "yaml" | "json-seq") => Some(Kind::Text),
        _ if family == "text" && !name.is_empty() => Some(Kind::Text),
        _ => None,
    }
}

/// The text of a page, at most `most` bytes of it. `is_start` says that `bytes` is only the start of the page.
pub(super) fn text_of(bytes: &[u8], is_start: bool, media: &Media, base: &Url, most: usize) -> PageText {
    let (decoded, mut lossy) = decode(bytes, is_start, media);
    let is_html = media.kind == Kind::Html || media.kind == Kind::Unknown && looks_like_html(&decoded);
    let (raw, cut) = if is_html {
        readable(&decoded, base, most)
    } else {
        let end = decoded.floor_char_boundary(most);
        (decoded.get(..end).unwrap_or_default().to_owned(), end < decoded.len())
    };
    let mut text = String::with_capacity(raw.len());
    for character in raw.chars() {
        if character.is_control() && !matches!(character, '\n' | '\r' | '\t') {
            lossy = true;
            text.push('\u{fffd}');
        } else {
            text.push(character);
        }
    }
    // Replacing may lengthen the text.
    let end = text.floor_char_boundary(most);
    let cut = cut || end < text.len();
    text.truncate(end);
    PageText { text, lossy, cut }
}

/// `bytes` as text, and whether anything had to be replaced.
fn decode(bytes: &[u8], is_start: bool, media: &Media) -> (String, bool) {
    let named = media.charset.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = named.or_else(|| declared(bytes, media.kind)).unwrap_or(UTF_8);
    // This decoder lets a byte order mark win over both.
    let mut decoder = encoding.new_decoder();
    let mut text = String::new();
    text.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
    // A character that a cap has split is not a fault of the page.
    let (_, _, lossy) = decoder.decode_to_string(bytes, &mut text, !is_start);
    (text, lossy)
}

/// The encoding that the first bytes of a page declare.
fn declared(bytes: &[u8], kind: Kind) -> Option<&'static Encoding> {
    let key = match kind {
        Kind::Html | Kind::Unknown => "charset",
        Kind::Xml => "encoding",
        Kind::Text => return None,
    };
    let start = String::from_utf8_lossy(bytes.get(..DECLARATION_BYTES).unwrap_or(bytes)).to_ascii_lowercase();
    let (_, after) = start.split_once(key)?;
    let value = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '>' | '/' | '?'));
    let label = value.get(..end.unwrap_or(value.len()))?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    // Bytes in which this declaration could be read are not UTF-16.
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

fn looks_like_html(text: &str) -> bool {
    let start = text.trim_start();
    ["<!doctype html", "<html"]
        .iter()
        .any(|mark| start.get(..mark.len()).is_some_and(|found| found.eq_ignore_ascii_case(mark)))
}

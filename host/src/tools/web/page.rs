//! From the body of a response to text that a model can read. Must not fetch anything.

use encoding_rs::{Encoding, UTF_8};
use url::Url;

use crate::history::is_invisible;
use crate::tools::ToolError;

/// Columns that text is wrapped to.
const COLUMNS: usize = 120;
/// Deepest nesting of HTML that is laid out; deeper pages are shown as they are.
const NESTING: usize = 500;

/// A page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where the text came from, after redirects; without a query that could hold a secret.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// What the server says it is.
    pub content_type: String,
    /// The text.
    pub text: String,
    /// True where a size cap cut it.
    pub cut: bool,
}

/// A body as far as it was read.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) cut: bool,
}

pub(super) async fn document(
    url: &Url,
    status: u16,
    kind: &str,
    body: Body,
    text_bytes: usize,
) -> Result<Document, ToolError> {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_lowercase();
    let is_html = matches!(essence.as_str(), "text/html" | "application/xhtml+xml");
    let is_text = is_html
        || essence.is_empty()
        || essence.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|ending| essence.ends_with(ending));
    if !is_text || body.bytes.contains(&0) {
        return Err(ToolError::Failed(format!(
            "`{}` is no text: it is `{}`, {} bytes",
            shown_url(url),
            shown(&essence),
            body.bytes.len()
        )));
    }
    let encoding = charset(kind).and_then(|name| Encoding::for_label(name.as_bytes())).unwrap_or(UTF_8);
    let (text, _, lossy) = encoding.decode(&body.bytes);
    let mut text = if is_html { layout(text.into_owned()).await } else { text.into_owned() };
    let mut cut = body.cut;
    if text.len() > text_bytes {
        let mut end = text_bytes;
        while !text.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        text.truncate(end);
        cut = true;
    }
    if lossy {
        text = format!("[bytes that are no text are shown as \u{fffd}]\n{text}");
    }
    Ok(Document { url: shown_url(url), status, content_type: shown(kind), text, cut })
}

/// HTML laid out as text. On a thread of its own: layout takes time, and a page may be made to take much.
async fn layout(html: String) -> String {
    if nesting(&html) > NESTING {
        return format!("[nested too deep to be laid out; its source]\n{html}");
    }
    let laid_out =
        tokio::task::spawn_blocking(move || html2text::from_read(html.as_bytes(), COLUMNS).unwrap_or(html));
    laid_out.await.unwrap_or_else(|_| "[the page could not be laid out]".to_owned())
}

/// How deep tags are nested at most, counted roughly: what matters is that it cannot be far too low.
fn nesting(html: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    for (at, _) in html.match_indices('<') {
        match html.as_bytes().get(at.saturating_add(1)) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(next) if next.is_ascii_alphabetic() => {
                // Tags that never hold others do not nest.
                let name: String = html
                    .get(at.saturating_add(1)..)
                    .unwrap_or_default()
                    .chars()
                    .take_while(char::is_ascii_alphanumeric)
                    .collect();
                if !["br", "img", "hr", "meta", "link", "input", "p", "li", "td", "tr"]
                    .contains(&name.to_lowercase().as_str())
                {
                    depth = depth.saturating_add(1);
                }
            }
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn charset(kind: &str) -> Option<&str> {
    let parameter = |part: &'_ str| part.trim().to_lowercase().starts_with("charset=");
    let part = kind.split(';').find(|part| parameter(part))?;
    part.split_once('=').map(|(_, name)| name.trim().trim_matches('"'))
}

/// An address without what could hold a secret.
pub(super) fn shown_url(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    if url.query().is_some() {
        url.set_query(Some("..."));
    }
    shown(url.as_str())
}

/// Text of a server's, shortened, with what is invisible made visible.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(300) {
        if is_invisible(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

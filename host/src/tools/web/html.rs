//! HTML as readable text, token by token: no tree, so nesting costs neither stack nor time.
//! Must not fetch or decode anything.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use url::Url;

/// Most bytes of one link target that are shown.
const MOST_LINK_BYTES: usize = 500;

/// The text of `html` and whether it was cut at about `most` bytes. Link targets are resolved against `base`.
pub(super) fn readable(html: &str, base: &Url, most: usize) -> (String, bool) {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page::new(base);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => page.open(&tag),
            Token::EndTag(tag) => page.close(&tag.name),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if page.out.len() > most {
            page.out.truncate(page.out.floor_char_boundary(most));
            return (page.out, true);
        }
    }
    (page.out, false)
}

/// What stands between two pieces of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

#[derive(Debug)]
struct Page<'a> {
    out: String,
    gap: Gap,
    /// Set before the next text, such as the mark of a list item.
    mark: String,
    /// The element whose text is not shown, and how many of it are open.
    hidden: Option<(Vec<u8>, usize)>,
    preformatted: usize,
    lists: usize,
    link: Option<Url>,
    base: &'a Url,
}

impl<'a> Page<'a> {
    fn new(base: &'a Url) -> Self {
        Self {
            out: String::new(),
            gap: Gap::None,
            mark: String::new(),
            hidden: None,
            preformatted: 0,
            lists: 0,
            link: None,
            base,
        }
    }

    fn open(&mut self, tag: &StartTag<()>) {
        let name: &[u8] = &tag.name;
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(hidden == name && !tag.self_closing);
            return;
        }
        if is_hidden(name) && !tag.self_closing {
            self.hidden = Some((name.to_vec(), 1));
            return;
        }
        self.widen(gap_around(name));
        match name {
            b"title" | b"h1" => self.mark("# "),
            b"h2" => self.mark("## "),
            b"h3" => self.mark("### "),
            b"h4" | b"h5" | b"h6" => self.mark("#### "),
            b"li" => self.mark(&format!("{}- ", "  ".repeat(self.lists.saturating_sub(1).min(8)))),
            b"td" | b"th" if self.gap < Gap::Line => self.mark("| "),
            b"ul" | b"ol" => self.lists = self.lists.saturating_add(1),
            b"pre" | b"textarea" => self.preformatted = self.preformatted.saturating_add(1),
            b"a" => self.link = attribute(tag, b"href").and_then(|href| self.target(&href)),
            b"img" => {
                if let Some(text) = attribute(tag, b"alt").filter(|text| !text.trim().is_empty()) {
                    self.text(&format!("[image: {}]", text.trim()));
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden == name {
                *depth = depth.saturating_sub(1);
            }
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        match name {
            b"ul" | b"ol" => self.lists = self.lists.saturating_sub(1),
            b"pre" | b"textarea" => self.preformatted = self.preformatted.saturating_sub(1),
            b"a" => {
                if let Some(target) = self.link.take() {
                    self.text(&format!(" <{target}>"));
                }
            }
            _ => {}
        }
        let gap = gap_around(name);
        if gap != Gap::None {
            // A block without text leaves no mark behind.
            self.mark.clear();
        }
        self.widen(gap);
    }

    /// Adds text; white space counts as one space outside of preformatted text.
    fn text(&mut self, text: &str) {
        if self.hidden.is_some() || text.is_empty() {
            return;
        }
        if self.preformatted > 0 {
            self.separate();
            self.out.push_str(text);
            return;
        }
        if text.starts_with(char::is_whitespace) {
            self.widen(Gap::Space);
        }
        for word in text.split_whitespace() {
            self.separate();
            self.out.push_str(word);
            self.gap = Gap::Space;
        }
        if !text.ends_with(char::is_whitespace) {
            // Further text belongs to the last word.
            self.gap = Gap::None;
        }
    }

    /// Writes what stands between the last text and the next.
    fn separate(&mut self) {
        if !self.out.is_empty() {
            self.out.push_str(match self.gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::None;
        self.out.push_str(&self.mark);
        self.mark.clear();
    }

    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn mark(&mut self, mark: &str) {
        mark.clone_into(&mut self.mark);
    }

    /// Where a link leads, if that is another page.
    fn target(&self, href: &str) -> Option<Url> {
        if href.is_empty() || href.starts_with('#') || href.len() > MOST_LINK_BYTES {
            return None;
        }
        let target = self.base.join(href).ok()?;
        let is_page = matches!(target.scheme(), "http" | "https");
        (is_page && target.as_str().len() <= MOST_LINK_BYTES).then_some(target)
    }
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    let (_, value) = tag.attributes.iter().find(|(key, _)| key.as_slice() == name)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Elements whose text is not for readers.
fn is_hidden(name: &[u8]) -> bool {
    matches!(
        name,
        b"script" | b"style" | b"template" | b"iframe" | b"noembed" | b"noframes" | b"svg" | b"object"
    )
}

/// What an element puts around itself.
fn gap_around(name: &[u8]) -> Gap {
    match name {
        b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"title" | b"ul" | b"ol" | b"dl" | b"pre"
        | b"table" | b"blockquote" | b"section" | b"article" | b"header" | b"footer" | b"main" | b"nav"
        | b"aside" | b"hr" | b"figure" | b"form" | b"fieldset" | b"details" => Gap::Paragraph,
        b"div" | b"li" | b"tr" | b"br" | b"dt" | b"dd" | b"address" | b"figcaption" | b"summary"
        | b"caption" | b"option" | b"legend" | b"body" | b"textarea" => Gap::Line,
        b"td" | b"th" => Gap::Space,
        _ => Gap::None,
    }
}

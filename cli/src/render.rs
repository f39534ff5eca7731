//! The only code that prints. Text from outside passes through [`line`] or [`block`] first, which make what is
//! invisible visible: no result, name or error can steer a terminal.

mod guest_logs;
mod lines;
mod live;
mod tree;

use std::fmt::Write as _;
use std::io::Write as _;

use deputy::history::is_invisible;
use serde_json::Value;

pub(crate) use live::{Live, LiveOptions};

/// One line of text from outside.
pub(crate) fn line(text: &str) -> String {
    escaped(text, false)
}

/// Several lines of text from outside.
pub(crate) fn block(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' if lines => out.push('\n'),
            '\t' => out.push(if lines { '\t' } else { ' ' }),
            '\r' if lines && chars.peek() == Some(&'\n') => {}
            '\n' => out.push_str("\\n"),
            c if is_invisible(c) => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

/// Names in a row, or a word for none.
pub(crate) fn or_nothing<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| line(name.as_ref())).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Text of our own on standard output. A reader that went away is no error.
pub(crate) fn out(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// The answer of a run.
pub(crate) fn answer(text: &str) {
    let text = block(text);
    out(&if text.ends_with('\n') { text } else { format!("{text}\n") });
}

/// An object, for people and machines.
pub(crate) fn json(value: &Value) {
    out(&format!("{value:#}\n"));
}

/// An object in one line.
pub(crate) fn json_line(value: &Value) {
    out(&format!("{value}\n"));
}

/// Text of our own on standard error.
pub(crate) fn note(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// What went wrong.
pub(crate) fn error(text: &str) {
    let red = anstyle::Style::new().fg_color(Some(anstyle::AnsiColor::Red.into())).bold();
    note(&format!("{red}error{red:#}: {}\n", block(text)));
}

/// What a person should know.
pub(crate) fn warning(text: &str) {
    let yellow = anstyle::Style::new().fg_color(Some(anstyle::AnsiColor::Yellow.into()));
    note(&format!("{yellow}warning{yellow:#}: {}\n", block(text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_inert() {
        assert_eq!(line("a\u{1b}[2J\nb\u{202e}\tc"), "a\\u{1b}[2J\\nb\\u{202e} c");
        assert_eq!(block("a\r\nb\rc\u{7}\u{9b}31m"), "a\nb\\u{d}c\\u{7}\\u{9b}31m");
        assert_eq!(block("é 水 🌊"), "é 水 🌊");
        assert_eq!(block("👩\u{fe0f} a\u{2028}b\u{61c}c\u{ad}"), "👩\u{fe0f} a\\u{2028}b\\u{61c}c\\u{ad}");
    }

    #[test]
    fn a_row_of_names_is_never_empty() {
        assert_eq!(or_nothing(["a", "b\n"]), "a, b\\n");
        assert_eq!(or_nothing(Vec::<String>::new()), "nothing");
    }
}

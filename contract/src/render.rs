//! How the result of each built-in tool reads to a model: plain functions over plain values, called by
//! the host for a parent agent and by the guest SDK for a subagent. Must not know a tool or read a file.

use std::fmt::Write as _;

/// `read_file`: the text as it is; where it is not the whole file, a last line says which lines these are.
#[must_use]
pub fn page(text: &str, first_line: u32, total_lines: u32, cut: bool) -> String {
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if lines == 0 {
        return if first_line > 1 {
            format!("[no line from {first_line} on; the file has {total_lines} lines]")
        } else {
            text.to_owned()
        };
    }
    let last_line = first_line.saturating_add(lines - 1);
    if first_line <= 1 && last_line >= total_lines && !cut {
        return text.to_owned();
    }
    let mut out = text.to_owned();
    let rest = match (last_line < total_lines, cut) {
        (true, _) => format!("; read on with first_line={}", last_line.saturating_add(1)),
        (false, true) => "; the last line is cut".to_owned(),
        (false, false) => String::new(),
    };
    mark(&mut out, &format!("lines {first_line}-{last_line} of {total_lines}{rest}"));
    out
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file of so many bytes.
    File(u64),
    /// A directory; shown with a `/` at its end.
    Directory,
    /// A symbolic link.
    Symlink,
    /// Anything else: a socket, a device.
    Other,
}

/// `list_files`: one entry a line.
pub fn listing<'a>(entries: impl IntoIterator<Item = (&'a str, EntryKind)>, cut: bool) -> String {
    let mut out = String::new();
    for (path, kind) in entries {
        line(
            &mut out,
            &match kind {
                EntryKind::File(bytes) => format!("{path} ({bytes} bytes)"),
                EntryKind::Directory => format!("{path}/"),
                EntryKind::Symlink => format!("{path} (symlink)"),
                EntryKind::Other => format!("{path} (neither file nor directory)"),
            },
        );
    }
    if out.is_empty() {
        out.push_str("the directory is empty");
    }
    marks(&mut out, cut.then_some("cut here: the directory holds more"), "");
    out
}

/// `find_files`: one path a line.
pub fn paths<'a>(paths: impl IntoIterator<Item = &'a str>, cut: bool, note: &str) -> String {
    let mut out = String::new();
    for path in paths {
        line(&mut out, path);
    }
    if out.is_empty() {
        out.push_str("no file matches");
    }
    marks(&mut out, cut.then_some("cut here: more files match; narrow `glob` or `under`"), note);
    out
}

/// `grep_files`: `path:line:text`, one hit a line.
pub fn hits<'a>(hits: impl IntoIterator<Item = (&'a str, u32, &'a str)>, cut: bool, note: &str) -> String {
    let mut out = String::new();
    for (path, number, text) in hits {
        line(&mut out, &format!("{path}:{number}:{text}"));
    }
    if out.is_empty() {
        out.push_str("no line matches");
    }
    marks(&mut out, cut.then_some("cut here: more lines match; narrow `pattern`, `under` or `glob`"), note);
    out
}

/// `write_file`: what is now in the file.
#[must_use]
pub fn written(path: &str, bytes: u64, created: bool, note: &str) -> String {
    let how = if created { "made" } else { "replaced" };
    let mut out = format!("{how} `{path}`: {bytes} bytes");
    marks(&mut out, None, note);
    out
}

/// `edit_file`: how many places were changed.
#[must_use]
pub fn edited(path: &str, places: u32) -> String {
    let noun = if places == 1 { "place" } else { "places" };
    format!("changed {places} {noun} in `{path}`")
}

/// `run_command` and `run_program`: how it ended, then what it said.
#[must_use]
pub fn finished(exit_code: Option<i32>, output: &str, cut: bool, note: &str) -> String {
    let mut out = match exit_code {
        Some(code) => format!("exit code: {code}"),
        None => "ended by a signal".to_owned(),
    };
    if !output.is_empty() {
        line(&mut out, output);
    }
    marks(&mut out, cut.then_some("the output was cut: its head and tail are shown"), note);
    out
}

/// `fetch_url`: where the text came from, then the text.
#[must_use]
pub fn document(url: &str, status: u16, content_type: &str, text: &str, cut: bool) -> String {
    let mut out = String::new();
    let _ = write!(out, "url: {url}\nstatus: {status}\ncontent type: {content_type}\n\n{text}");
    marks(&mut out, cut.then_some("cut here: the page is longer"), "");
    out
}

/// Adds the marker for a cut and the note, each on a line of its own in square brackets.
fn marks(out: &mut String, cut: Option<&str>, note: &str) {
    for text in cut.into_iter().chain((!note.is_empty()).then_some(note)) {
        mark(out, text);
    }
}

fn mark(out: &mut String, text: &str) {
    line(out, &format!("[{text}]"));
}

/// Adds `text` on a line of its own, without a newline at the end.
fn line(out: &mut String, text: &str) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(text);
}

#[cfg(test)]
mod tests;

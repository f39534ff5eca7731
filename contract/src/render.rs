//! How the result of each built-in tool reads to a model: plain functions over plain values, called by
//! the host for a parent agent and by the guest SDK for a subagent. Must not know a tool or read a file.

/// `read_file`: the text as it is; then, in lines of their own, what sets it apart from the file and, where it
/// is not the whole file, which lines these are.
#[must_use]
pub fn page(text: &str, first_line: u32, last_line: u32, total_lines: u32, note: &str) -> String {
    let mut out = if total_lines == 0 { "[the file is empty]".to_owned() } else { text.to_owned() };
    if !note.is_empty() {
        mark(&mut out, note);
    }
    if total_lines > 0 && (first_line > 1 || last_line < total_lines) {
        let read_on = if last_line < total_lines {
            format!("; read on with first_line={}", last_line.saturating_add(1))
        } else {
            String::new()
        };
        mark(&mut out, &format!("lines {first_line}-{last_line} of {total_lines}{read_on}"));
    }
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
    let lines = entries.into_iter().map(|(path, kind)| match kind {
        EntryKind::File(bytes) => format!("{path} ({bytes} bytes)"),
        EntryKind::Directory => format!("{path}/"),
        EntryKind::Symlink => format!("{path} (symlink)"),
        EntryKind::Other => format!("{path} (neither file nor directory)"),
    });
    let narrow = "sorted by name; find_files with `under` and a narrow glob finds others";
    rows(lines, "the directory is empty", ("entries", narrow), cut, "")
}

/// `find_files`: one path a line.
pub fn paths<'a>(paths: impl IntoIterator<Item = &'a str>, cut: bool, note: &str) -> String {
    let none = "no file matches; hidden and ignored files are left out";
    let lines = paths.into_iter().map(str::to_owned);
    rows(lines, none, ("paths", "narrow it down with `under` or the glob"), cut, note)
}

/// `grep_files`: `path:line:text`, one hit a line.
pub fn hits<'a>(hits: impl IntoIterator<Item = (&'a str, u32, &'a str)>, cut: bool, note: &str) -> String {
    let none = "no line matches; hidden, ignored and binary files are left out";
    let lines = hits.into_iter().map(|(path, number, text)| format!("{path}:{number}:{text}"));
    rows(lines, none, ("lines", "narrow it down with `under`, `glob` or the pattern"), cut, note)
}

/// `write_file`: what is now in the file.
#[must_use]
pub fn written(bytes: u64, created: bool, note: &str) -> String {
    let done = if created { "made the file" } else { "replaced the content of the file" };
    let note = if note.is_empty() { String::new() } else { format!("; {note}") };
    format!("{done}, {bytes} bytes{note}")
}

/// `edit_file`: how many places were changed.
#[must_use]
pub fn edited(places: u32) -> String {
    if places == 1 { "changed 1 place".to_owned() } else { format!("changed {places} places") }
}

/// `run_command` and `run_program`: how it ended, then what it said. Where the output was cut it says so itself.
#[must_use]
pub fn finished(exit_code: Option<i32>, output: &str, note: &str) -> String {
    let mut out = match exit_code {
        Some(code) => format!("exit code: {code}"),
        None => "exit code: none".to_owned(),
    };
    line(&mut out, if output.is_empty() { "(no output)" } else { output });
    if !note.is_empty() {
        mark(&mut out, note);
    }
    out
}

/// What follows the text of a page that was cut.
pub const CUT_PAGE: &str = "\n\n[cut: the page is longer than what fits here]";

/// What stands before the text of a page.
#[must_use]
pub fn page_head(url: &str, status: u16, content_type: &str) -> String {
    let shown = if content_type.is_empty() { "no content type" } else { content_type };
    format!("{url} ({status}, {shown})\n\n")
}

/// `fetch_url`: where the text came from, then the text.
#[must_use]
pub fn document(url: &str, status: u16, content_type: &str, text: &str, cut: bool) -> String {
    let end = if cut { CUT_PAGE } else { "" };
    format!("{}{text}{end}", page_head(url, status, content_type))
}

/// A list, one row a line; `none` where it is empty. Where it was cut, what the rows are and how to get others.
fn rows(
    lines: impl Iterator<Item = String>,
    none: &str,
    (what, others): (&str, &str),
    cut: bool,
    note: &str,
) -> String {
    let mut out = String::new();
    let mut count = 0usize;
    for text in lines {
        line(&mut out, &text);
        count += 1;
    }
    if count == 0 {
        mark(&mut out, none);
    }
    let cut = cut.then(|| format!("cut after {count} {what}; {others}"));
    marks(&mut out, cut.as_deref(), note);
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

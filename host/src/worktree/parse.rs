//! Reads what git printed: lists of paths, the summary of a diff, why a patch does not fit. Pure. Must not call git.

use std::collections::HashMap;

use super::diff::{ChangeKind, ChangedFile};

/// The parts of a list that ends each with a NUL.
pub(super) fn parts(stdout: &[u8]) -> impl Iterator<Item = &[u8]> {
    stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// The files of `diff-index --raw --numstat -z`: first one record a file, then its counts.
pub(super) fn summary(stdout: &[u8]) -> Vec<ChangedFile> {
    let mut fields = stdout.split(|byte| *byte == 0).map(lossy).peekable();
    let mut files = Vec::new();
    while let Some(record) = fields.next_if(|field| field.starts_with(':')) {
        let letter = record.rsplit(' ').next().and_then(|status| status.chars().next());
        let Some(path) = fields.next() else { break };
        let (path, kind) = match letter {
            Some('A') => (path, ChangeKind::Added),
            Some('D') => (path, ChangeKind::Deleted),
            Some('T') => (path, ChangeKind::TypeChanged),
            Some('R') => match fields.next() {
                Some(to) => (to, ChangeKind::Renamed { from: path }),
                None => break,
            },
            _ => (path, ChangeKind::Modified),
        };
        files.push(ChangedFile::named(path, kind));
    }
    let mut counts = HashMap::new();
    while let Some(field) = fields.next() {
        let mut columns = field.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        // A rename has its two names in fields of their own.
        let path = if path.is_empty() { fields.by_ref().take(2).last() } else { Some(path.to_owned()) };
        counts.insert(path.unwrap_or_default(), (added.parse().ok(), removed.parse().ok()));
    }
    for file in &mut files {
        if let Some((added, removed)) = counts.get(&file.path) {
            file.binary = added.is_none();
            file.added = added.unwrap_or(0);
            file.removed = removed.unwrap_or(0);
        }
    }
    files
}

/// The files that `git apply` complained of.
pub(super) fn in_the_way(stderr: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in stderr.lines().filter_map(|line| line.strip_prefix("error: ")) {
        let file = match line.strip_prefix("patch failed: ") {
            Some(place) => place.rsplit_once(':').map(|(file, _)| file),
            None => line.rsplit_once(": ").map(|(file, _)| file).or_else(|| line.split('\'').nth(1)),
        };
        if let Some(file) = file.filter(|file| !files.iter().any(|known| known == file)) {
            files.push(file.to_owned());
        }
    }
    files
}

/// `bytes` as text, ended at the last whole line where it was `cut`.
pub(super) fn text(bytes: &[u8], cut: bool) -> String {
    let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if cut => bytes.get(..=end).unwrap_or(bytes),
        None if cut => &[],
        _ => bytes,
    };
    lossy(whole)
}

/// `bytes` as text, what is no UTF-8 replaced.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

//! What a walk did not look into, collected while it goes and told in words at the end.
//! Must not decide what is left out.

use std::io;
use std::path::{Path, PathBuf};

use super::super::path::{openable, shown};

/// Paths of one kind that are named; the others are counted.
const NAMED: usize = 5;

/// What a walk left out.
#[derive(Debug, Default)]
pub(in crate::tools) struct Notes {
    empty: Option<PathBuf>,
    outside: Left,
    seen_before: Left,
    too_deep: Left,
    unreadable: Left,
    partly_read: Left,
    extra: Vec<String>,
}

#[derive(Debug, Default)]
struct Left {
    named: Vec<String>,
    more: usize,
}

impl Left {
    fn add(&mut self, path: &Path) {
        if self.named.len() < NAMED {
            self.named.push(format!("`{}`", shown(openable(path))));
        } else {
            self.more += 1;
        }
    }

    fn say(&self, what: &str, said: &mut Vec<String>) {
        if self.named.is_empty() {
            return;
        }
        let more = if self.more > 0 { format!(" and {} more", self.more) } else { String::new() };
        said.push(format!("{what}: {}{more}", self.named.join(", ")));
    }
}

impl Notes {
    /// The directory to walk has nothing in it.
    pub(super) fn empty(&mut self, path: &Path) {
        self.empty = Some(path.to_owned());
    }

    /// A link could not be followed: named where it leads out, passed over where it leads nowhere.
    pub(super) fn dead_link(&mut self, path: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.outside.add(path);
        }
    }

    /// A linked directory was entered through another link already.
    pub(super) fn seen_before(&mut self, path: &Path) {
        self.seen_before.add(path);
    }

    /// A directory lies deeper than the walk goes.
    pub(super) fn too_deep(&mut self, path: &Path) {
        self.too_deep.add(path);
    }

    /// A file or directory could not be read.
    pub(in crate::tools) fn unreadable(&mut self, path: &Path) {
        self.unreadable.add(path);
    }

    /// Only the start of a file was read.
    pub(in crate::tools) fn partly_read(&mut self, path: &Path) {
        self.partly_read.add(path);
    }

    /// Something else worth knowing.
    pub(in crate::tools) fn say(&mut self, text: String) {
        self.extra.push(text);
    }

    /// All of it in words; empty where nothing was left out.
    pub(in crate::tools) fn into_text(self) -> String {
        let mut said = Vec::new();
        match &self.empty {
            Some(path) if path.as_os_str().is_empty() => said.push("the workspace is empty".to_owned()),
            Some(path) => said.push(format!("the directory `{}` is empty", shown(path))),
            None => {}
        }
        self.outside.say("links that lead out of the workspace or in a circle were not followed", &mut said);
        self.seen_before.say("linked directories that were searched under another link already", &mut said);
        self.too_deep.say("directories too deep to be searched (name them with `under`)", &mut said);
        self.unreadable.say("could not be read", &mut said);
        self.partly_read.say("too big, only the start was searched", &mut said);
        said.extend(self.extra);
        said.join("; ")
    }
}

//! What a person is told of agent files on standard error: little where all is well. Must not repeat what a listing shows.

use super::Declarations;
use crate::render;

/// Most lines of one kind.
const MOST: usize = 8;

/// Tells what concerns several files; with `all` also what was refused or does not count, and that there is more.
pub(crate) fn tell(declarations: &Declarations, all: bool) {
    several(declarations.notes.iter().map(|note| note.message.clone()));
    if !all {
        return;
    }
    several(
        declarations
            .entries
            .iter()
            .filter_map(|entry| entry.agent.as_ref().err().cloned())
            .map(|error| format!("an agent file is refused: {error}")),
    );
    let untrusted = declarations.entries.iter().flat_map(|entry| {
        entry.untrusted.iter().map(move |what| format!("{}: {what}", entry.source.display()))
    });
    several(untrusted);
}

fn several(messages: impl Iterator<Item = String>) {
    let messages: Vec<String> = messages.collect();
    for message in messages.iter().take(MOST) {
        render::warning(message);
    }
    if let Some(more @ 1..) = messages.len().checked_sub(MOST) {
        render::warning(&format!("and {more} more like that: `deputy agents` lists them"));
    }
}

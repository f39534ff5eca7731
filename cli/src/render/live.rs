//! Shows a run while it works: a tree where there is a terminal, plain lines where there is none, JSON lines
//! where a machine reads. Must not hold up the run.

use std::io::IsTerminal as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use deputy::event::{Event, EventListener};

use super::tree::Tree;
use super::{json_line, lines, note};

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveOptions {
    /// Nothing for people.
    pub(crate) quiet: bool,
    /// Each event on standard output, as a line of JSON.
    pub(crate) events: bool,
    /// What guests write, too.
    pub(crate) trace_guest: bool,
}

/// Hears the events of a run and shows them.
#[derive(Debug)]
pub(crate) struct Live {
    options: LiveOptions,
    tree: bool,
}

/// The tree that is on the screen, so that whoever ends the process can take it down.
static TREE: OnceLock<Mutex<Tree>> = OnceLock::new();

impl Live {
    pub(crate) fn new(options: LiveOptions) -> Self {
        let tree = !options.quiet && std::io::stderr().is_terminal();
        if tree {
            TREE.get_or_init(Mutex::default);
        }
        Self { options, tree }
    }
}

impl EventListener for Live {
    fn on_event(&self, event: &Event) {
        if self.options.events
            && let Ok(value) = serde_json::to_value(event)
        {
            json_line(&value);
        }
        if self.options.quiet {
            return;
        }
        if self.tree
            && let Some(tree) = TREE.get()
        {
            tree.lock().unwrap_or_else(PoisonError::into_inner).on_event(event, self.options.trace_guest);
        } else if let Some(line) = lines::plain(event, self.options.trace_guest) {
            note(&format!("{line}\n"));
        }
    }
}

/// Takes the tree down and leaves the terminal as it was.
pub(crate) fn finish_live() {
    if let Some(tree) = TREE.get() {
        tree.lock().unwrap_or_else(PoisonError::into_inner).finish();
    }
}

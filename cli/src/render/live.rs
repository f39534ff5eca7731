//! Shows a run while it works: a tree where there is a terminal, plain lines where there is none, JSON lines
//! where a machine reads. Must not hold up the run.

use std::fmt;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deputy::event::{Event, EventListener};

use super::guest_logs::GuestLogs;
use super::lines::Lines;
use super::tree::Tree;
use super::{json_line, note};

/// What is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveOptions {
    /// Nothing for people.
    pub(crate) quiet: bool,
    /// Each event on standard output, as a line of JSON.
    pub(crate) events: bool,
    /// What guests write, as it comes; else only what those wrote whose runs failed.
    pub(crate) trace_guest: bool,
}

/// Hears the events of a run and shows them. Clones show at the same place.
#[derive(Clone)]
pub(crate) struct Live {
    events: bool,
    shown: Arc<Mutex<Shown>>,
}

/// What people see.
struct Shown {
    view: View,
    logs: GuestLogs,
}

enum View {
    /// Nothing.
    Quiet,
    /// A line for each thing that happened.
    Lines(Lines),
    /// A line for each run, kept up to date.
    Tree(Tree),
}

impl Live {
    pub(crate) fn new(options: LiveOptions) -> Self {
        let view = match (options.quiet, std::io::stderr().is_terminal()) {
            (true, _) => View::Quiet,
            (false, false) => View::Lines(Lines::default()),
            (false, true) => View::Tree(Tree::default()),
        };
        let shown = Shown { view, logs: GuestLogs::new(options.trace_guest) };
        Self { events: options.events, shown: Arc::new(Mutex::new(shown)) }
    }

    /// Takes the tree down and leaves the terminal as it was.
    pub(crate) fn finish(&self) {
        self.shown().finish();
    }

    /// The same, unless somebody is drawing just now: for an end that must wait for nobody.
    pub(crate) fn finish_if_idle(&self) {
        if let Ok(mut shown) = self.shown.try_lock() {
            shown.finish();
        }
    }

    /// Keeps the tree off the terminal until what is returned is dropped: somebody types there.
    pub(crate) fn pause(&self) -> Paused<'_> {
        if let View::Tree(tree) = &mut self.shown().view {
            tree.pause();
        }
        Paused { live: self }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("events", &self.events).finish_non_exhaustive()
    }
}

impl EventListener for Live {
    fn on_event(&self, event: &Event) {
        if self.events
            && let Ok(value) = serde_json::to_value(event)
        {
            json_line(&value);
        }
        self.shown().show(event);
    }
}

impl Shown {
    fn show(&mut self, event: &Event) {
        let log = self.logs.hear(event);
        match &mut self.view {
            View::Quiet => {}
            View::Lines(lines) => {
                for text in log.into_iter().chain(lines.hear(event)) {
                    note(&format!("{text}\n"));
                }
            }
            View::Tree(tree) => {
                tree.hear(event);
                if let Some(text) = log {
                    tree.say(text);
                }
            }
        }
    }

    fn finish(&mut self) {
        if let View::Tree(tree) = &mut self.view {
            tree.finish();
        }
    }
}

/// The terminal is somebody's to type at.
#[derive(Debug)]
pub(crate) struct Paused<'a> {
    live: &'a Live,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        if let View::Tree(tree) = &mut self.live.shown().view {
            tree.resume();
        }
    }
}

//! What one run has used so far, and which limit it met. Counters only grow. Must not stop anything.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::event::HandoffEnd;
use crate::governance::Spent;
use crate::ids::ToolName;
use crate::usage::Usage;

/// A limit that a run met: the host's own record, whatever the run says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its model turns.
    Turns(u32),
    /// The budget of the whole tree.
    Purse(Spent),
}

/// What a run has used. Counters only grow.
#[derive(Debug)]
pub struct Tally {
    began: Instant,
    turns: AtomicU32,
    tool_calls: AtomicU64,
    denials: AtomicU64,
    own: Mutex<Usage>,
    tree: Mutex<Usage>,
    handoffs: Mutex<Vec<HandoffEnd>>,
    limit: Mutex<Option<Limit>>,
    side_effect: Mutex<Option<ToolName>>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            turns: AtomicU32::new(0),
            tool_calls: AtomicU64::new(0),
            denials: AtomicU64::new(0),
            own: Mutex::default(),
            tree: Mutex::default(),
            handoffs: Mutex::default(),
            limit: Mutex::default(),
            side_effect: Mutex::default(),
        }
    }
}

impl Tally {
    /// Begins one more model turn. Returns its number, 1-based.
    pub fn begin_turn(&self) -> u32 {
        self.turns.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Model turns begun.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Counts a tool call.
    pub fn add_tool_call(&self) {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Tool calls made, refused ones among them.
    #[must_use]
    pub fn tool_calls(&self) -> u64 {
        self.tool_calls.load(Ordering::Relaxed)
    }

    /// Counts a refused call.
    pub fn add_denial(&self) {
        self.denials.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls refused by governance.
    #[must_use]
    pub fn denials(&self) -> u64 {
        self.denials.load(Ordering::Relaxed)
    }

    /// Counts tokens of the run's own model turns.
    pub fn add_own_usage(&self, usage: Usage) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) += usage;
        self.add_subtree_usage(usage);
    }

    /// Counts tokens that a run below this one used.
    pub fn add_subtree_usage(&self, usage: Usage) {
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner) += usage;
    }

    /// Tokens of the run's own model turns.
    #[must_use]
    pub fn own_usage(&self) -> Usage {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tokens of the run and of everything below it.
    #[must_use]
    pub fn tree_usage(&self) -> Usage {
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the record of a delegation that ended.
    pub fn add_handoff(&self, end: HandoffEnd) {
        self.handoffs.lock().unwrap_or_else(PoisonError::into_inner).push(end);
    }

    /// The run's delegations that ended, in the order of their ends.
    #[must_use]
    pub fn handoffs(&self) -> Vec<HandoffEnd> {
        self.handoffs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers a limit that the run met.
    pub fn met(&self, limit: Limit) {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
    }

    /// The limit that the run met last, if it met one.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that the run was given leave for something that must not happen twice unasked.
    pub fn note_side_effect(&self, tool: &ToolName) {
        self.side_effect.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| tool.clone());
    }

    /// The first tool by which the run did such a thing.
    #[must_use]
    pub fn side_effect(&self) -> Option<ToolName> {
        self.side_effect.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Milliseconds since the run began.
    #[must_use]
    pub fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

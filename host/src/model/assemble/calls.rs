//! Tool calls from fragments that servers number, name and repeat in many ways. When in doubt two calls
//! stay two: a call too many is refused by name, a joined one might run.

use super::Budget;
use super::turn::DraftCall;
use crate::model::ModelError;

/// What a call costs of a turn's bytes, beside its text: bounds the number of calls.
const CALL_BYTES: usize = 1024;

/// One entry of a delta's `tool_calls`; what was absent, null or an empty id is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment {
    pub index: Option<u64>,
    pub id: Option<String>,
    pub name: Option<String>,
    pub arguments: Option<String>,
}

/// The calls of a turn so far.
#[derive(Debug, Default)]
pub(super) struct CallFragments {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    call: DraftCall,
    scan: ObjectScan,
    /// The delta that last added to it.
    delta: u64,
}

impl CallFragments {
    /// Adds a fragment that came in the delta numbered `delta`.
    pub(super) fn take(
        &mut self,
        fragment: Fragment,
        delta: u64,
        budget: &mut Budget,
    ) -> Result<(), ModelError> {
        let added = [&fragment.id, &fragment.name, &fragment.arguments];
        budget.spend(added.into_iter().flatten().map(String::len).sum())?;
        let at = match self.candidate(&fragment) {
            Some(at) if self.slots.get(at).is_some_and(|slot| slot.continues(&fragment, delta)) => at,
            _ => {
                budget.spend(CALL_BYTES)?;
                self.slots.push(Slot::new(fragment.index));
                self.slots.len() - 1
            }
        };
        if let Some(slot) = self.slots.get_mut(at) {
            slot.add(fragment, delta);
        }
        Ok(())
    }

    /// True where nothing of a call came.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The calls, in the order in which they began.
    pub(super) fn into_calls(self) -> impl Iterator<Item = DraftCall> {
        self.slots.into_iter().map(|slot| slot.call)
    }

    /// The call that a fragment would belong to.
    fn candidate(&self, fragment: &Fragment) -> Option<usize> {
        let last = |fits: &dyn Fn(&Slot) -> bool| self.slots.iter().rposition(fits);
        let same_id = |slot: &Slot| fragment.id.is_some() && slot.call.id == fragment.id;
        let Some(index) = fragment.index else {
            return match fragment.id {
                Some(_) => last(&same_id),
                None => self.slots.len().checked_sub(1),
            };
        };
        last(&|slot| slot.index == Some(index) && same_id(slot))
            .or_else(|| last(&|slot| slot.index == Some(index)))
            .or_else(|| {
                // Calls that began without an index and go on with one are numbered in their order.
                let at = usize::try_from(index).ok()?;
                let unnumbered = self.slots.get(at)?.index.is_none() && fragment.name.is_none();
                unnumbered.then_some(at)
            })
    }
}

impl Slot {
    fn new(index: Option<u64>) -> Self {
        let call = DraftCall { id: None, name: String::new(), arguments: String::new() };
        Self { index, call, scan: ObjectScan::default(), delta: 0 }
    }

    /// Whether a fragment that points at this call goes on with it; otherwise it begins another one.
    fn continues(&self, fragment: &Fragment, delta: u64) -> bool {
        if fragment.id.is_some() && self.call.id.is_some() && fragment.id != self.call.id {
            return false;
        }
        let Some(name) = fragment.name.as_deref() else { return true };
        let brings_arguments = fragment.arguments.as_deref().is_some_and(|text| !text.trim().is_empty());
        if self.delta == delta || (self.scan.closed && brings_arguments) {
            return false;
        }
        if self.call.name.is_empty() {
            return true;
        }
        if name != self.call.name {
            // A name in pieces: at one index, before any arguments.
            return fragment.index.is_some()
                && fragment.arguments.is_none()
                && self.call.arguments.is_empty();
        }
        let tells_itself_apart = fragment.index.is_some() || fragment.id.is_some();
        tells_itself_apart || (!self.call.arguments.trim().is_empty() && !self.scan.closed)
    }

    fn add(&mut self, fragment: Fragment, delta: u64) {
        self.delta = delta;
        self.index = self.index.or(fragment.index);
        self.call.id = self.call.id.take().or(fragment.id);
        // A name that is sent again with each fragment is no further piece of it.
        if let Some(name) = fragment.name.filter(|name| *name != self.call.name) {
            self.call.name.push_str(&name);
        }
        if let Some(arguments) = fragment.arguments {
            self.scan.read(&arguments);
            self.call.arguments.push_str(&arguments);
        }
    }
}

/// Follows brackets and strings, to see where the first object or list of a text ends.
#[derive(Clone, Copy, Debug, Default)]
struct ObjectScan {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl ObjectScan {
    fn read(&mut self, text: &str) {
        for byte in text.bytes() {
            match (self.in_string, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{' | b'[') => self.depth = self.depth.saturating_add(1),
                (false, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

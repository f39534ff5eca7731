//! The newest output of a command that goes on, within bounded memory, until somebody takes it. Must not know where
//! it comes from.

use std::collections::VecDeque;

/// Text that is taken from the front; where there is too much of it the front is forgotten, and counted.
#[derive(Debug)]
pub(super) struct Ring {
    text: VecDeque<u8>,
    limit: usize,
    left_out: u64,
}

/// What was taken.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tools) struct Taken {
    /// Bytes of text before it that were forgotten.
    pub(in crate::tools) left_out: u64,
    pub(in crate::tools) text: String,
    /// Bytes of text that wait to be taken next.
    pub(in crate::tools) waiting: usize,
}

impl Ring {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { text: VecDeque::new(), limit, left_out: 0 }
    }

    /// Takes in what came next.
    pub(super) fn push(&mut self, text: &str) {
        self.text.extend(text.as_bytes());
        let surplus = self.text.len().saturating_sub(self.limit);
        self.forget(surplus);
    }

    /// Notes that text was lost on the way here, where it would have stood.
    pub(super) fn lost(&mut self, bytes: u64) {
        self.push(&format!("\n[{bytes} bytes of output left out here]\n"));
    }

    /// Takes at most `most` bytes from the front, whole characters only.
    pub(super) fn take(&mut self, most: usize) -> Taken {
        let mut end = most.min(self.text.len());
        while end > 0 && self.text.get(end).copied().is_some_and(is_continuation) {
            end = end.saturating_sub(1);
        }
        let bytes: Vec<u8> = self.text.drain(..end).collect();
        if self.text.is_empty() {
            self.text = VecDeque::new();
        }
        Taken {
            left_out: std::mem::take(&mut self.left_out),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            waiting: self.text.len(),
        }
    }

    fn forget(&mut self, surplus: usize) {
        if surplus == 0 {
            return;
        }
        self.text.drain(..surplus.min(self.text.len()));
        let torn = self.text.iter().take_while(|byte| is_continuation(**byte)).count();
        self.text.drain(..torn);
        self.left_out = self.left_out.saturating_add(surplus as u64).saturating_add(torn as u64);
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(left_out: u64, text: &str, waiting: usize) -> Taken {
        Taken { left_out, text: text.to_owned(), waiting }
    }

    #[test]
    fn what_came_is_taken_once_and_in_parts() {
        let mut ring = Ring::new(100);
        ring.push("hello ");
        ring.push("world");
        assert_eq!(ring.take(7), taken(0, "hello w", 4));
        assert_eq!(ring.take(7), taken(0, "orld", 0));
        assert_eq!(ring.take(7), taken(0, "", 0));
    }

    #[test]
    fn the_oldest_is_forgotten_and_counted() {
        let mut ring = Ring::new(4);
        ring.push("abcdef");
        ring.push("g");
        assert_eq!(ring.take(9), taken(3, "defg", 0));
        assert_eq!(ring.take(9), taken(0, "", 0));
        let mut ring = Ring::new(100);
        ring.push("x");
        ring.lost(10);
        ring.push("y");
        assert_eq!(ring.take(99), taken(0, "x\n[10 bytes of output left out here]\ny", 0));
    }

    #[test]
    fn a_character_is_never_torn() {
        let mut ring = Ring::new(3);
        ring.push("ää");
        assert_eq!(ring.take(9), taken(2, "ä", 0));
        let mut ring = Ring::new(100);
        ring.push("aä€");
        assert_eq!(ring.take(2), taken(0, "a", 5));
        assert_eq!(ring.take(4), taken(0, "ä", 3));
    }
}

//! Keeps the head and the tail of what is written, however much that is. Must not interpret it.

use std::collections::VecDeque;

/// The first and the last bytes of a stream.
#[derive(Debug)]
pub(super) struct HeadTail {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl HeadTail {
    /// Keeps at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { half: most / 2, head: Vec::new(), tail: VecDeque::new(), left_out: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        // Of one large piece only its own tail can stay.
        let skip = rest.len().saturating_sub(self.half);
        self.left_out += skip as u64;
        self.tail.extend(rest.iter().skip(skip));
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.left_out += over as u64;
    }

    /// The text, with a line that says what is left out, and how much that is.
    pub(super) fn finish(self) -> (String, u64) {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.left_out > 0 {
            text.push_str(&format!(
                "\n[... {} bytes left out; write the output to a file of the workspace, or select with head, tail or grep ...]\n",
                self.left_out
            ));
        }
        let tail: Vec<u8> = self.tail.into();
        text.push_str(&String::from_utf8_lossy(&tail));
        (text, self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_stay_whatever_the_pieces() {
        for piece in [1, 3, 7, 1000] {
            let all: Vec<u8> = (0..1000u32).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect();
            let mut kept = HeadTail::new(20);
            all.chunks(piece).for_each(|chunk| kept.push(chunk));
            let (text, left_out) = kept.finish();
            assert_eq!(left_out, 980, "{piece}");
            assert!(text.starts_with("abcdefghij\n[... 980 bytes") && text.ends_with("cdefghijkl"), "{text}");
        }
        let mut kept = HeadTail::new(20);
        kept.push(b"short");
        assert_eq!(kept.finish(), ("short".to_owned(), 0));
    }
}

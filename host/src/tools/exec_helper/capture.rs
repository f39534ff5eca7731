//! Keeps the head and the tail of a stream of text within bounded memory, however much comes.
//! Must not know where the bytes come from.

use std::collections::VecDeque;

use encoding_rs::{Decoder, UTF_8};

/// Text of which the middle is forgotten once there is too much of it. Bytes that are no UTF-8 become
/// U+FFFD.
pub(super) struct Capture {
    decoder: Decoder,
    decoded: String,
    head: String,
    head_limit: usize,
    head_full: bool,
    tail: VecDeque<u8>,
    tail_limit: usize,
    dropped: u64,
}

/// What was kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Captured {
    /// The beginning; everything where nothing was left out.
    pub(super) head: String,
    /// Bytes of text that were not kept.
    pub(super) left_out: u64,
    /// The end; empty where nothing was left out.
    pub(super) tail: String,
}

impl Capture {
    /// Keeps at most `limit` bytes of text, half of them from the beginning.
    pub(super) fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self {
            decoder: UTF_8.new_decoder_without_bom_handling(),
            decoded: String::new(),
            head: String::new(),
            head_limit,
            head_full: false,
            tail: VecDeque::new(),
            tail_limit: limit - head_limit,
            dropped: 0,
        }
    }

    /// Takes what came next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.decode(bytes, false);
    }

    /// What was kept of everything.
    pub(super) fn finish(mut self) -> Captured {
        self.decode(&[], true);
        let mut tail: Vec<u8> = self.tail.into();
        if self.dropped == 0 {
            self.head.push_str(&String::from_utf8_lossy(&tail));
            return Captured { head: self.head, left_out: 0, tail: String::new() };
        }
        // The tail may begin inside a character: its rest goes too.
        let torn = tail.iter().take_while(|byte| is_continuation(**byte)).count();
        tail.drain(..torn);
        let left_out = self.dropped.saturating_add(torn as u64);
        Captured { head: self.head, left_out, tail: String::from_utf8_lossy(&tail).into_owned() }
    }

    fn decode(&mut self, mut bytes: &[u8], last: bool) {
        let mut decoded = std::mem::take(&mut self.decoded);
        loop {
            decoded.clear();
            // Room for the worst case of a step, so that each step gets on.
            decoded.reserve(bytes.len().saturating_mul(3).clamp(64, 64 * 1024));
            let (result, read, _) = self.decoder.decode_to_string(bytes, &mut decoded, last);
            bytes = bytes.get(read..).unwrap_or_default();
            self.keep(&decoded);
            if matches!(result, encoding_rs::CoderResult::InputEmpty) {
                break;
            }
        }
        self.decoded = decoded;
    }

    fn keep(&mut self, mut text: &str) {
        if !self.head_full {
            let room = text.floor_char_boundary(self.head_limit.saturating_sub(self.head.len()));
            let (fits, rest) = text.split_at(room);
            self.head.push_str(fits);
            self.head_full = !rest.is_empty();
            text = rest;
        }
        // Only the last bytes of a large piece can stay.
        let skip = text.len().saturating_sub(self.tail_limit);
        let bytes = text.as_bytes().get(skip..).unwrap_or_default();
        let surplus = self.tail.len().saturating_add(bytes.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(bytes);
        self.dropped = self.dropped.saturating_add(skip as u64).saturating_add(surplus as u64);
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(limit: usize, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
        }
        capture.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let whole = captured(11, &[b"hello", b" ", b"world"]);
        assert_eq!(whole, Captured { head: "hello world".into(), left_out: 0, tail: String::new() });
        assert_eq!(captured(10, &[]).head, "");
    }

    #[test]
    fn of_what_does_not_fit_the_two_ends_are_kept_and_the_rest_is_counted() {
        let cut = captured(8, &[b"abcdef", b"ghijkl", b"mnop"]);
        assert_eq!(cut, Captured { head: "abcd".into(), left_out: 8, tail: "mnop".into() });
    }

    #[test]
    fn a_character_is_never_torn() {
        let cut = captured(6, &["äääääääää".as_bytes()]);
        assert_eq!(cut, Captured { head: "ä".into(), left_out: 14, tail: "ä".into() });
        assert_eq!(captured(64, &[b"\xe2\x82", b"\xac"]).head, "€");
    }

    #[test]
    fn what_is_no_text_is_shown_as_such() {
        assert_eq!(captured(64, &[b"a\xff\xfeb\xe2\x82"]).head, "a\u{fffd}\u{fffd}b\u{fffd}");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_uncounted_and_the_limit_holds(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20),
            limit in 0_usize..400,
        ) {
            let all: Vec<u8> = pieces.concat();
            let text = String::from_utf8_lossy(&all);
            let borrowed: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let kept = captured(limit, &borrowed);
            prop_assert!(kept.head.len() + kept.tail.len() <= limit);
            prop_assert_eq!(kept.head.len() + kept.tail.len() + usize::try_from(kept.left_out).unwrap(), text.len());
            prop_assert!(text.starts_with(&kept.head));
            prop_assert!(text.ends_with(&kept.tail));
        }
    }
}

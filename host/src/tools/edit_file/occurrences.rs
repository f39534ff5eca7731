//! Where a text stands in a file, line ends of either kind taken for the same where that is needed.
//! Must not change anything.

use std::borrow::Cow;
use std::ops::Range;

use super::super::text::LineEnds;

/// Where a text stands, overlapping occurrences included, in order.
#[derive(Debug)]
pub(super) struct Occurrences {
    /// Byte ranges of the file's text.
    pub(super) ranges: Vec<Range<usize>>,
    /// The line ends that the new text takes; none: it stays as it is.
    line_ends: Option<LineEnds>,
}

impl Occurrences {
    /// Finds `old` in `body`: as it is, else with every line end taken for a line feed, which is how
    /// read_file shows them. In a file of CRLF lines only the second makes sense: the first could part a pair.
    pub(super) fn find(body: &[u8], old: &[u8]) -> Self {
        let ends = LineEnds::of(body);
        if ends != LineEnds::CrLf {
            let ranges: Vec<_> = search(body, old).collect();
            if !ranges.is_empty() || (ends != LineEnds::Mixed && !old.contains(&b'\r')) {
                return Self { ranges, line_ends: None };
            }
        }
        let (plain, dropped) = without_returns(body);
        let (old, _) = without_returns(old);
        // A place in the file is one in the plain text and the returns that were dropped before it. The
        // return of a line feed counts as part of it, at the start of a range and at its end.
        let in_body = |at: usize| at + dropped.partition_point(|place| *place < at);
        let ranges: Vec<_> =
            search(&plain, &old).map(|found| in_body(found.start)..in_body(found.end)).collect();
        let line_ends = match ends {
            LineEnds::Mixed => {
                let first = ranges.first().and_then(|range| body.get(range.clone())).unwrap_or_default();
                if LineEnds::of(first) == LineEnds::Lf { LineEnds::Lf } else { LineEnds::CrLf }
            }
            ends => ends,
        };
        Self { ranges, line_ends: Some(line_ends) }
    }

    /// The 1-based lines of the first `most` occurrences.
    pub(super) fn lines(&self, body: &[u8], most: usize) -> Vec<usize> {
        let (mut line, mut at) = (1, 0);
        self.ranges
            .iter()
            .take(most)
            .map(|range| {
                line += body
                    .get(at..range.start)
                    .unwrap_or_default()
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count();
                at = range.start;
                line
            })
            .collect()
    }

    /// The new text with the line ends that the place has.
    pub(super) fn with_line_ends<'a>(&self, new: &'a [u8]) -> Cow<'a, [u8]> {
        match self.line_ends {
            None | Some(LineEnds::None | LineEnds::Mixed) => Cow::Borrowed(new),
            Some(LineEnds::Lf) => Cow::Owned(without_returns(new).0),
            Some(LineEnds::CrLf) => {
                let mut out = Vec::with_capacity(new.len());
                for byte in without_returns(new).0 {
                    if byte == b'\n' {
                        out.push(b'\r');
                    }
                    out.push(byte);
                }
                Cow::Owned(out)
            }
        }
    }
}

/// `bytes` with CRLF as LF, and the places in the result where a carriage return was dropped: those of the
/// line feeds that followed.
fn without_returns(bytes: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut out = Vec::with_capacity(bytes.len());
    let mut dropped = Vec::new();
    let mut rest = bytes.iter().peekable();
    while let Some(byte) = rest.next() {
        if *byte == b'\r' && rest.peek() == Some(&&b'\n') {
            dropped.push(out.len());
        } else {
            out.push(*byte);
        }
    }
    (out, dropped)
}

/// Every place where `needle` stands, overlapping ones included. Takes time by the length of both, whatever
/// they hold (Knuth, Morris and Pratt): a model chooses both texts.
pub(super) fn search<'a>(hay: &'a [u8], needle: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let fallback = fallback(needle);
    let shorter = move |matched: usize, byte: u8| {
        let mut matched = matched;
        while matched > 0 && needle.get(matched) != Some(&byte) {
            matched = fallback.get(matched - 1).copied().unwrap_or(0);
        }
        if needle.get(matched) == Some(&byte) { matched + 1 } else { 0 }
    };
    let mut matched = 0;
    hay.iter().enumerate().filter_map(move |(at, byte)| {
        matched = shorter(matched, *byte);
        (matched == needle.len() && matched > 0).then(|| at + 1 - needle.len()..at + 1)
    })
}

/// For each head of `needle`: how long the longest shorter head is that it ends in.
fn fallback(needle: &[u8]) -> Vec<usize> {
    let mut table: Vec<usize> = Vec::with_capacity(needle.len());
    for (at, byte) in needle.iter().enumerate() {
        let mut matched = table.last().copied().unwrap_or(0);
        while matched > 0 && needle.get(matched) != Some(byte) {
            matched = table.get(matched - 1).copied().unwrap_or(0);
        }
        table.push(if at > 0 && needle.get(matched) == Some(byte) { matched + 1 } else { 0 });
    }
    table
}

#[cfg(test)]
mod tests;

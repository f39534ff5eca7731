//! Hands the output of a command on to the host as it comes. Must never wait for the host while the command runs: the
//! supervisor has a time limit to keep.

use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

use encoding_rs::{Decoder, UTF_8};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::message;

/// Most bytes of text that are handed on within [`WINDOW`], so that a command that only writes costs the host little.
const WINDOW_BYTES: usize = 1024 * 1024;

/// What [`WINDOW_BYTES`] is counted over.
const WINDOW: Duration = Duration::from_millis(50);

/// Most bytes that wait for a host that does not read.
const PENDING_BYTES: usize = 4 * 1024 * 1024;

/// How much of the end is kept of what comes faster.
const HELD_BYTES: usize = 64 * 1024;

/// Standard output as lines of [`message::Live`]. What is left is written when it is dropped, before the report.
pub(super) struct Live {
    decoder: Decoder,
    decoded: String,
    pending: Vec<u8>,
    /// The end of what came too fast, and how much was left out before it.
    held: String,
    left_out: u64,
    window: Instant,
    window_bytes: usize,
}

impl Live {
    /// Takes standard output over until it is dropped.
    pub(super) fn new() -> io::Result<Self> {
        block(false)?;
        Ok(Self {
            decoder: UTF_8.new_decoder_without_bom_handling(),
            decoded: String::new(),
            pending: Vec::new(),
            held: String::new(),
            left_out: 0,
            window: Instant::now(),
            window_bytes: 0,
        })
    }

    /// Takes what came next.
    pub(super) fn push(&mut self, mut bytes: &[u8], last: bool) {
        let mut text = std::mem::take(&mut self.decoded);
        loop {
            text.clear();
            // Room for the worst case of a step, so that each step gets on.
            text.reserve(bytes.len().saturating_mul(3).clamp(64, 64 * 1024));
            let (result, read, _) = self.decoder.decode_to_string(bytes, &mut text, last);
            bytes = bytes.get(read..).unwrap_or_default();
            self.say(&text);
            if matches!(result, encoding_rs::CoderResult::InputEmpty) {
                break;
            }
        }
        self.decoded = text;
    }

    /// Writes what the host has room for.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.turn_window();
        if self.window_bytes == 0 && self.pending.is_empty() {
            self.release();
        }
        while !self.pending.is_empty() {
            match rustix::io::write(io::stdout(), &self.pending).map_err(io::Error::from) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.turn_window();
        if self.window_bytes.saturating_add(text.len()) > WINDOW_BYTES || self.pending.len() > PENDING_BYTES {
            self.hold(text);
            return;
        }
        self.window_bytes = self.window_bytes.saturating_add(text.len());
        self.release();
        self.line(&message::Live::Output(text.to_owned()));
    }

    fn turn_window(&mut self) {
        if self.window.elapsed() >= WINDOW {
            (self.window, self.window_bytes) = (Instant::now(), 0);
        }
    }

    /// Keeps the end of what comes too fast: the end of an output says most.
    fn hold(&mut self, text: &str) {
        self.held.push_str(text);
        if self.held.len() > HELD_BYTES.saturating_mul(2) {
            let surplus = self.held.ceil_char_boundary(self.held.len().saturating_sub(HELD_BYTES));
            self.held.drain(..surplus);
            self.left_out = self.left_out.saturating_add(surplus as u64);
        }
    }

    /// Hands on what was held, after a word on what was not.
    fn release(&mut self) {
        if self.left_out > 0 {
            let line = message::Live::LeftOut(std::mem::take(&mut self.left_out));
            self.line(&line);
        }
        if !self.held.is_empty() {
            let line = message::Live::Output(std::mem::take(&mut self.held));
            self.line(&line);
        }
    }

    fn line(&mut self, line: &message::Live) {
        if let Ok(text) = serde_json::to_vec(line) {
            self.pending.extend_from_slice(&text);
            self.pending.push(b'\n');
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.push(&[], true);
        self.release();
        // Nothing runs any more that could be held up. A host that is gone wants nothing of it.
        if block(true).is_ok() {
            let _ = io::stdout().write_all(&self.pending);
        }
    }
}

/// Whether a write to standard output waits for room.
fn block(waits: bool) -> io::Result<()> {
    let flags = fcntl_getfl(io::stdout())?;
    let flags = if waits { flags - OFlags::NONBLOCK } else { flags | OFlags::NONBLOCK };
    Ok(fcntl_setfl(io::stdout(), flags)?)
}

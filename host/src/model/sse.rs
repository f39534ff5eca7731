//! Server-sent events from bytes, however the network cuts them. Must not know what the events mean,
//! and never decodes a piece of a line.

use std::mem;

/// Reads a stream of server-sent events, chunk by chunk.
#[derive(Debug)]
pub(super) struct SseParser {
    limit: usize,
    line: Vec<u8>,
    first_line: bool,
    after_carriage_return: bool,
    event: Option<String>,
    data: Option<Vec<u8>>,
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SseEvent {
    /// The event's name, where it has one.
    pub event: Option<String>,
    /// The data lines, joined by line feeds.
    pub data: String,
    /// False where no blank line ended the event, so that its last line may be cut.
    pub whole: bool,
}

/// An event longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected events of at most {limit} bytes, a longer one came")]
pub(super) struct EventTooLong {
    /// Most bytes of one event.
    pub limit: usize,
}

impl SseParser {
    /// A parser that holds at most `limit` bytes of one event.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            first_line: true,
            after_carriage_return: false,
            event: None,
            data: None,
        }
    }

    /// Takes a chunk and adds the events that it completes to `events`, also where it fails later on.
    pub(super) fn push(&mut self, chunk: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLong> {
        let mut rest = chunk;
        loop {
            if mem::take(&mut self.after_carriage_return) {
                match rest {
                    [] => {
                        self.after_carriage_return = true;
                        return Ok(());
                    }
                    [b'\n', after @ ..] => rest = after,
                    [..] => {}
                }
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
            let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
            if held + piece.len() > self.limit {
                return Err(EventTooLong { limit: self.limit });
            }
            self.line.extend_from_slice(piece);
            let [ending, after @ ..] = after else { return Ok(()) };
            self.after_carriage_return = *ending == b'\r';
            events.extend(self.end_line());
            rest = after;
        }
    }

    /// The stream ended: what is left, if anything, is one more event.
    pub(super) fn finish(mut self) -> Option<SseEvent> {
        let completed = if self.line.is_empty() { None } else { self.end_line() };
        // An `event:` line that completes a half event has no data of its own.
        completed.or_else(|| self.dispatch(false))
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = mem::take(&mut self.line);
        let mut line = line.as_slice();
        if mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(true);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (field, value) = line.split_at(colon);
                let value = value.strip_prefix(b":").unwrap_or(value);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, [].as_slice()),
        };
        match field {
            b"data" => {
                match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data.extend_from_slice(value);
                    }
                    None => self.data = Some(value.to_vec()),
                }
                None
            }
            b"event" => {
                // A second name means that the event before was cut off: were the two read as one,
                // an error event would hide in the half one.
                let cut = if self.event.is_some() { self.dispatch(false) } else { None };
                self.event = Some(String::from_utf8_lossy(value).into_owned());
                cut
            }
            // Comments have an empty field name; `id`, `retry` and unknown fields mean nothing here.
            _ => None,
        }
    }

    fn dispatch(&mut self, whole: bool) -> Option<SseEvent> {
        let event = self.event.take();
        let data = self.data.take()?;
        Some(SseEvent { event, data: String::from_utf8_lossy(&data).into_owned(), whole })
    }
}

#[cfg(test)]
mod tests;

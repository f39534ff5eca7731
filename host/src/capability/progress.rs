//! The `progress` interface: what a guest shows before it ends. Must not reach the parent's history.

use super::GuestState;
use crate::bindings::deputy::agent::progress;
use crate::event::Event;

/// Most bytes of one reported line.
const LINE_BYTES: usize = 500;
/// Most bytes of a kept partial answer.
const KEPT_BYTES: usize = 256 * 1024;

impl progress::Host for GuestState {
    async fn report(&mut self, line: String) -> wasmtime::Result<()> {
        self.scope.events.emit(|| Event::Progress {
            run: self.scope.id.clone(),
            agent: self.scope.agent().clone(),
            line: head(line, LINE_BYTES),
        });
        Ok(())
    }

    async fn keep(&mut self, partial: String) -> wasmtime::Result<()> {
        self.record.keep(head(partial, KEPT_BYTES));
        Ok(())
    }
}

/// At most the first `bytes` bytes, cut at a character border.
fn head(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        let mut end = bytes;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

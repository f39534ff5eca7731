//! Calls itself until its stack is full.

use deputy_guest::*;

struct Guest;

/// Not a tail call, and nothing that an optimiser could turn into a loop.
#[inline(never)]
fn deeper(depth: u64) -> u64 {
    if depth == u64::MAX { 0 } else { deeper(depth + 1).wrapping_mul(31) ^ depth }
}

impl Subagent for Guest {
    fn handle(task: Task, _handed: Vec<Tool>) -> Result<Answer, Failure> {
        Ok(Answer { text: deeper(task.input().len() as u64).to_string(), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Calls itself until its stack is full.");

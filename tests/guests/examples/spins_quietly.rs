//! Never ends, without a single call to the host.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let mut turn = 0u64;
        loop {
            turn = std::hint::black_box(turn.wrapping_add(1));
        }
    }
}

deputy_guest::export!(Guest, description = "Never ends, without a single call to the host.");

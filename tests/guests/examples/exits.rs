//! Leaves the process instead of answering.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        std::process::exit(0);
    }
}

deputy_guest::export!(Guest, description = "Leaves the process instead of answering.");

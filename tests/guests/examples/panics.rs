//! Panics with a message.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        panic!("the tide tables are wrong for {}", task.input());
    }
}

deputy_guest::export!(Guest, description = "Panics with a message.");

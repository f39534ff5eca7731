//! Says that the task cannot be done.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        Err(Failure::Unable("there is no chart of this coast".to_owned()))
    }
}

deputy_guest::export!(Guest, description = "Says that the task cannot be done.");

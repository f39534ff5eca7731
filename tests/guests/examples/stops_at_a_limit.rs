//! Answers with a part, and says so.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        Ok(Answer { text: "the first half".to_owned(), complete: false })
    }
}

deputy_guest::export!(Guest, description = "Answers with a part, and says so.");

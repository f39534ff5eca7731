//! Answers with an empty text.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        Ok(Answer { text: " \n".to_owned(), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Answers with an empty text.");

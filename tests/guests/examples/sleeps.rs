//! Sleeps for as long as there is time.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        std::thread::sleep(std::time::Duration::MAX);
        Ok(Answer { text: "awake".to_owned(), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Sleeps for as long as there is time.");

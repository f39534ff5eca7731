//! Writes more to its output than anybody wants.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        use std::io::Write;
        let line = [b'x'; 1024];
        let mut taken = 0usize;
        while std::io::stdout().write_all(&line).and_then(|()| std::io::stdout().flush()).is_ok() && taken < 100_000 {
            taken += 1;
        }
        Ok(Answer { text: format!("{taken} KiB taken"), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Writes more to its output than anybody wants.");

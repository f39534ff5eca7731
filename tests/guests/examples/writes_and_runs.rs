//! Asks for two tools that change things.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let written = tools::Import::call(&contract::WriteFile { path: "a".to_owned(), content: "b".to_owned() });
        let run = tools::Import::call(&contract::RunCommand { command: "true".to_owned(), timeout_ms: None });
        Ok(Answer { text: format!("{} {}", written.is_ok(), run.is_ok()), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Asks for two tools that change things.");

//! Reads the file that the task names and writes its length beside it.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let path = task.input();
        let page = tools::Import::call(&contract::ReadFile { path: path.clone(), first_line: None, max_lines: None });
        let text = match page {
            Ok(page) => page.text,
            Err(error) => return Ok(Answer { text: format!("read: {error:?}"), complete: true }),
        };
        let content = text.len().to_string();
        match tools::Import::call(&contract::WriteFile { path: format!("{path}.length"), content }) {
            Ok(_) => Ok(Answer { text: "written".to_owned(), complete: true }),
            Err(error) => Ok(Answer { text: format!("write: {error:?}"), complete: true }),
        }
    }
}

deputy_guest::export!(Guest, description = "Reads the file that the task names and writes its length beside it.");

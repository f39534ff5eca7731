//! `react`: runs the prompt that comes with the task, with the tools that are handed in. Must not import a
//! tool: what it can do is what it is handed.

use deputy_guest::{Answer, Failure, React, Subagent, Task, Tool};

struct Prompted;

impl Subagent for Prompted {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        React::from_task(&task, include_str!("prompt.md")).run(task, handed)
    }
}

deputy_guest::export!(Prompted, description = include_str!("description.txt"));

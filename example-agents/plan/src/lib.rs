//! `plan`: reads and searches the workspace, answers with a plan in text. Must not change anything:
//! it imports no function that could.

use deputy_guest::{Answer, Failure, React, Subagent, Task, Tool, tools};

struct Plan;

impl Subagent for Plan {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        React::new(include_str!("prompt.md"))
            .with(tools::read_file())
            .with(tools::list_files())
            .with(tools::find_files())
            .with(tools::grep_files())
            .run(task, handed)
    }
}

deputy_guest::export!(Plan, description = include_str!("description.txt"));

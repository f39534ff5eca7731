//! `general`: does a task from end to end with every tool of the contract. Must not delegate by itself: other
//! subagents reach it only as handed tools.

use deputy_guest::{Answer, Failure, React, Subagent, Task, Tool, tools};

struct General;

impl Subagent for General {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        React::new(include_str!("prompt.md"))
            .with(tools::read_file())
            .with(tools::list_files())
            .with(tools::find_files())
            .with(tools::grep_files())
            .with(tools::write_file())
            .with(tools::edit_file())
            .with(tools::run_program())
            .with(tools::run_command())
            .with(tools::fetch_url())
            .run(task, handed)
    }
}

deputy_guest::export!(General, description = include_str!("description.txt"));

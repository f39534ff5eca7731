//! `verify`: checks a claim about the workspace by reading and by running diagnostics, and gives a verdict.
//! Must not change anything: it imports no function that writes, and no shell.

use deputy_guest::{Answer, Failure, React, Subagent, Task, Tool, tools};

struct Verify;

impl Subagent for Verify {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        React::new(include_str!("prompt.md"))
            .with(tools::read_file())
            .with(tools::list_files())
            .with(tools::find_files())
            .with(tools::grep_files())
            .with(tools::run_program())
            .run(task, handed)
    }
}

deputy_guest::export!(Verify, description = include_str!("description.txt"));

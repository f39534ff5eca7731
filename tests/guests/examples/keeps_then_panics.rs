//! Keeps a partial answer, then panics.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        progress::report("looking at the chart");
        progress::keep("half of the soundings: 3 m, 5 m");
        panic!("ran aground");
    }
}

deputy_guest::export!(Guest, description = "Keeps a partial answer, then panics.");

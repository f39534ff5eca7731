//! Takes memory until there is none.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let mut taken: Vec<Vec<u8>> = Vec::new();
        loop {
            taken.push(std::hint::black_box(vec![7; 1 << 20]));
        }
    }
}

deputy_guest::export!(Guest, description = "Takes memory until there is none.");

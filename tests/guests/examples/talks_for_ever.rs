//! Takes model turns until it is stopped, and does not give in.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let conversation = Conversation::open("Talk.").map_err(|error| Failure::Other(format!("{error:?}")))?;
        let mut refused = 0;
        loop {
            let _ = conversation.say("go on");
            match conversation.complete(&[]) {
                Ok(_) => {}
                Err(ModelError::BudgetSpent(text)) => {
                    refused += 1;
                    if refused == 3 {
                        return Err(Failure::Unable(text));
                    }
                }
                Err(error) => return Err(Failure::Other(format!("{error:?}"))),
            }
        }
    }
}

deputy_guest::export!(Guest, description = "Takes model turns until it is stopped, and does not give in.");

//! Says more than a conversation may hold, and goes on for as long as it is let.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(_task: Task, _handed: Vec<Tool>) -> Result<Answer, Failure> {
        let conversation = Conversation::open("Talk.").map_err(|error| Failure::Other(format!("{error:?}")))?;
        let text = "x".repeat(1 << 20);
        for said in 0..1000 {
            if let Err(error) = conversation.say(&text) {
                return Ok(Answer { text: format!("{said} MiB: {error:?}"), complete: true });
            }
        }
        Ok(Answer { text: "never stopped".to_owned(), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Says more than a conversation may hold.");

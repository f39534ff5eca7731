//! Calls the functions of a conversation in every wrong order and lists what came.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let mut said = Vec::new();
        let conversation = Conversation::open("Talk.").map_err(|error| Failure::Other(format!("{error:?}")))?;
        let mut note = |what: &str, result: Result<(), ModelError>| said.push(format!("{what}: {result:?}"));
        note("open twice", Conversation::open("Again.").map(drop));
        note("complete before anything was said", conversation.complete(&[]).map(drop));
        note("answer a call that nobody made", conversation.answer_call("ghost", Ok("boo")));
        note("say", conversation.say("look"));
        note("complete", conversation.complete(&[]).map(drop));
        note("say over open calls", conversation.say("hello?"));
        note("complete over open calls", conversation.complete(&[]).map(drop));
        note("answer", conversation.answer_call("call_0", Ok("seen")));
        note("answer twice", conversation.answer_call("call_0", Ok("seen again")));
        Ok(Answer { text: said.join("\n"), complete: true })
    }
}

deputy_guest::export!(Guest, description = "Calls the functions of a conversation in every wrong order and lists what came.");

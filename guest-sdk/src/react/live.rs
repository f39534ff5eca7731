//! The loop's view of a real run: the imports of the component behind the trait [`Run`]. Decides nothing.

use super::turns::{HandedCall, Run};
use crate::{
    Conversation, Failure, ModelError, Reply, Request, Task, Tool, ToolError, ToolSpec, call_all, progress,
};

/// A run with its conversation open and the task said.
pub(super) struct Live {
    conversation: Conversation,
    task: Task,
    handed: Vec<Tool>,
}

impl Live {
    pub(super) fn open(instructions: &str, task: Task, handed: Vec<Tool>) -> Result<Self, Failure> {
        let conversation = Conversation::open(instructions)?;
        conversation.say(&task.input())?;
        Ok(Self { conversation, task, handed })
    }
}

impl Run for Live {
    fn max_turns(&self) -> u32 {
        self.task.max_turns()
    }

    fn complete(&mut self, tools: &[ToolSpec]) -> Result<Reply, ModelError> {
        self.conversation.complete(tools)
    }

    fn answer_call(&mut self, call_id: &str, outcome: &Result<String, ToolError>) -> Result<(), ModelError> {
        self.conversation.answer_call(call_id, outcome.as_ref().map(String::as_str))
    }

    fn call_handed(&mut self, calls: &[HandedCall<'_>]) -> Vec<Result<String, ToolError>> {
        let requests: Vec<_> = calls
            .iter()
            .filter_map(|call| {
                let tool = self.handed.get(call.tool)?;
                Some(Request { tool, arguments: call.arguments.to_owned() })
            })
            .collect();
        call_all(&requests)
    }

    fn report(&mut self, line: &str) {
        progress::report(line);
    }

    fn keep(&mut self, partial: &str) {
        progress::keep(partial);
    }
}

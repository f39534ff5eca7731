//! `React`: the usual loop of a subagent as one value. Must not know how a turn goes: `react/turns` does.

mod live;
mod toolset;
mod turns;

use crate::{Answer, Failure, Task, Tool, TypedTool};

/// The usual loop: the model talks, calls tools, reads their results, and answers when it calls no more.
///
/// - The model sees the typed tools given by [`with`](React::with) and the handed ones. Where a handed tool
///   has the name of a typed one, the typed one stands and the handed one is not shown; the progress says so.
/// - The handed tools of one turn run side by side, typed ones one after another; results go back in the
///   order of the calls. Arguments that do not fit are answered to the model, for that call alone.
/// - At the task's last turn, and where a shared budget is spent, the answer is the last text, marked as not
///   complete. Each text is kept on the way, so that a run that is stopped leaves it behind.
/// - A model that calls nothing but unknown tools in three turns in a row ends the run with a failure.
#[derive(Debug)]
pub struct React {
    instructions: String,
    typed: Vec<TypedTool>,
}

impl React {
    /// A loop whose conversation opens with `instructions` as its system text. No typed tools yet.
    pub fn new(instructions: impl Into<String>) -> Self {
        Self { instructions: instructions.into(), typed: Vec::new() }
    }

    /// A loop with the system text that came with the task, or `fallback` where none came: for a component
    /// that runs any prompt.
    #[must_use]
    pub fn from_task(task: &Task, fallback: &str) -> Self {
        Self::new(task.instructions().unwrap_or_else(|| fallback.to_owned()))
    }

    /// Adds a tool. Of two with one name the first stands.
    #[must_use]
    pub fn with(mut self, tool: TypedTool) -> Self {
        self.typed.push(tool);
        self
    }

    /// Runs the task to its end. Opens the run's conversation, which can be opened once.
    ///
    /// # Errors
    /// [`Failure::Model`] where the model gave no reply, [`Failure::Cancelled`] where the run is being stopped,
    /// [`Failure::Unable`] where the model declined or called only tools that are not there.
    pub fn run(self, task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let specs = handed.iter().map(Tool::spec).collect();
        let tools = toolset::Toolset::new(self.typed, specs);
        let mut run = live::Live::open(&self.instructions, task, handed)?;
        turns::drive(&mut run, &tools)
    }
}

#[cfg(test)]
mod tests;

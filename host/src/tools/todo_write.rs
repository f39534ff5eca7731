//! `todo_write`: the list of steps that a run keeps for itself. Must not touch anything outside the run, and must not
//! act on what the list says.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use deputy_contract::{ToolSpec, parse_arguments};
use serde::Deserialize;

use super::{CallContext, Tool, ToolError};
use crate::governance::{Effect, Permit};
use crate::history::Arguments;
use crate::ids::RunId;
use crate::model::ToolDescription;

/// Most items of one list.
const ITEMS: usize = 50;

/// Most characters of one item.
const CONTENT_CHARACTERS: usize = 500;

/// Of how many runs the lists are remembered; beyond that the one not written for longest goes.
const RUNS: usize = 64;

const SPEC: ToolSpec = ToolSpec {
    name: "todo_write",
    description: "Keeps your list of steps for this task, and answers it with counts. Each call replaces the whole list. Use it for work of several steps: have one step in progress at a time, and mark a step completed as soon as it is done.",
    parameters: r#"{"type":"object","properties":{"todos":{"type":"array","maxItems":50,"description":"The whole list, in order. Replaces the list before.","items":{"type":"object","properties":{"content":{"type":"string","minLength":1,"maxLength":500,"description":"What is to be done."},"status":{"type":"string","enum":["pending","in_progress","completed"],"description":"How far it is; at most one is in_progress."}},"required":["content","status"],"additionalProperties":false}}},"required":["todos"],"additionalProperties":false}"#,
};

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoWrite {
    todos: Vec<Todo>,
}

/// The tool, with the lists of the runs that wrote one.
#[derive(Debug)]
pub struct TodoWriteTool {
    description: ToolDescription,
    /// The one written last is the last.
    lists: Mutex<VecDeque<(RunId, Vec<Todo>)>>,
}

impl Default for TodoWriteTool {
    fn default() -> Self {
        Self { description: (&SPEC).into(), lists: Mutex::default() }
    }
}

impl TodoWriteTool {
    /// What a run wrote last; nothing where it wrote none.
    #[must_use]
    pub fn list(&self, run: &RunId) -> Vec<Todo> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.iter().find(|(of, _)| of == run).map(|(_, list)| list.clone()).unwrap_or_default()
    }

    /// Puts a list in the place of the one before, and answers that one.
    fn replace(&self, run: &RunId, list: Vec<Todo>) -> Vec<Todo> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let at = lists.iter().position(|(of, _)| of == run);
        let before = at.and_then(|at| lists.remove(at)).map(|(_, list)| list).unwrap_or_default();
        if lists.len() >= RUNS {
            lists.pop_front();
        }
        lists.push_back((run.clone(), list));
        before
    }
}

#[async_trait]
impl Tool for TodoWriteTool {
    fn description(&self) -> &ToolDescription {
        &self.description
    }

    fn effect(&self) -> Effect {
        Effect::Manage
    }

    async fn call(&self, permit: Permit<Arguments>, context: &CallContext) -> Result<String, ToolError> {
        let TodoWrite { todos } = parse_arguments(&SPEC, permit.into_arguments().as_str())?;
        check(&todos)?;
        let before = self.replace(&context.run, todos.clone());
        Ok(render(&todos, &before))
    }
}

fn check(todos: &[Todo]) -> Result<(), ToolError> {
    let refused = |why: String| Err(ToolError::InvalidArguments(format!("{why}; the list is as it was")));
    if todos.len() > ITEMS {
        return refused(format!(
            "{} items came, expected at most {ITEMS}: put small steps together",
            todos.len()
        ));
    }
    for (number, todo) in (1..).zip(todos) {
        let characters = todo.content.chars().count();
        if todo.content.trim().is_empty() {
            return refused(format!("the content of item {number} is empty: say what is to be done"));
        }
        if characters > CONTENT_CHARACTERS {
            return refused(format!(
                "the content of item {number} has {characters} characters, expected at most {CONTENT_CHARACTERS}: say it shorter"
            ));
        }
    }
    match count(todos, TodoStatus::InProgress) {
        0 | 1 => Ok(()),
        many => {
            refused(format!("{many} items are in_progress, expected at most 1: leave the others pending"))
        }
    }
}

fn count(todos: &[Todo], status: TodoStatus) -> usize {
    todos.iter().filter(|todo| todo.status == status).count()
}

/// The list as a model reads it, and what fell off it unfinished.
fn render(todos: &[Todo], before: &[Todo]) -> String {
    let mut text = format!(
        "items: {} ({} completed, {} in progress, {} pending)\n",
        todos.len(),
        count(todos, TodoStatus::Completed),
        count(todos, TodoStatus::InProgress),
        count(todos, TodoStatus::Pending)
    );
    for (number, todo) in (1..).zip(todos) {
        let mark = match todo.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '>',
            TodoStatus::Completed => 'x',
        };
        let content: Vec<&str> = todo.content.split_whitespace().collect();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{number}. [{mark}] {}", content.join(" "));
    }
    let is_gone = |todo: &&Todo| {
        todo.status != TodoStatus::Completed && !todos.iter().any(|other| other.content == todo.content)
    };
    let gone = before.iter().filter(is_gone).count();
    if gone > 0 {
        let _ = writeln!(text, "[unfinished items of the list before that are not on this one: {gone}]");
    }
    text
}

#[cfg(test)]
mod tests;

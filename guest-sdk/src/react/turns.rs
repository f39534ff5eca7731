//! How a run goes from turn to turn and when it ends. Knows the host only through [`Run`].

use super::toolset::Toolset;
use crate::{Answer, Failure, ModelError, Reply, StopReason, ToolCall, ToolError, ToolSpec};

/// Turns in a row with nothing but unknown tools that end a run.
const STRAY_TURNS: u32 = 3;

/// What the loop needs of a run.
pub(super) trait Run {
    fn max_turns(&self) -> u32;
    fn complete(&mut self, tools: &[ToolSpec]) -> Result<Reply, ModelError>;
    fn answer_call(&mut self, call_id: &str, outcome: &Result<String, ToolError>) -> Result<(), ModelError>;
    /// Runs calls of handed tools side by side; results in their order.
    fn call_handed(&mut self, calls: &[HandedCall<'_>]) -> Vec<Result<String, ToolError>>;
    fn report(&mut self, line: &str);
    fn keep(&mut self, partial: &str);
}

/// A call of the handed tool at a place among the handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandedCall<'a> {
    pub(super) tool: usize,
    pub(super) arguments: &'a str,
}

/// Runs turns until the model calls no more tools or a limit is reached.
pub(super) fn drive(run: &mut impl Run, tools: &Toolset) -> Result<Answer, Failure> {
    for name in tools.hidden() {
        run.report(&format!("the handed tool `{name}` is not shown: another tool has its name"));
    }
    let last_turn = run.max_turns();
    let mut text = String::new();
    let mut stray_turns = 0;
    for turn in 1..=last_turn {
        let reply = match run.complete(tools.specs()) {
            Ok(reply) => reply,
            Err(ModelError::BudgetSpent(what)) => return Ok(partial(text, &what)),
            Err(error) => return Err(error.into()),
        };
        if !reply.text.trim().is_empty() {
            run.keep(&reply.text);
            text = reply.text;
        }
        if reply.calls.is_empty() {
            return ended(reply.stop, text);
        }
        if turn == last_turn {
            leave_unrun(run, &reply.calls)?;
            break;
        }
        run.report(&format!("turn {turn}: {}", names(&reply.calls)));
        for (call, outcome) in reply.calls.iter().zip(tools.answer(&reply.calls, run)) {
            if matches!(outcome, Err(ToolError::Cancelled)) {
                return Err(Failure::Cancelled);
            }
            run.answer_call(&call.id, &outcome)?;
        }
        let stray = reply.calls.iter().all(|call| !tools.has(&call.name));
        stray_turns = if stray { stray_turns + 1 } else { 0 };
        if stray_turns == STRAY_TURNS {
            return Err(strayed(&reply.calls, tools));
        }
    }
    Ok(partial(text, &format!("stopped after {last_turn} model turns, the most that this run may take")))
}

/// A turn without calls is the model's last.
fn ended(stop: StopReason, text: String) -> Result<Answer, Failure> {
    match stop {
        StopReason::Refused => Err(Failure::Unable(format!("the model declined: {}", or_nothing(&text)))),
        StopReason::Length => Ok(partial(text, "the provider's length limit cut the model's first words")),
        _ if text.is_empty() => Err(Failure::Model("the model ended without any text or call".to_owned())),
        _ => Ok(Answer { text, complete: true }),
    }
}

/// What there was at a limit; why there is nothing, where there is nothing.
fn partial(text: String, why: &str) -> Answer {
    Answer { text: if text.is_empty() { format!("(no text so far: {why})") } else { text }, complete: false }
}

/// Closes the calls of the last turn without running them: nobody would read what they give, and a
/// conversation that is continued later must not have open calls.
fn leave_unrun(run: &mut impl Run, calls: &[ToolCall]) -> Result<(), Failure> {
    for call in calls {
        let why = "not run: this was the last model turn of the run".to_owned();
        run.answer_call(&call.id, &Err(ToolError::BudgetSpent(why)))?;
    }
    Ok(())
}

fn strayed(calls: &[ToolCall], tools: &Toolset) -> Failure {
    let there = if tools.specs().is_empty() { "none".to_owned() } else { tools.names() };
    Failure::Unable(format!(
        "the model called only unknown tools in {STRAY_TURNS} turns in a row, last: {}; the tools are: {there}",
        names(calls)
    ))
}

fn names(calls: &[ToolCall]) -> String {
    let names: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
    names.join(", ")
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "it said nothing" } else { text }
}

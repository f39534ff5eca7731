//! The state of one run, without IO: what was said, and what comes next. Must not await anything.

use crate::calls::Fault;
use crate::governance::Spent;
use crate::history::{History, Message, ToolCall, ToolResult};
use crate::model::{StopReason, Turn};

/// What comes next in a run.
#[derive(Debug)]
pub(super) enum Step {
    /// The model speaks.
    CallModel,
    /// The calls of the last turn run.
    RunCalls(Vec<ToolCall>),
    /// Nothing.
    Done(End),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With an answer.
    Answered(String),
    /// With an answer that the model's length limit cut.
    Cut,
    /// At the turn limit.
    AtLimit(u32),
    /// Where the budget of the whole tree is spent.
    Spent(Spent),
    /// With an answer, while tasks that it does not know of were running.
    TasksRunning(String),
    /// With a delegation that was refused.
    Denied(String),
    /// With an error.
    Failed(String),
    /// Stopped from outside.
    Cancelled,
}

/// One run: a history and the end, once there is one.
#[derive(Debug)]
pub(super) struct Run {
    history: History,
    end: Option<End>,
}

impl End {
    /// What a fault makes of a run.
    pub(super) fn of(fault: &Fault) -> Self {
        match fault {
            Fault::HandoffDenied { .. } => Self::Denied(fault.to_string()),
            Fault::HandoffFailed { .. } | Fault::ToolPanicked { .. } => Self::Failed(fault.to_string()),
        }
    }
}

impl Run {
    /// A run that goes on with `history` and is given `task`.
    pub(super) fn new(mut history: History, task: &str) -> Self {
        // A conversation that was cut between a call and its result would be refused by every provider.
        history.begin_run();
        history.push(Message::user(task));
        Self { history, end: None }
    }

    /// The conversation, with every call answered.
    pub(super) fn into_history(mut self) -> History {
        self.history.close_open_calls();
        self.history
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// For what ended in the background to be added before a turn.
    pub(super) fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    pub(super) fn next_step(&self) -> Step {
        if let Some(end) = &self.end {
            return Step::Done(end.clone());
        }
        match self.history.open_calls() {
            calls if calls.is_empty() => Step::CallModel,
            calls => Step::RunCalls(calls),
        }
    }

    /// The model took a turn. A turn without calls is the end; one without anything is a failure, never an
    /// answer.
    pub(super) fn model_said(&mut self, turn: Turn) {
        let text = turn.message.text();
        if turn.message.calls().next().is_none() {
            self.end = Some(match turn.stop {
                StopReason::Refused => End::Failed("the model declined to answer".to_owned()),
                StopReason::Length => End::Cut,
                _ if !text.trim().is_empty() => End::Answered(text),
                StopReason::End | StopReason::ToolCalls | StopReason::Other => {
                    End::Failed("the model answered with nothing".to_owned())
                }
            });
        }
        self.history.push(Message::Assistant(turn.message));
    }

    pub(super) fn calls_ended(&mut self, results: Vec<ToolResult>) {
        for result in results {
            self.history.push(Message::Tool(result));
        }
    }

    /// The run ended from outside the conversation.
    pub(super) fn ended(&mut self, end: End) {
        self.end = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{AssistantMessage, Part};
    use crate::usage::Usage;

    fn turn(parts: Vec<Part>, stop: StopReason) -> Turn {
        Turn { message: AssistantMessage { parts }, stop, usage: Usage::default() }
    }

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "read_file".into(), arguments: "{}".into() }
    }

    #[test]
    fn turns_and_calls_alternate_until_a_turn_has_no_calls() {
        let mut run = Run::new(History::new(), "task");
        assert!(matches!(run.next_step(), Step::CallModel));
        run.model_said(turn(vec![Part::Call(call("a")), Part::Call(call("b"))], StopReason::ToolCalls));
        let Step::RunCalls(calls) = run.next_step() else { panic!("the calls run") };
        assert_eq!(calls, [call("a"), call("b")]);
        run.calls_ended(
            calls.into_iter().map(|call| ToolResult::ok(call.id, call.name, "x".into())).collect(),
        );
        assert!(matches!(run.next_step(), Step::CallModel));
        run.model_said(turn(vec![Part::Text("done".into())], StopReason::End));
        assert!(matches!(run.next_step(), Step::Done(End::Answered(text)) if text == "done"));
    }

    #[test]
    fn a_turn_of_nothing_is_a_failure_and_no_answer() {
        for stop in [StopReason::End, StopReason::Refused, StopReason::Length, StopReason::Other] {
            let mut run = Run::new(History::new(), "task");
            run.model_said(turn(vec![Part::Text(" \n".into())], stop));
            assert!(matches!(run.next_step(), Step::Done(End::Failed(_) | End::Cut)), "{stop:?}");
        }
    }

    #[test]
    fn half_an_answer_is_no_answer() {
        for (stop, end) in [
            (StopReason::Length, End::Cut),
            (StopReason::Refused, End::Failed("the model declined to answer".to_owned())),
        ] {
            let mut run = Run::new(History::new(), "task");
            run.model_said(turn(vec![Part::Text("It is".into())], stop));
            assert!(matches!(run.next_step(), Step::Done(is) if is == end), "{stop:?}");
        }
    }
}

//! What happens in a tree of runs, as typed events. Knows ids and counts only; must not decide anything.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{AgentName, CallId, HandoffId, RunId, SessionId, ToolName};
use crate::usage::Usage;

/// One event. As JSON it is an object whose `event` field is the name in `snake_case`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A run began: the parent's, or a subagent's.
    RunStart {
        /// The run.
        run: RunId,
        /// The run that delegated; none for the parent.
        parent: Option<RunId>,
        /// Who runs.
        agent: AgentName,
        /// Delegations between the parent and this run.
        depth: u32,
        /// The task text.
        task: String,
    },
    /// A model turn began.
    TurnStart {
        /// The run.
        run: RunId,
        /// Who runs.
        agent: AgentName,
        /// 1-based.
        turn: u32,
    },
    /// A piece of a turn's text came.
    Text {
        /// The run.
        run: RunId,
        /// The piece.
        delta: String,
    },
    /// A model attempt failed and another one follows.
    ModelRetry {
        /// The run.
        run: RunId,
        /// Failures in a row so far.
        failures: u32,
        /// Milliseconds until the next attempt.
        delay_ms: u64,
        /// Why it failed.
        error: String,
    },
    /// A model turn ended.
    TurnEnd {
        /// The run.
        run: RunId,
        /// Who runs.
        agent: AgentName,
        /// 1-based.
        turn: u32,
        /// Calls that the model asked for.
        calls: usize,
        /// What the turn cost.
        usage: Usage,
    },
    /// A tool call began.
    ToolStart {
        /// The run.
        run: RunId,
        /// Who calls.
        agent: AgentName,
        /// The call.
        call_id: CallId,
        /// The tool.
        tool: ToolName,
        /// The arguments, shortened.
        arguments: String,
    },
    /// A tool call ended.
    ToolEnd {
        /// The run.
        run: RunId,
        /// Who called.
        agent: AgentName,
        /// The call.
        call_id: CallId,
        /// The tool.
        tool: ToolName,
        /// How it ended.
        status: ToolStatus,
        /// How long it took.
        duration_ms: u64,
        /// The error, where there is one.
        error: Option<String>,
    },
    /// A delegation began.
    HandoffStart {
        /// The delegation.
        handoff_id: HandoffId,
        /// The run that delegates.
        run: RunId,
        /// The call that asked for it.
        call_id: CallId,
        /// The tool that stands for the subagent.
        tool: ToolName,
        /// The subagent.
        subagent: AgentName,
        /// Depth of the subagent's run.
        depth: u32,
        /// Whether it continues a conversation.
        session_mode: SessionMode,
        /// The background task that it is, if it is one.
        task_id: Option<Arc<str>>,
    },
    /// A delegation ended, whatever way.
    HandoffEnd(HandoffEnd),
    /// A subagent reports what it is doing.
    Progress {
        /// The run.
        run: RunId,
        /// Who reports.
        agent: AgentName,
        /// The line.
        line: String,
    },
    /// A guest wrote to its standard output or error.
    Log {
        /// The run.
        run: RunId,
        /// Who wrote.
        agent: AgentName,
        /// The text.
        text: String,
    },
    /// Something that the person should know and that stops nothing.
    Warning {
        /// What it is.
        message: String,
    },
    /// A run ended.
    RunEnd {
        /// The run.
        run: RunId,
        /// Who ran.
        agent: AgentName,
        /// How it ended.
        status: RunStatus,
        /// Model turns taken.
        turns: u32,
        /// What the run itself cost, its subagents not counted.
        usage: Usage,
        /// How long it took.
        duration_ms: u64,
        /// The error, where there is one.
        error: Option<String>,
    },
}

/// The record of one delegation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandoffEnd {
    /// The delegation.
    pub handoff_id: HandoffId,
    /// The run that delegated.
    pub run: RunId,
    /// The call that asked for it.
    pub call_id: CallId,
    /// The tool that stands for the subagent.
    pub tool: ToolName,
    /// The subagent.
    pub subagent: AgentName,
    /// What became of the delegation.
    pub status: HandoffStatus,
    /// How the last attempt's run ended; none where there was no attempt.
    pub end: Option<RunStatus>,
    /// Depth of the subagent's run.
    pub depth: u32,
    /// Whether it continued a conversation.
    pub session_mode: SessionMode,
    /// The conversation; none where there was no attempt.
    pub session_id: Option<SessionId>,
    /// Attempts made.
    pub attempts: u32,
    /// How long it took, all attempts together, the waiting for a place among the running ones included.
    pub duration_ms: u64,
    /// The answer, or what there was of it.
    pub output: Option<String>,
    /// Why there is no whole answer.
    pub error: Option<String>,
    /// Model turns taken, all attempts together.
    pub turns: u32,
    /// What it cost, with everything below it.
    pub usage: Usage,
    /// Tool calls made, all attempts together.
    pub tool_calls: u64,
    /// Tool calls refused.
    pub denials: u64,
    /// Fuel burnt by the component.
    pub fuel: u64,
    /// Most bytes of memory that the component had at one time.
    pub peak_memory: u64,
    /// What the subagent asked for and did not get, each with the rule and what would allow it.
    pub cut: Vec<String>,
    /// The background task that it was, if it was one.
    pub task_id: Option<Arc<str>>,
    /// The worktree that it worked in and that holds changes, by its id. None: it had none, or left it untouched.
    pub worktree: Option<String>,
}

/// What became of a delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HandoffStatus {
    /// The subagent answered.
    Completed,
    /// It stopped at a limit, with what it had.
    Partial,
    /// It failed.
    Failed,
    /// It ran into its time limit.
    TimedOut,
    /// It was refused.
    Denied,
    /// It was refused or failed, and the ordinary tool of that name was called in its place.
    Fallback,
    /// It was stopped from outside.
    Cancelled,
}

impl fmt::Display for HandoffStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Denied => "denied",
            Self::Fallback => "fallback",
            Self::Cancelled => "cancelled",
        })
    }
}

/// Whether a delegation continues a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMode {
    /// Nothing carries over from one delegation to the next.
    #[default]
    Fresh,
    /// One conversation for each user: each delegation continues it, one after another.
    Reuse,
}

impl fmt::Display for SessionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fresh => "fresh",
            Self::Reuse => "reuse",
        })
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// With an answer.
    Answered,
    /// At a limit, with what there was.
    Partial,
    /// With an error.
    Failed,
    /// The component trapped.
    Trapped,
    /// The component used up its fuel.
    OutOfFuel,
    /// The component wanted more memory than its limit.
    OutOfMemory,
    /// At its time limit.
    TimedOut,
    /// Stopped from outside.
    Cancelled,
    /// Refused before it began.
    Denied,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// With a result.
    Ok,
    /// With an error that the model reads.
    Error,
    /// Refused by governance.
    Denied,
}

/// Hears of events, in order, from many threads. Must return quickly: the run waits for it.
pub trait EventListener: Send + Sync {
    /// One event.
    fn on_event(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> EventListener for F {
    fn on_event(&self, event: &Event) {
        self(event);
    }
}

/// Where events go. Cheap to clone; without a listener no event is even made.
#[derive(Clone, Default)]
pub struct Events {
    listener: Option<Arc<dyn EventListener>>,
}

impl Events {
    /// Sends every event to `listener`.
    #[must_use]
    pub fn to(listener: Arc<dyn EventListener>) -> Self {
        Self { listener: Some(listener) }
    }

    /// Tells the listener, if there is one, what `make` makes.
    pub fn emit(&self, make: impl FnOnce() -> Event) {
        if let Some(listener) = &self.listener {
            listener.on_event(&make());
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("heard", &self.listener.is_some()).finish()
    }
}

/// A listener and the stream of what it hears: for embedders who would rather await events than be called.
/// The stream ends when every host that got the listener is gone. Events that nobody takes pile up in memory.
#[must_use]
pub fn event_stream() -> (impl EventListener + 'static, EventStream) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let listener = move |event: &Event| {
        // Whoever dropped the stream wants no more events.
        let _ = sender.send(event.clone());
    };
    (listener, EventStream { receiver })
}

/// Events in the order in which they happened.
#[derive(Debug)]
pub struct EventStream {
    receiver: tokio::sync::mpsc::UnboundedReceiver<Event>,
}

impl futures_util::Stream for EventStream {
    type Item = Event;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Event>> {
        self.receiver.poll_recv(context)
    }
}

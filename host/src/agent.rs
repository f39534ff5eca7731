//! READ FIRST: the parent agent's loop, one line a stage. A turn of the model, the calls that it asks for, their
//! results, the next turn. Must not execute a call itself: every call goes to the executor, which asks
//! governance.

mod report;
mod run;

use std::sync::Arc;

use futures_util::StreamExt as _;

pub use report::AgentReport;

use crate::calls::{CallExecutor, Fault};
use crate::event::Event;
use crate::history::{History, ToolCall, ToolResult};
use crate::model::ModelError;
use crate::run::RunScope;
use crate::tools::ToolError;
use crate::turn::{TurnError, next_turn};
use run::{End, Run, Step};

/// Most calls of one turn that run side by side.
const SIDE_BY_SIDE: usize = 16;

/// A parent agent about to work on one task.
#[derive(Debug)]
pub struct Agent {
    scope: Arc<RunScope>,
    executor: Arc<dyn CallExecutor>,
    system: String,
    history: History,
}

impl Agent {
    /// An agent that works within `scope` and calls through `executor`.
    pub fn new(scope: Arc<RunScope>, executor: Arc<dyn CallExecutor>, system: String) -> Self {
        let history = History::new().capped_at(scope.result_cap);
        Self { scope, executor, system, history }
    }

    /// The same agent, going on with an earlier conversation.
    #[must_use]
    pub fn resuming(mut self, history: History) -> Self {
        self.history = history.capped_at(self.scope.result_cap);
        self
    }

    /// Works until there is an answer, a limit, an error or a stop. Nothing that it started is left running then.
    /// The conversation comes back with the report: nobody else has one of it.
    pub async fn work(mut self) -> (AgentReport, History) {
        self.tell_start();
        let tools = self.executor.descriptions(&self.scope);
        let system = format!("{}{}", self.system, self.executor.system_part(&self.scope));
        let mut run = Run::new(std::mem::take(&mut self.history), &self.scope.task);
        let end = loop {
            match run.next_step() {
                Step::CallModel => match next_turn(&self.scope, &system, run.history_mut(), &tools).await {
                    Ok(turn) => run.model_said(turn),
                    Err(TurnError::TurnLimit(limit)) => run.ended(End::AtLimit(limit)),
                    Err(TurnError::Spent(spent)) => run.ended(End::Spent(spent)),
                    Err(error @ TurnError::TasksRunning(_)) => {
                        run.ended(End::TasksRunning(error.to_string()))
                    }
                    Err(TurnError::Model(ModelError::Cancelled)) => run.ended(self.stopped()),
                    Err(TurnError::Model(error)) => run.ended(End::Failed(error.to_string())),
                },
                Step::RunCalls(calls) => {
                    let (results, fault) = self.run_calls(calls).await;
                    run.calls_ended(results);
                    if let Some(fault) = fault {
                        run.ended(End::of(&fault));
                    }
                }
                Step::Done(end) => break end,
            }
        };
        // Dead means joined, and whoever ends otherwise than with an answer says what that stopped.
        let stopped = self.scope.tasks.end().await;
        let report = AgentReport::new(&self.scope, end, run.history()).stopping(stopped);
        self.tell_end(&report);
        (report, run.into_history())
    }

    /// Runs the calls of one turn and waits for all of them. Results in the order of the calls, each call with one,
    /// and the first fault, if there was any.
    async fn run_calls(&self, calls: Vec<ToolCall>) -> (Vec<ToolResult>, Option<Fault>) {
        let side_by_side = if self.scope.parallel_tool_calls { SIDE_BY_SIDE } else { 1 };
        let ended: Vec<(ToolResult, Option<Fault>)> =
            futures_util::stream::iter(calls.into_iter().map(|call| self.run_call(call)))
                .buffered(side_by_side)
                .collect()
                .await;
        let (results, faults): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
        (results, faults.into_iter().flatten().next())
    }

    async fn run_call(&self, call: ToolCall) -> (ToolResult, Option<Fault>) {
        let result = if self.scope.cancel.is_cancelled() {
            Ok(Err(ToolError::Cancelled))
        } else {
            self.executor.execute(&self.scope, &call).await
        };
        match result {
            Ok(Ok(text)) => (ToolResult::ok(call.id, call.name, text), None),
            Ok(Err(error)) => (ToolResult::error(call.id, call.name, error.to_string()), None),
            Err(fault) => (ToolResult::error(call.id, call.name, fault.to_string()), Some(fault)),
        }
    }

    /// Whether the tree's time is over, or somebody stopped the run.
    fn stopped(&self) -> End {
        self.scope.purse.time_is_over().map_or(End::Cancelled, End::Spent)
    }

    fn tell_start(&self) {
        let scope = &self.scope;
        scope.events.emit(|| Event::RunStart {
            run: scope.id.clone(),
            parent: None,
            agent: scope.agent().clone(),
            depth: scope.rights.depth(),
            task: scope.task.to_string(),
        });
    }

    fn tell_end(&self, report: &AgentReport) {
        let scope = &self.scope;
        scope.events.emit(|| Event::RunEnd {
            run: scope.id.clone(),
            agent: scope.agent().clone(),
            status: report.status,
            turns: report.turns,
            usage: scope.tally.own_usage(),
            duration_ms: scope.tally.elapsed_ms(),
            error: report.error.clone(),
        });
    }
}

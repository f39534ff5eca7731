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
use crate::history::{ToolCall, ToolResult};
use crate::model::ModelError;
use crate::run::RunScope;
use crate::tools::ToolError;
use crate::turn::{TurnError, take_turn};
use run::{Run, Step};

/// Most calls of one turn that run side by side.
const SIDE_BY_SIDE: usize = 16;

/// A parent agent about to work on one task.
#[derive(Debug)]
pub struct Agent {
    scope: Arc<RunScope>,
    executor: Arc<dyn CallExecutor>,
    system: String,
}

impl Agent {
    /// An agent that works within `scope` and calls through `executor`.
    pub fn new(scope: Arc<RunScope>, executor: Arc<dyn CallExecutor>, system: String) -> Self {
        Self { scope, executor, system }
    }

    /// Works until there is an answer, a limit, an error or a stop. Nothing that it started is left running then.
    pub async fn work(self) -> AgentReport {
        self.tell_start();
        let tools = self.executor.descriptions(&self.scope);
        let mut run = Run::new(&self.scope.task);
        let end = loop {
            match run.next_step() {
                Step::CallModel => match take_turn(&self.scope, &self.system, run.history(), &tools).await {
                    Ok(turn) => run.model_said(turn),
                    Err(TurnError::TurnLimit(limit)) => run.stopped_at_limit(limit),
                    Err(TurnError::Model(ModelError::Cancelled)) => run.cancelled(),
                    Err(TurnError::Model(error)) => run.failed(error.to_string()),
                },
                Step::RunCalls(calls) => match self.run_calls(calls).await {
                    Ok(results) => run.calls_ended(results),
                    Err(fault) => run.failed(fault.to_string()),
                },
                Step::Done(end) => break end,
            }
        };
        let report = AgentReport::new(&self.scope, end, run.history());
        self.tell_end(&report);
        report
    }

    /// Runs the calls of one turn and waits for all of them; results in the order of the calls.
    async fn run_calls(&self, calls: Vec<ToolCall>) -> Result<Vec<ToolResult>, Fault> {
        let side_by_side = if self.scope.parallel_tool_calls { SIDE_BY_SIDE } else { 1 };
        let results: Vec<Result<ToolResult, Fault>> =
            futures_util::stream::iter(calls.into_iter().map(|call| self.run_call(call)))
                .buffered(side_by_side)
                .collect()
                .await;
        // All have ended before the first fault is told.
        results.into_iter().collect()
    }

    async fn run_call(&self, call: ToolCall) -> Result<ToolResult, Fault> {
        let result = if self.scope.cancel.is_cancelled() {
            Err(ToolError::Cancelled)
        } else {
            self.executor.execute(&self.scope, &call).await?
        };
        Ok(match result {
            Ok(text) => ToolResult::ok(call.id, call.name, text),
            Err(error) => ToolResult::error(call.id, call.name, error.to_string()),
        })
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

//! What is told and counted of a call, the same for every kind of call. Must not run anything.

use std::sync::Arc;
use std::time::Instant;

use super::Fault;
use crate::event::{Event, ToolStatus};
use crate::ids::{CallId, ToolName};
use crate::run::RunScope;
use crate::tools::ToolError;

/// Most bytes of arguments that an event repeats.
const SHOWN_ARGUMENTS: usize = 300;

/// A call that has begun and has yet to end.
#[derive(Debug)]
pub(crate) struct CallRecord {
    scope: Arc<RunScope>,
    call_id: CallId,
    tool: ToolName,
    began: Instant,
}

impl CallRecord {
    /// Tells and counts that a call begins. `arguments` is made only where somebody listens.
    pub(crate) fn begin(
        scope: &Arc<RunScope>,
        call_id: CallId,
        tool: ToolName,
        arguments: impl FnOnce() -> String,
    ) -> Self {
        scope.tally.add_tool_call();
        scope.events.emit(|| Event::ToolStart {
            run: scope.id.clone(),
            agent: scope.agent().clone(),
            call_id: call_id.clone(),
            tool: tool.clone(),
            arguments: shortened(&arguments()),
        });
        Self { scope: scope.clone(), call_id, tool, began: Instant::now() }
    }

    /// The span that the call's work belongs to.
    pub(crate) fn span(&self) -> tracing::Span {
        tracing::info_span!("tool_call", tool = %self.tool, call_id = %self.call_id)
    }

    /// Tells and counts how it ended, a fault of the host included.
    pub(crate) fn end_with<T>(self, result: &Result<Result<T, ToolError>, Fault>) {
        match result {
            Ok(Ok(_)) => self.end(None),
            Ok(Err(error)) => self.end(Some(error)),
            Err(fault) => self.end(Some(&ToolError::Failed(fault.to_string()))),
        }
    }

    /// Tells and counts that it ended.
    pub(crate) fn end(self, error: Option<&ToolError>) {
        let status = match error {
            None => ToolStatus::Ok,
            Some(ToolError::Denied(_)) => {
                self.scope.tally.add_denial();
                ToolStatus::Denied
            }
            Some(_) => ToolStatus::Error,
        };
        let Self { scope, call_id, tool, began } = self;
        scope.events.emit(|| Event::ToolEnd {
            run: scope.id.clone(),
            agent: scope.agent().clone(),
            call_id,
            tool,
            status,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            error: error.map(ToString::to_string),
        });
    }
}

/// The head of `text`, cut at a character border and marked where it was cut.
fn shortened(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= SHOWN_ARGUMENTS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

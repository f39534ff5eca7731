//! The executor of ordinary tools: built-in ones and the embedder's own. Never learns of subagents.

use std::sync::Arc;

use async_trait::async_trait;

use super::{CallExecutor, CallRecord, Fault, ToolSet};
use crate::history::ToolCall;
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::run::RunScope;
use crate::tools::ToolError;

/// Executes calls of a [`ToolSet`].
#[derive(Debug)]
pub struct PrimaryExecutor {
    tools: ToolSet,
}

impl PrimaryExecutor {
    /// Over these tools.
    #[must_use]
    pub fn new(tools: ToolSet) -> Self {
        Self { tools }
    }

    /// The tools.
    #[must_use]
    pub fn tools(&self) -> &ToolSet {
        &self.tools
    }

    async fn run(&self, scope: &Arc<RunScope>, call: &ToolCall) -> Result<Result<String, ToolError>, Fault> {
        // A tool that the run was refused is answered with the refusal, one that it never asked
        // for with the list of those it has.
        let (Some(tool), true) = (self.tools.get(&call.name), scope.rights.knows(&call.name)) else {
            return Ok(Err(ToolError::UnknownTool {
                name: call.name.to_string(),
                known: scope.rights.tools().keys().map(ToString::to_string).collect(),
            }));
        };
        let permit = match scope.review(&call.name, call.arguments.clone()).await {
            Ok(permit) => permit,
            Err(error) => return Ok(Err(error)),
        };
        // A task of its own: a panic in a tool ends this run and no other.
        let (tool, context) = (tool.clone(), scope.call_context());
        let task = tokio::spawn(async move { tool.call(permit, &context).await });
        match tokio_util::task::AbortOnDropHandle::new(task).await {
            Ok(result) => Ok(result),
            Err(error) if error.is_cancelled() => Ok(Err(ToolError::Cancelled)),
            Err(error) => Err(Fault::panicked(call.name.clone(), error.into_panic())),
        }
    }
}

#[async_trait]
impl CallExecutor for PrimaryExecutor {
    async fn execute(
        &self,
        scope: &Arc<RunScope>,
        call: &ToolCall,
    ) -> Result<Result<String, ToolError>, Fault> {
        let record = CallRecord::begin(scope, call.id.clone(), call.name.clone(), || {
            call.arguments.as_str().to_owned()
        });
        let result = self.run(scope, call).await;
        match &result {
            Ok(Ok(_)) => record.end(None),
            Ok(Err(error)) => record.end(Some(error)),
            Err(fault) => record.end(Some(&ToolError::Failed(fault.to_string()))),
        }
        result
    }

    fn descriptions(&self, scope: &RunScope) -> Vec<ToolDescription> {
        scope.rights.tools().keys().filter_map(|name| self.description(name)).collect()
    }

    fn description(&self, tool: &ToolName) -> Option<ToolDescription> {
        self.tools.get(tool).map(|tool| tool.description().clone())
    }
}

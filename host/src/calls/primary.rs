//! The executor of ordinary tools: built-in ones and the embedder's own. Never learns of subagents.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Instrument as _;

use super::{CallExecutor, CallRecord, Fault, ToolSet};
use crate::governance::{Permit, Rights};
use crate::history::{Arguments, ToolCall};
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::run::RunScope;
use crate::tools::{Tool, ToolError};

/// Executes calls of a [`ToolSet`].
#[derive(Debug)]
pub struct PrimaryExecutor {
    tools: ToolSet,
    /// What answers a delegation that was refused or failed, by the name of its tool.
    fallbacks: ToolSet,
}

impl PrimaryExecutor {
    /// Over these tools.
    #[must_use]
    pub fn new(tools: ToolSet) -> Self {
        Self { tools, fallbacks: ToolSet::default() }
    }

    /// Takes these in as what refused and failed delegations of their names fall back to. No model calls them
    /// otherwise.
    #[must_use]
    pub fn fallbacks(mut self, fallbacks: ToolSet) -> Self {
        self.fallbacks = fallbacks;
        self
    }

    /// True where a delegation by this tool has something to fall back to.
    #[must_use]
    pub fn has_fallback(&self, tool: &ToolName) -> bool {
        self.fallbacks.get(tool).is_some()
    }

    /// Runs the call of a delegation that fell back, under a review of its own.
    ///
    /// # Errors
    /// The inner error is a result that the model reads; a [`Fault`] ends the run.
    pub async fn fall_back(
        &self,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        why: &str,
    ) -> Result<Result<String, ToolError>, Fault> {
        let Some(tool) = self.fallbacks.get(&call.name) else {
            return Ok(Err(ToolError::Failed(format!(
                "handoff unavailable: {why}; and no ordinary tool is called `{}`: do the work yourself or with other tools",
                call.name
            ))));
        };
        let record = CallRecord::begin(scope, call.id.clone(), call.name.clone(), || {
            call.arguments.as_str().to_owned()
        });
        let review = scope.review_fallback(&call.name, tool.effect(), call.arguments.clone()).await;
        let result = match review {
            Ok(permit) => act(tool.clone(), permit, scope).await,
            Err(error) => Ok(Err(error)),
        };
        record.end_with(&result);
        result
    }

    /// How one of the tools reads to a run with these rights.
    #[must_use]
    pub fn description_under(&self, tool: &ToolName, rights: &Rights) -> Option<ToolDescription> {
        self.tools.get(tool).map(|tool| tool.description_under(rights).clone())
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
        act(tool.clone(), permit, scope).await
    }
}

/// Runs a tool in a task of its own: a panic in it ends this run and no other.
async fn act(
    tool: Arc<dyn Tool>,
    permit: Permit<Arguments>,
    scope: &RunScope,
) -> Result<Result<String, ToolError>, Fault> {
    let (name, context) = (permit.tool().clone(), scope.call_context());
    let task = tokio::spawn(async move { tool.call(permit, &context).await }.in_current_span());
    match tokio_util::task::AbortOnDropHandle::new(task).await {
        Ok(result) => Ok(result),
        Err(error) if error.is_cancelled() => Ok(Err(ToolError::Cancelled)),
        Err(error) => Err(Fault::panicked(name, error.into_panic())),
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
        let span = record.span();
        let result = self.run(scope, call).instrument(span).await;
        record.end_with(&result);
        result
    }

    fn descriptions(&self, scope: &RunScope) -> Vec<ToolDescription> {
        scope.rights.tools().keys().filter_map(|name| self.description_under(name, &scope.rights)).collect()
    }

    fn description(&self, tool: &ToolName) -> Option<ToolDescription> {
        self.tools.get(tool).map(|tool| tool.description().clone())
    }
}

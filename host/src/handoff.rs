//! One delegation: the call, the review, the run in the sandbox, the result, and the events of it.
//! The executor takes only calls of subagents and passes every other call on untouched. Must not make rights
//! or read policies: both are governance's.

mod input;
mod registry;
mod result;

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

pub use input::{TaskInput, resolve_input};
pub use registry::{Registry, RegistryError};
pub use result::result_for_parent;

use crate::calls::{CallExecutor, Fault, PrimaryExecutor};
use crate::event::{Event, HandoffEnd, RunStatus};
use crate::governance::{Rights, Rule, Verdict};
use crate::history::{History, ToolCall};
use crate::ids::{HandoffId, RunId, ToolName};
use crate::model::ToolDescription;
use crate::run::{RunScope, Tally};
use crate::sandbox::{ComponentError, Guest, GuestReport, Sandbox};
use crate::subagent::Subagent;
use crate::tools::{Builtins, ToolError};

/// Executes calls of subagents, and passes the rest on.
#[derive(Debug)]
pub struct HandoffExecutor {
    registry: Registry,
    primary: PrimaryExecutor,
    sandbox: Arc<Sandbox>,
    builtins: Builtins,
}

impl HandoffExecutor {
    /// Over these subagents, with `primary` for every other tool.
    #[must_use]
    pub fn new(
        registry: Registry,
        primary: PrimaryExecutor,
        sandbox: Arc<Sandbox>,
        builtins: Builtins,
    ) -> Self {
        Self { registry, primary, sandbox, builtins }
    }

    /// The subagents.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The tools that are not subagents.
    #[must_use]
    pub fn primary(&self) -> &PrimaryExecutor {
        &self.primary
    }

    /// One delegation from admission to its result.
    async fn hand_off(
        self: Arc<Self>,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        subagent: &Subagent,
    ) -> Result<String, ToolError> {
        let input = resolve_input(call.arguments.as_str());
        input.check()?;
        let rights = self.rights(scope, call, subagent)?;
        let permit = scope.review(&call.name, call.name.clone()).await?;
        let child = Arc::new(RunScope {
            id: RunId::fresh(),
            parent: Some(scope.id.clone()),
            task: input.text.as_str().into(),
            rights,
            governance: scope.governance.clone(),
            model: scope.model.clone(),
            workspace: scope.workspace.clone(),
            events: scope.events.clone(),
            cancel: scope.cancel.child_token(),
            tool_limits: scope.tool_limits,
            max_turns: subagent.max_turns,
            parallel_tool_calls: scope.parallel_tool_calls,
            tally: Tally::default(),
        });
        // Whoever stops waiting for the delegation stops it.
        let _stops = child.cancel.clone().drop_guard();
        let handoff = Handoff::begin(scope, call, subagent, &child);
        let guest = Guest {
            component: subagent.component.clone(),
            scope: child.clone(),
            handed: self.handed(&child, subagent),
            executor: Arc::new(self.clone()),
            builtins: self.builtins.clone(),
            instructions: subagent.instructions.clone(),
            history: Arc::new(tokio::sync::Mutex::new(History::new())),
            limits: subagent.limits,
        };
        let report = match self.sandbox.run(permit, guest).await {
            Ok(report) => report,
            Err(error) => {
                handoff.refused(&error);
                return Err(ToolError::Failed(format!("subagent `{}` did not run: {error}", subagent.name)));
            }
        };
        scope.tally.add_subtree_usage(child.tally.tree_usage());
        handoff.end(&report);
        result_for_parent(subagent, &report.outcome, child.tally.turns(), &input)
    }

    /// The one place where what a delegated run may do is asked for: declaration ∩ the delegating run's
    /// rights ∩ policy.
    fn rights(
        &self,
        scope: &RunScope,
        call: &ToolCall,
        subagent: &Subagent,
    ) -> Result<Arc<Rights>, ToolError> {
        let rights = scope.governance.subagent_rights(subagent.name.clone(), &subagent.tools, &scope.rights);
        rights.map_err(|error| {
            let why = format!("subagent `{}` did not run: {error}", subagent.name);
            scope.tally.add_denial();
            denied(scope, call, subagent, &why);
            ToolError::Failed(why)
        })
    }

    /// What reaches the guest as handles: what it holds and does not import as a function of its own.
    fn handed(&self, child: &RunScope, subagent: &Subagent) -> Vec<ToolDescription> {
        let imported = subagent.component.imported_tools();
        let mut handed = self.visible(child);
        handed.retain(|tool| !imported.contains(&tool.name));
        handed
    }

    /// The tools that a run may call, as its model reads them. Delegations deeper than the policy allows are
    /// not offered at all.
    fn visible(&self, scope: &RunScope) -> Vec<ToolDescription> {
        let tools = scope.rights.tools().keys();
        tools
            .filter(|name| !matches!(scope.governance.verdict(&scope.rights, name), Verdict::Deny(denial) if matches!(denial.rule, Rule::TooDeep { .. })))
            .filter_map(|name| self.registry.description(name).or_else(|| self.primary.description(name)))
            .collect()
    }
}

#[async_trait]
impl CallExecutor for Arc<HandoffExecutor> {
    async fn execute(
        &self,
        scope: &Arc<RunScope>,
        call: &ToolCall,
    ) -> Result<Result<String, ToolError>, Fault> {
        let Some(subagent) = self.registry.get(&call.name).filter(|_| scope.rights.knows(&call.name)) else {
            return self.primary.execute(scope, call).await;
        };
        scope.tally.add_tool_call();
        let result = self.clone().hand_off(scope, call, subagent).await;
        if let Err(ToolError::Denied(denial)) = &result {
            scope.tally.add_denial();
            denied(scope, call, subagent, &denial.to_string());
        }
        Ok(result)
    }

    fn descriptions(&self, scope: &RunScope) -> Vec<ToolDescription> {
        self.visible(scope)
    }

    fn description(&self, tool: &ToolName) -> Option<ToolDescription> {
        self.registry.description(tool).or_else(|| self.primary.description(tool))
    }
}

/// A delegation that has begun: what its events and its record are made from.
struct Handoff {
    id: HandoffId,
    began: Instant,
    call: ToolCall,
    subagent: Subagent,
    parent: Arc<RunScope>,
    child: Arc<RunScope>,
}

impl Handoff {
    fn begin(parent: &Arc<RunScope>, call: &ToolCall, subagent: &Subagent, child: &Arc<RunScope>) -> Self {
        let id = HandoffId::fresh();
        parent.events.emit(|| Event::HandoffStart {
            handoff_id: id.clone(),
            run: parent.id.clone(),
            call_id: call.id.clone(),
            tool: call.name.clone(),
            subagent: subagent.name.clone(),
            depth: child.rights.depth(),
        });
        child.events.emit(|| Event::RunStart {
            run: child.id.clone(),
            parent: child.parent.clone(),
            agent: child.agent().clone(),
            depth: child.rights.depth(),
            task: child.task.to_string(),
        });
        Self {
            id,
            began: Instant::now(),
            call: call.clone(),
            subagent: subagent.clone(),
            parent: parent.clone(),
            child: child.clone(),
        }
    }

    fn refused(self, error: &ComponentError) {
        let status = match error {
            ComponentError::NotGranted { .. } => RunStatus::Denied,
            _ => RunStatus::Failed,
        };
        self.tell(status, None, Some(error.to_string()), 0, 0);
    }

    fn end(self, report: &GuestReport) {
        let outcome = &report.outcome;
        let output = outcome.text().map(str::to_owned);
        let error = outcome.error().map(ToString::to_string);
        self.tell(outcome.status(), output, error, report.fuel, report.peak_memory);
    }

    fn tell(
        self,
        status: RunStatus,
        output: Option<String>,
        error: Option<String>,
        fuel: u64,
        peak_memory: u64,
    ) {
        let Self { id, began, call, subagent, parent, child } = self;
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        child.events.emit(|| Event::RunEnd {
            run: child.id.clone(),
            agent: child.agent().clone(),
            status,
            turns: child.tally.turns(),
            usage: child.tally.own_usage(),
            duration_ms,
            error: error.clone(),
        });
        let end = HandoffEnd {
            handoff_id: id,
            run: parent.id.clone(),
            call_id: call.id,
            tool: call.name,
            subagent: subagent.name,
            status,
            depth: child.rights.depth(),
            attempts: 1,
            duration_ms,
            output,
            error,
            turns: child.tally.turns(),
            usage: child.tally.tree_usage(),
            tool_calls: child.tally.tool_calls(),
            denials: child.tally.denials(),
            fuel,
            peak_memory,
        };
        parent.tally.add_handoff(end.clone());
        parent.events.emit(|| Event::HandoffEnd(end));
    }
}

/// Records a delegation that governance refused before there was a run.
fn denied(scope: &RunScope, call: &ToolCall, subagent: &Subagent, why: &str) {
    let end = HandoffEnd {
        handoff_id: HandoffId::fresh(),
        run: scope.id.clone(),
        call_id: call.id.clone(),
        tool: call.name.clone(),
        subagent: subagent.name.clone(),
        status: RunStatus::Denied,
        depth: scope.rights.depth().saturating_add(1),
        attempts: 0,
        duration_ms: 0,
        output: None,
        error: Some(why.to_owned()),
        turns: 0,
        usage: crate::usage::Usage::default(),
        tool_calls: 0,
        denials: 0,
        fuel: 0,
        peak_memory: 0,
    };
    scope.tally.add_handoff(end.clone());
    scope.events.emit(|| Event::HandoffStart {
        handoff_id: end.handoff_id.clone(),
        run: end.run.clone(),
        call_id: end.call_id.clone(),
        tool: end.tool.clone(),
        subagent: end.subagent.clone(),
        depth: end.depth,
    });
    scope.events.emit(|| Event::HandoffEnd(end));
}

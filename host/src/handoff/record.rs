//! The record of one delegation: its events, and the sums over its attempts. Each that begins also ends, even where
//! whoever waits for it goes away. Must not decide how it ends.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::way::Way;
use super::worktree;
use crate::event::{Event, HandoffEnd, HandoffStatus, RunStatus};
use crate::governance::Rights;
use crate::history::ToolCall;
use crate::ids::{HandoffId, SessionId};
use crate::run::RunScope;
use crate::sandbox::GuestReport;
use crate::subagent::Subagent;
use crate::usage::Usage;
use crate::workspace::Left;
use crate::worktree::WorktreeError;

/// A delegation that has begun.
#[derive(Debug)]
pub(super) struct Handoff {
    pub(super) id: HandoffId,
    pub(super) subagent: Arc<Subagent>,
    pub(super) parent: Arc<RunScope>,
    pub(super) way: Way,
    call: ToolCall,
    began: Instant,
    sum: Sum,
    span: tracing::Span,
    told: bool,
}

/// What all attempts of a delegation used.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) attempts: u32,
    pub(super) turns: u32,
    pub(super) tool_calls: u64,
    pub(super) session: Option<SessionId>,
    /// What was asked for and not given, as people read it.
    pub(super) cut: Vec<String>,
    /// What is told of its worktree, where it has one.
    pub(super) worktree: Option<Value>,
    depth: u32,
    usage: Usage,
    denials: u64,
    fuel: u64,
    peak_memory: u64,
    end: Option<RunStatus>,
}

impl Handoff {
    pub(super) fn begin(parent: &Arc<RunScope>, call: &ToolCall, subagent: &Arc<Subagent>, way: Way) -> Self {
        let id = HandoffId::fresh();
        let span = tracing::Span::current();
        span.record("handoff_id", id.as_str());
        let depth = parent.rights.depth().saturating_add(1);
        parent.events.emit(|| Event::HandoffStart {
            handoff_id: id.clone(),
            run: parent.id.clone(),
            call_id: call.id.clone(),
            tool: call.name.clone(),
            subagent: subagent.name().clone(),
            depth,
            session_mode: subagent.session_mode,
            task_id: way.task_id(),
        });
        Self {
            id,
            subagent: subagent.clone(),
            parent: parent.clone(),
            way,
            call: call.clone(),
            began: Instant::now(),
            sum: Sum { depth, ..Sum::default() },
            span,
            told: false,
        }
    }

    pub(super) fn call(&self) -> &ToolCall {
        &self.call
    }

    pub(super) fn sum(&self) -> &Sum {
        &self.sum
    }

    /// What its runs may do is settled.
    pub(super) fn granted(&mut self, rights: &Rights, session: &SessionId) {
        self.sum.depth = rights.depth();
        self.sum.cut = rights.cut().iter().map(ToString::to_string).collect();
        self.sum.session = Some(session.clone());
    }

    /// Its directory is not used any more.
    pub(super) fn left(&mut self, left: &Result<Option<Left>, WorktreeError>) {
        self.sum.worktree = worktree::told(left, self.parent.result_cap.0 / 4);
    }

    /// An attempt begins with this run.
    pub(super) fn attempt<'a>(&'a mut self, child: &Arc<RunScope>) -> Attempt<'a> {
        self.sum.attempts = self.sum.attempts.saturating_add(1);
        child.events.emit(|| Event::RunStart {
            run: child.id.clone(),
            parent: child.parent.clone(),
            agent: child.agent().clone(),
            depth: child.rights.depth(),
            task: child.task.to_string(),
        });
        Attempt { handoff: self, child: child.clone(), ended: false }
    }

    /// The delegation ended.
    pub(super) fn end(
        mut self,
        status: HandoffStatus,
        output: Option<String>,
        error: Option<String>,
    ) -> HandoffEnd {
        self.tell(status, output, error)
    }

    fn tell(&mut self, status: HandoffStatus, output: Option<String>, error: Option<String>) -> HandoffEnd {
        self.told = true;
        self.span.record("status", tracing::field::display(status)).record("attempts", self.sum.attempts);
        let (parent, sum) = (&self.parent, &self.sum);
        let end = HandoffEnd {
            handoff_id: self.id.clone(),
            run: parent.id.clone(),
            call_id: self.call.id.clone(),
            tool: self.call.name.clone(),
            subagent: self.subagent.name().clone(),
            status,
            end: sum.end,
            depth: sum.depth,
            session_mode: self.subagent.session_mode,
            session_id: sum.session.clone(),
            attempts: sum.attempts,
            duration_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            output,
            error,
            turns: sum.turns,
            usage: sum.usage,
            tool_calls: sum.tool_calls,
            denials: sum.denials,
            fuel: sum.fuel,
            peak_memory: sum.peak_memory,
            cut: sum.cut.clone(),
            task_id: self.way.task_id(),
            worktree: sum.worktree.as_ref().and_then(|told| Some(told.get("id")?.as_str()?.to_owned())),
        };
        parent.tally.add_handoff(end.clone());
        parent.events.emit(|| Event::HandoffEnd(end.clone()));
        end
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        if !self.told {
            self.tell(HandoffStatus::Cancelled, None, Some("whoever waited for it went away".to_owned()));
        }
    }
}

/// One attempt of a delegation.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    handoff: &'a mut Handoff,
    child: Arc<RunScope>,
    ended: bool,
}

impl Attempt<'_> {
    /// The attempt's run ended.
    pub(super) fn end(mut self, report: &GuestReport) {
        let sum = &mut self.handoff.sum;
        sum.fuel = sum.fuel.saturating_add(report.fuel);
        sum.peak_memory = sum.peak_memory.max(report.peak_memory);
        self.tell(report.outcome.status(), report.outcome.error().map(ToString::to_string));
    }

    /// The attempt's run did not begin.
    pub(super) fn not_begun(mut self, error: &str) {
        self.tell(RunStatus::Failed, Some(error.to_owned()));
    }

    fn tell(&mut self, status: RunStatus, error: Option<String>) {
        self.ended = true;
        let (child, tally, sum) = (&self.child, &self.child.tally, &mut self.handoff.sum);
        sum.turns = sum.turns.saturating_add(tally.turns());
        sum.tool_calls = sum.tool_calls.saturating_add(tally.tool_calls());
        sum.denials = sum.denials.saturating_add(tally.denials());
        sum.usage += tally.tree_usage();
        sum.end = Some(status);
        self.handoff.parent.tally.add_subtree_usage(tally.tree_usage());
        child.events.emit(|| Event::RunEnd {
            run: child.id.clone(),
            agent: child.agent().clone(),
            status,
            turns: tally.turns(),
            usage: tally.own_usage(),
            duration_ms: tally.elapsed_ms(),
            error,
        });
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.tell(RunStatus::Cancelled, Some("whoever waited for it went away".to_owned()));
        }
    }
}

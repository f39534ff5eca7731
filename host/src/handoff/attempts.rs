//! From an admitted call to the end of its last attempt. An attempt is dead before the next one starts: the sandbox
//! returns once nothing of a run is left. Must not decide what an end leads to.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::record::Handoff;
use super::{Ended, HandoffExecutor, TaskInput, resolve_input};
use crate::calls::CallExecutor as _;
use crate::event::SessionMode;
use crate::governance::{Admission, Rights, Rule, SessionRights, Verdict};
use crate::history::{History, ToolCall};
use crate::ids::{RunId, SessionId};
use crate::run::{RunScope, Tally};
use crate::sandbox::{ComponentError, EndCause, Guest, GuestLimits, Outcome};
use crate::session::{EnterError, Entered, SessionKey, StoredSession};
use crate::tools::{BackgroundCommands, ToolError};
use crate::workspace::Opened;

/// What every attempt of a delegation shares.
struct Plan {
    task: Arc<str>,
    note: Option<String>,
    rights: Arc<Rights>,
    directory: Opened,
    conversation: Conversation,
}

/// The conversation that a delegation speaks in.
struct Conversation {
    id: SessionId,
    history: Arc<Mutex<History>>,
    /// The turn on it, where it is one that others continue.
    entered: Option<Entered>,
}

impl HandoffExecutor {
    pub(super) async fn carry_out(self: &Arc<Self>, handoff: &mut Handoff) -> Ended {
        match self.admitted(handoff).await {
            Ok((mut plan, mut admission)) => {
                let ended = self.attempts(handoff, &mut plan, &mut admission).await;
                // Nothing of the delegation runs any more: what it did in a directory of its own can be told.
                let cap = handoff.parent.result_cap.0 / 4;
                handoff.left(&plan.directory.end(cap).await);
                ended
            }
            Err(ended) => ended,
        }
    }

    /// All that can be refused before anything runs, in this order: the rules, the task, a person's word, the
    /// conversation, the rights.
    async fn admitted(&self, handoff: &mut Handoff) -> Result<(Plan, Admission), Ended> {
        let parent = handoff.parent.clone();
        let call = handoff.call().clone();
        if let Verdict::Deny(denial) = parent.governance.verdict(&parent.rights, &call.name) {
            return Err(Ended::Denied(denial.into()));
        }
        let filtered = parent.governance.handoff_policy().filtered(&call).map_err(|panicked| {
            // An error inside a rule is a denial.
            Ended::Denied(ToolError::Failed(panicked.to_string()))
        })?;
        let input = resolve_input(filtered.arguments.as_str());
        input.check().map_err(Ended::Told)?;
        let stopped = handoff.way.cancel.clone();
        let admission = tokio::select! {
            biased;
            () = stopped.cancelled() => return Err(Ended::Cancelled),
            admission = parent.admit(&call.name, &filtered.arguments) => admission.map_err(ended_by)?,
        };
        let plan = tokio::select! {
            biased;
            () = stopped.cancelled() => return Err(Ended::Cancelled),
            plan = self.prepare(handoff, &call, &input) => plan?,
        };
        Ok((plan, admission))
    }

    /// Takes the turn on the conversation, and settles the rights.
    async fn prepare(
        &self,
        handoff: &mut Handoff,
        call: &ToolCall,
        input: &TaskInput,
    ) -> Result<Plan, Ended> {
        let (parent, subagent) = (handoff.parent.clone(), handoff.subagent.clone());
        let entered = match (&handoff.way.session, subagent.session_mode) {
            (Some((key, _)), _) => Some(self.enter(&parent, call, key.clone()).await?),
            (None, SessionMode::Fresh) => None,
            (None, SessionMode::Reuse) => {
                let key = SessionKey { tool: call.name.clone(), user: parent.user.clone() };
                Some(self.enter(&parent, call, key).await?)
            }
        };
        let stored = entered.as_ref().and_then(Entered::session);
        let begun_with = stored.map(|session| SessionRights {
            session: session.id.clone(),
            depth: session.depth,
            tools: session.tools.clone(),
        });
        let rights = parent
            .governance
            .subagent_rights(&subagent.declaration, &parent.rights, begun_with.as_ref())
            .map_err(|error| not_run(handoff, &error))?;
        subagent.component.check(&rights).map_err(|error| not_run(handoff, &error))?;
        let directory = subagent
            .workspace
            .open(subagent.name().as_str(), &parent.workspace)
            .await
            .map_err(|error| Ended::Broken(error.to_string()))?;
        let history = stored.map_or_else(History::new, |session| session.history.clone());
        let begun = || handoff.way.session.as_ref().map_or_else(SessionId::fresh_sub, |(_, id)| id.clone());
        let id = stored.map_or_else(begun, |session| session.id.clone());
        handoff.granted(&rights, &id);
        let mut history = history.capped_at(parent.result_cap);
        history.begin_run();
        let history = Arc::new(Mutex::new(history));
        let conversation = Conversation { id, history, entered };
        Ok(Plan { task: input.text.as_str().into(), note: input.note(), rights, directory, conversation })
    }

    /// Waits for the turn on the conversation that the call continues.
    async fn enter(&self, parent: &RunScope, call: &ToolCall, key: SessionKey) -> Result<Entered, Ended> {
        self.sessions.enter(key, &parent.open_sessions).await.map_err(|error| match error {
            EnterError::IsOpen => {
                Ended::Denied(ToolError::Denied(parent.rights.denial(&call.name, Rule::SessionIsOpen)))
            }
            EnterError::Store(error) => Ended::Broken(error.to_string()),
        })
    }

    /// Attempt after attempt, until one is not to be made again or none is left.
    async fn attempts(
        self: &Arc<Self>,
        handoff: &mut Handoff,
        plan: &mut Plan,
        admission: &mut Admission,
    ) -> Ended {
        let parent = handoff.parent.clone();
        let mut last = None;
        while let Some(permit) = admission.attempt() {
            if let Err(spent) = parent.purse.draw_run(plan.rights.depth()) {
                return last.unwrap_or(Ended::Told(ToolError::BudgetSpent(format!(
                    "{spent}; go on without delegating"
                ))));
            }
            let seat = tokio::select! {
                biased;
                () = handoff.way.cancel.cancelled() => return Ended::Cancelled,
                seat = parent.purse.slots().seat() => seat,
            };
            if let Some(task) = &handoff.way.task
                && last.is_none()
                && let Err(error) = task.begins().await
            {
                return Ended::Broken(error.to_string());
            }
            let child = Arc::new(self.child(handoff, plan, seat));
            // Whoever stops waiting for the delegation stops it.
            let _stops = child.cancel.clone().drop_guard();
            let guest = self.guest(handoff, plan, &child);
            let attempt = handoff.attempt(&child);
            // From here on something runs, and what it does could be done twice.
            parent.tally.note_side_effect(permit.tool());
            let report = self.sandbox.run(permit, guest).await;
            child.background.end().await;
            let report = match report {
                Ok(report) => report,
                Err(error) => {
                    // What does not compile or link does not do so the second time either.
                    attempt.not_begun(&error.to_string());
                    return not_run_after_all(handoff, &error);
                }
            };
            // What the run left working ends with it.
            child.tasks.end().await;
            attempt.end(&report);
            let mut again = admission.left() > 0 && is_worth_another(&report.outcome);
            let mut note = plan.note.clone();
            if let Some(tool) = child.tally.side_effect().filter(|_| again) {
                again = parent.governance.handoff_policy().retry_after_side_effects;
                if !again {
                    note = Some(not_again(&tool));
                }
            }
            if let Err(error) = plan.conversation.keep(&child).await {
                // What the attempt found is not lost with what could not be kept of it.
                note = Some(format!("the conversation is not kept: {error}"));
                again = false;
            }
            let ended = Ended::Ran(report.outcome, note);
            if !again {
                return ended;
            }
            last = Some(ended);
        }
        last.unwrap_or(Ended::Cancelled)
    }

    /// The run of one attempt.
    fn child(&self, handoff: &Handoff, plan: &Plan, seat: crate::governance::Seat) -> RunScope {
        let parent = &handoff.parent;
        let cancel = handoff.way.cancel.child_token();
        let open = plan.conversation.entered.as_ref().map(|entered| entered.key().clone());
        RunScope {
            id: RunId::fresh(),
            parent: Some(parent.id.clone()),
            task: plan.task.clone(),
            rights: plan.rights.clone(),
            governance: parent.governance.clone(),
            model: handoff.subagent.model.as_ref().unwrap_or(&parent.model).clone(),
            workspace: plan.directory.workspace().clone(),
            events: parent.events.clone(),
            background: BackgroundCommands::within(&cancel),
            cancel,
            tool_limits: parent.tool_limits,
            max_turns: handoff.subagent.max_turns.unwrap_or(self.max_turns),
            parallel_tool_calls: parent.parallel_tool_calls,
            user: parent.user.clone(),
            purse: parent.purse.clone(),
            seat,
            session: plan.conversation.id.clone(),
            open_sessions: parent.open_sessions.iter().cloned().chain(open).collect(),
            result_cap: parent.result_cap,
            tasks: parent.tasks.below(
                plan.conversation.id.clone(),
                handoff.way.task.as_ref(),
                plan.conversation.is_continued(),
            ),
            tally: Tally::default(),
        }
    }

    fn guest(self: &Arc<Self>, handoff: &Handoff, plan: &Plan, child: &Arc<RunScope>) -> Guest {
        let subagent = &handoff.subagent;
        // What it holds and does not import as a function of its own reaches it as a handle.
        let imported = subagent.component.imported_tools();
        let mut handed = self.descriptions(child);
        handed.retain(|tool| !imported.contains(&tool.name));
        let timeout = child.governance.handoff_policy().timeout;
        let time = [timeout, subagent.limits.time].into_iter().flatten().min();
        Guest {
            component: subagent.component.clone(),
            scope: child.clone(),
            executor: Arc::new(self.clone()),
            builtins: self.builtins.clone(),
            handed,
            instructions: subagent.instructions.clone(),
            history: plan.conversation.history.clone(),
            limits: GuestLimits { time, ..subagent.limits },
        }
    }
}

impl Conversation {
    /// True where it was begun before.
    fn is_continued(&self) -> bool {
        self.entered.as_ref().is_some_and(|entered| entered.session().is_some())
    }

    /// Makes the conversation ready for whoever continues it: kept with what it was begun with, or, where nobody
    /// will continue it, begun anew.
    async fn keep(&mut self, child: &RunScope) -> Result<(), crate::session::SessionError> {
        let Some(entered) = &mut self.entered else {
            self.history = Arc::new(Mutex::new(History::new().capped_at(child.result_cap)));
            return Ok(());
        };
        let mut history = self.history.lock().await;
        history.close_open_calls();
        let begun = entered.session();
        let session = StoredSession {
            id: self.id.clone(),
            key: entered.key().clone(),
            depth: begun.map_or(child.rights.depth(), |session| session.depth),
            tools: begun.map_or_else(|| held(&child.rights), |session| session.tools.clone()),
            history: history.clone(),
        };
        drop(history);
        entered.save(session).await
    }
}

fn held(rights: &Rights) -> BTreeSet<crate::ids::ToolName> {
    rights.tools().keys().cloned().collect()
}

/// How a review's refusal ends a delegation.
fn ended_by(error: ToolError) -> Ended {
    match error {
        ToolError::Denied(_) => Ended::Denied(error),
        ToolError::Cancelled => Ended::Cancelled,
        error => Ended::Told(error),
    }
}

/// That governance leaves a subagent nothing to run with.
fn not_run(handoff: &Handoff, error: &impl ToString) -> Ended {
    let name = handoff.subagent.name();
    Ended::Denied(ToolError::Failed(format!("subagent `{name}` did not run: {}", error.to_string())))
}

fn not_run_after_all(handoff: &Handoff, error: &ComponentError) -> Ended {
    match error {
        ComponentError::NotGranted { .. } => not_run(handoff, error),
        error => Ended::Broken(error.to_string()),
    }
}

/// True where another attempt may end better: not after an answer, a limit or a stop.
fn is_worth_another(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answered { .. } => false,
        Outcome::Stopped { cause, .. } => !cause.is_a_limit() && *cause != EndCause::Cancelled,
    }
}

fn not_again(tool: &crate::ids::ToolName) -> String {
    format!(
        "not tried again: it had used `{tool}`, and what that did could be done twice (the setting is `handoff.retry_after_side_effects`)"
    )
}

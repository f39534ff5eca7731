//! One model turn of a run, parent's or subagent's: limits, events and counts around the call to the model, and what ended
//! in the background before it. Must not look at what the model asked for.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument as _;

use crate::event::Event;
use crate::governance::Spent;
use crate::history::{History, Message};
use crate::model::{ModelError, StopReason, ToolDescription, Turn, TurnObserver, TurnRequest};
use crate::run::{Limit, RunScope};
use crate::usage::Usage;

/// How often in a row an answer is held back without a task having ended meanwhile, each time twice as long as before.
const HELD_BACK: u32 = 8;
/// How long the first answer is held back where no task ends.
const FIRST_WAIT: Duration = Duration::from_secs(15);

/// Why a run got no turn.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum TurnError {
    /// The run's turns are spent.
    #[error("the limit of {0} model turns is reached; the setting is `max_turns`")]
    TurnLimit(u32),
    /// The budget of the whole tree is spent.
    #[error(transparent)]
    Spent(#[from] Spent),
    /// The model wants to end and its tasks do not.
    #[error(
        "{0} background tasks were still running after the answer had been held back {HELD_BACK} times; they were stopped"
    )]
    TasksRunning(u64),
    /// The model gave none.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Takes turns over `history` until one is to be acted on: a turn that makes calls, or an answer of a run whose
/// background tasks have all ended and were all told to it. What ended before a turn stands in the history before it.
///
/// # Errors
/// [`TurnError`]. Answers that were held back stay in the history.
pub(crate) async fn next_turn(
    scope: &Arc<RunScope>,
    system: &str,
    history: &mut History,
    tools: &[ToolDescription],
) -> Result<Turn, TurnError> {
    let mut held_back = 0;
    loop {
        if let Err(error) = scope.tasks.drain(history, scope.result_cap).await {
            warn(scope, &format!("results of background tasks stay for a later turn: {error}"));
        }
        let turn = match scope.tasks.summary().await {
            None => take_turn(scope, system, history, tools).await?,
            Some(summary) => take_turn(scope, &format!("{system}{summary}"), history, tools).await?,
        };
        let ends = turn.message.calls().next().is_none() && turn.stop != StopReason::Refused;
        let outstanding = match scope.tasks.outstanding(history).await {
            _ if !ends => return Ok(turn),
            Ok(outstanding) if outstanding.is_nothing() => return Ok(turn),
            Ok(outstanding) => outstanding,
            Err(error) => {
                warn(scope, &format!("it is not known whether background tasks are running: {error}"));
                return Ok(turn);
            }
        };
        if held_back >= HELD_BACK {
            return Err(TurnError::TasksRunning(outstanding.running));
        }
        // A run that ends here would leave results that reach nobody.
        if !turn.message.text().trim().is_empty() {
            history.push(Message::Assistant(turn.message));
        }
        history.push(Message::user(reminder(outstanding.running)));
        let deadline = Instant::now() + FIRST_WAIT.saturating_mul(1 << held_back);
        let waited = scope.while_waiting(scope.tasks.wait_for_an_end(deadline));
        let ended = tokio::select! {
            biased;
            () = scope.cancel.cancelled() => return Err(ModelError::Cancelled.into()),
            ended = waited => ended,
        };
        held_back = match ended {
            Ok(true) => 0,
            Ok(false) | Err(_) => held_back + 1,
        };
    }
}

fn reminder(running: u64) -> String {
    let tasks = match running {
        0 => "A background task has ended, and its result comes next.".to_owned(),
        1 => "1 background task is still running.".to_owned(),
        more => format!("{more} background tasks are still running."),
    };
    format!(
        "<reminder>{tasks} Your answer was held back: it would leave out what they find. Their results come to you by themselves; then answer. What is not needed any more can be stopped with `task_cancel`.</reminder>"
    )
}

fn warn(scope: &RunScope, message: &str) {
    scope.events.emit(|| Event::Warning { message: message.to_owned() });
}

/// Takes one turn over `history`.
///
/// # Errors
/// [`TurnError`]; no event of an ended turn is told then, and nothing is added to the history.
async fn take_turn(
    scope: &Arc<RunScope>,
    system: &str,
    history: &History,
    tools: &[ToolDescription],
) -> Result<Turn, TurnError> {
    if scope.cancel.is_cancelled() {
        return Err(ModelError::Cancelled.into());
    }
    if scope.tally.turns() >= scope.max_turns {
        scope.tally.met(Limit::Turns(scope.max_turns));
        return Err(TurnError::TurnLimit(scope.max_turns));
    }
    let reserve = scope.purse.draw_turn(estimate(system, history, tools)).inspect_err(|spent| {
        scope.tally.met(Limit::Purse(*spent));
    })?;
    let turn = scope.tally.begin_turn();
    scope.events.emit(|| Event::TurnStart { run: scope.id.clone(), agent: scope.agent().clone(), turn });
    let span = tracing::info_span!("model_turn", agent = %scope.agent(), turn);
    let observer = Observer { scope };
    let request = TurnRequest {
        speaker: scope.agent().as_str(),
        system,
        history,
        tools,
        parallel_tool_calls: scope.parallel_tool_calls,
        cancel: &scope.cancel,
        observer: &observer,
    };
    let taken = scope.model.turn(request).instrument(span).await?;
    reserve.settle(taken.usage);
    scope.tally.add_own_usage(taken.usage);
    scope.tasks.keep_partial(&taken.message.text()).await;
    scope.events.emit(|| Event::TurnEnd {
        run: scope.id.clone(),
        agent: scope.agent().clone(),
        turn,
        calls: taken.message.calls().count(),
        usage: taken.usage,
    });
    Ok(taken)
}

/// Tokens that a turn reads, guessed before it is taken: four bytes are one.
fn estimate(system: &str, history: &History, tools: &[ToolDescription]) -> u64 {
    let tools = tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.len());
    let bytes = tools.sum::<usize>().saturating_add(system.len()).saturating_add(history.bytes());
    Usage::estimate(bytes, 0).total()
}

/// Turns what happens inside a model turn into events.
struct Observer<'a> {
    scope: &'a RunScope,
}

impl TurnObserver for Observer<'_> {
    fn text(&self, delta: &str) {
        self.scope.events.emit(|| Event::Text { run: self.scope.id.clone(), delta: delta.to_owned() });
    }

    fn retry(&self, failures: u32, delay: Duration, error: &ModelError) {
        self.scope.events.emit(|| Event::ModelRetry {
            run: self.scope.id.clone(),
            failures,
            delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            error: error.to_string(),
        });
    }
}

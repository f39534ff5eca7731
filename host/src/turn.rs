//! One model turn of a run, parent's or subagent's: limits, events and counts around the call to the model.
//! Must not look at what the model asked for.

use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use crate::event::Event;
use crate::governance::Spent;
use crate::history::History;
use crate::model::{ModelError, ToolDescription, Turn, TurnObserver, TurnRequest};
use crate::run::{Limit, RunScope};
use crate::usage::Usage;

/// Why a run got no turn.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum TurnError {
    /// The run's turns are spent.
    #[error("the limit of {0} model turns is reached; the setting is `max_turns`")]
    TurnLimit(u32),
    /// The budget of the whole tree is spent.
    #[error(transparent)]
    Spent(#[from] Spent),
    /// The model gave none.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Takes one turn over `history`.
///
/// # Errors
/// [`TurnError`]; no event of an ended turn is told then, and nothing is added to the history.
pub(crate) async fn take_turn(
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

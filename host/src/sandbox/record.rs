//! What the host itself knows of how a run ended, read into an outcome. Must not believe the guest: what it says
//! counts only where the host saw the same.

use wasmtime::Trap;

use super::limits::GuestLimits;
use super::outcome::EndCause;
use crate::bindings::exports::deputy::agent::handler::{Answer, Failure};
use crate::calls::Fault;
use crate::governance::{PursePart, Spent};
use crate::run::{Limit, RunScope};

/// How the guest's code ended, before the host's record is asked why. None: it was dropped where it waited.
pub(super) type CodeEnd = Option<wasmtime::Result<Result<Answer, Failure>>>;

/// What the host saw.
pub(super) struct Record<'a> {
    pub(super) scope: &'a RunScope,
    pub(super) limits: GuestLimits,
    pub(super) fuel_of_the_purse: bool,
    pub(super) timed_out: bool,
    pub(super) memory_refused: bool,
    pub(super) fault: Option<Fault>,
    pub(super) log: &'a str,
}

/// Why a run that was stopped from outside was: the tree's time is over, or somebody stopped it.
pub(super) fn stopped(scope: &RunScope) -> EndCause {
    scope.purse.time_is_over().map_or(EndCause::Cancelled, EndCause::BudgetSpent)
}

impl Record<'_> {
    /// The answer, or why there is none with what the guest said of it.
    pub(super) fn read(self, code: CodeEnd) -> Result<String, (EndCause, Option<String>)> {
        let without = |cause| Err((cause, None));
        match code {
            Some(Ok(Ok(Answer { text, complete: true }))) => Ok(text),
            Some(Ok(Ok(Answer { text, complete: false }))) => {
                let (turns, max_turns) = (self.scope.tally.turns(), self.scope.max_turns);
                let cause = self.limit().unwrap_or(EndCause::AtLimit { turns, max_turns });
                Err((cause, Some(text).filter(|text| !text.trim().is_empty())))
            }
            Some(Ok(Err(Failure::Cancelled))) => {
                // Whether anything stopped it is for the host to say.
                let own =
                    || EndCause::Guest("it says that it was cancelled, and nothing stopped it".to_owned());
                without(self.stop().unwrap_or_else(own))
            }
            // A guest that was refused its next turn and calls that a failure still has what it had.
            Some(Ok(Err(failure))) => without(self.limit().unwrap_or(match failure {
                Failure::Model(text) => EndCause::Model(text),
                Failure::Unable(text) => EndCause::Unable(text),
                Failure::Other(text) => EndCause::Guest(text),
                Failure::Cancelled => EndCause::Cancelled,
            })),
            Some(Err(error)) => {
                let cause = match self.fault {
                    Some(ref fault) if fault.is_of_a_handoff() => EndCause::Handoff(fault.clone()),
                    Some(ref fault) => EndCause::Host(fault.to_string()),
                    None => self.stop().unwrap_or_else(|| self.trapped(&error)),
                };
                without(cause)
            }
            None => without(self.stop().unwrap_or(EndCause::Cancelled)),
        }
    }

    /// The limit at which the run was refused its next turn, if it was.
    fn limit(&self) -> Option<EndCause> {
        Some(match self.scope.tally.limit()? {
            Limit::Turns(max_turns) => EndCause::AtLimit { turns: self.scope.tally.turns(), max_turns },
            Limit::Purse(spent) => EndCause::BudgetSpent(spent),
        })
    }

    /// Whether, and how, the host stopped the run.
    fn stop(&self) -> Option<EndCause> {
        match (self.timed_out, self.limits.time) {
            (true, Some(limit)) => Some(EndCause::TimedOut { limit }),
            _ if self.scope.cancel.is_cancelled() => Some(stopped(self.scope)),
            _ => None,
        }
    }

    fn trapped(&self, error: &wasmtime::Error) -> EndCause {
        if error.downcast_ref::<wasmtime_wasi::I32Exit>().is_some() {
            return EndCause::Exited;
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::OutOfFuel) if self.fuel_of_the_purse => EndCause::BudgetSpent(self.fuel_spent()),
            Some(Trap::OutOfFuel) => EndCause::OutOfFuel { limit: self.limits.fuel },
            // The tick saw the time limit before the timer did.
            Some(Trap::Interrupt) => match self.limits.time {
                Some(limit) => EndCause::TimedOut { limit },
                None => EndCause::Cancelled,
            },
            _ if self.memory_refused => EndCause::OutOfMemory { limit: self.limits.memory },
            Some(trap) => EndCause::Trapped(match self.panic_line() {
                Some(line) => format!("{trap} ({line})"),
                None => trap.to_string(),
            }),
            None => EndCause::Trapped(format!("{error:#}")),
        }
    }

    fn fuel_spent(&self) -> Spent {
        let spent = self.scope.purse.report().fuel;
        Spent { part: PursePart::Fuel, spent, limit: self.scope.purse.limits().fuel.unwrap_or(spent) }
    }

    /// The line in which a Rust guest says why it panicked, if it wrote one. Untrusted text, shortened.
    fn panic_line(&self) -> Option<String> {
        let mut lines = self.log.lines().skip_while(|line| !line.contains("panicked at"));
        let place = lines.next()?;
        let text = format!("{} {}", place.trim(), lines.next().unwrap_or_default().trim());
        Some(text.chars().take(300).collect())
    }
}

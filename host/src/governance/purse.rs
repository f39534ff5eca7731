//! One budget for a whole tree of runs: every run in it draws from the same purse, so nesting never resets a
//! meter. Must not stop anything itself: whoever draws is told that nothing is left.

mod fuel;
mod limits;
mod report;
mod slots;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use fuel::FuelMeter;
pub use limits::{Prices, PurseLimits};
pub use report::{PursePart, PurseReport, Spent};
pub(crate) use slots::{Seat, Slots};

use crate::usage::Usage;

/// The budget of one tree of runs.
#[derive(Debug)]
pub struct Purse {
    limits: PurseLimits,
    prices: Option<Prices>,
    began: Instant,
    spending: Mutex<Spending>,
    slots: Slots,
}

/// What was drawn so far. Only grows, but for reservations.
#[derive(Clone, Copy, Debug, Default)]
struct Spending {
    descendants: u64,
    turns: u64,
    tool_calls: u64,
    usage: Usage,
    reserved_tokens: u64,
    fuel: u64,
    reserved_fuel: u64,
    /// The first part that somebody was refused for.
    spent: Option<Spent>,
}

impl Purse {
    /// A full purse; its time runs from now.
    #[must_use]
    pub fn new(limits: PurseLimits, prices: Option<Prices>) -> Arc<Self> {
        let slots = Slots::new(limits.concurrent_runs);
        Arc::new(Self { limits, prices, began: Instant::now(), spending: Mutex::default(), slots })
    }

    /// What it held at first.
    #[must_use]
    pub fn limits(&self) -> &PurseLimits {
        &self.limits
    }

    /// Draws one run at `depth`.
    ///
    /// # Errors
    /// [`Spent`] where the tree is as large, as deep or as old as it may be; nothing is drawn then.
    pub fn draw_run(&self, depth: u32) -> Result<(), Spent> {
        let mut spending = self.lock();
        self.check_age_and_sums(&mut spending)?;
        let most = self.limits.depth.map(u64::from);
        refuse_past(&mut spending, PursePart::Depth, u64::from(depth).saturating_sub(1), most)?;
        let (is, most) = (spending.descendants, u64::from(self.limits.descendants));
        refuse_past(&mut spending, PursePart::Descendants, is, Some(most))?;
        spending.descendants = is.saturating_add(1);
        Ok(())
    }

    /// Refuses where a run could not be drawn now; draws nothing.
    ///
    /// # Errors
    /// [`Spent`] where the tree is as large or as old as it may be.
    pub fn room_for_a_run(&self) -> Result<(), Spent> {
        let mut spending = self.lock();
        self.check_age_and_sums(&mut spending)?;
        let (is, most) = (spending.descendants, u64::from(self.limits.descendants));
        refuse_past(&mut spending, PursePart::Descendants, is, Some(most))
    }

    /// Draws one model turn and reserves `estimate` tokens for it.
    ///
    /// # Errors
    /// [`Spent`] where turns, tokens, money or time are used up; nothing is drawn then.
    pub fn draw_turn(self: &Arc<Self>, estimate: u64) -> Result<TurnReserve, Spent> {
        let mut spending = self.lock();
        self.check_age_and_sums(&mut spending)?;
        if let Some(limit) = self.limits.tokens {
            // What is reserved for turns that are under way counts as spent: they cannot all spend the rest.
            let is = spending.usage.total().saturating_add(spending.reserved_tokens);
            let with = is.saturating_add(estimate);
            if with > limit {
                return Err(refused(&mut spending, PursePart::Tokens, is, limit));
            }
        }
        let is = spending.turns;
        refuse_past(&mut spending, PursePart::Turns, is, self.limits.turns)?;
        spending.turns = is.saturating_add(1);
        spending.reserved_tokens = spending.reserved_tokens.saturating_add(estimate);
        Ok(TurnReserve { purse: self.clone(), estimate })
    }

    /// Draws one tool call.
    ///
    /// # Errors
    /// [`Spent`] where calls or time are used up; nothing is drawn then.
    pub fn draw_tool_call(&self) -> Result<(), Spent> {
        let mut spending = self.lock();
        self.check_age_and_sums(&mut spending)?;
        let is = spending.tool_calls;
        refuse_past(&mut spending, PursePart::ToolCalls, is, self.limits.tool_calls)?;
        spending.tool_calls = is.saturating_add(1);
        Ok(())
    }

    /// Time until the whole tree must end. None: no limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.limits.time.map(|limit| limit.saturating_sub(self.began.elapsed()))
    }

    /// That the time is over, once it is.
    #[must_use]
    pub fn time_is_over(&self) -> Option<Spent> {
        let limit = self.limits.time?;
        let spent = || Spent { part: PursePart::Time, spent: millis(limit), limit: millis(limit) };
        (self.began.elapsed() >= limit).then(spent)
    }

    /// What was drawn so far, and of how much.
    #[must_use]
    pub fn report(&self) -> PurseReport {
        let spending = *self.lock();
        PurseReport {
            descendants: spending.descendants,
            turns: spending.turns,
            tool_calls: spending.tool_calls,
            tokens: spending.usage.total(),
            estimated: spending.usage.estimated,
            cost: self.prices.map(|prices| prices.cost(&spending.usage)),
            fuel: spending.fuel,
            time_ms: millis(self.began.elapsed()),
            spent: spending.spent,
        }
    }

    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// What every draw is refused for: the tree is too old, or its sums have passed their limits.
    fn check_age_and_sums(&self, spending: &mut Spending) -> Result<(), Spent> {
        if let Some(spent) = self.time_is_over() {
            spending.spent.get_or_insert(spent);
            return Err(spent);
        }
        let tokens = spending.usage.total();
        refuse_past(spending, PursePart::Tokens, tokens, self.limits.tokens)?;
        if let (Some(limit), Some(prices)) = (self.limits.cost, self.prices) {
            let (is, limit) = (micros(prices.cost(&spending.usage)), micros(limit));
            refuse_past(spending, PursePart::Cost, is, Some(limit))?;
        }
        let fuel = spending.fuel;
        refuse_past(spending, PursePart::Fuel, fuel, self.limits.fuel)
    }

    fn lock(&self) -> MutexGuard<'_, Spending> {
        self.spending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One model turn that was drawn: settled with what it cost, or given back by being dropped.
#[derive(Debug)]
#[must_use = "a reserve is settled with what the turn cost"]
pub struct TurnReserve {
    purse: Arc<Purse>,
    estimate: u64,
}

impl TurnReserve {
    /// The turn was taken and cost this much.
    pub fn settle(mut self, usage: Usage) {
        self.release(usage);
    }

    /// What it cost counts from when its reserve does not any more: nobody sees both, or neither.
    fn release(&mut self, usage: Usage) {
        let mut spending = self.purse.lock();
        spending.usage += usage;
        spending.reserved_tokens =
            spending.reserved_tokens.saturating_sub(std::mem::take(&mut self.estimate));
    }
}

impl Drop for TurnReserve {
    fn drop(&mut self) {
        self.release(Usage::default());
    }
}

/// Refuses where `is` has reached `limit`.
fn refuse_past(spending: &mut Spending, part: PursePart, is: u64, limit: Option<u64>) -> Result<(), Spent> {
    match limit {
        Some(limit) if is >= limit => Err(refused(spending, part, is, limit)),
        _ => Ok(()),
    }
}

fn refused(spending: &mut Spending, part: PursePart, spent: u64, limit: u64) -> Spent {
    let spent = Spent { part, spent, limit };
    spending.spent.get_or_insert(spent);
    spent
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Millionths of the unit that prices are in.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before, and saturating")]
fn micros(cost: f64) -> u64 {
    (cost * 1e6).round().max(0.0) as u64
}

#[cfg(test)]
mod tests;

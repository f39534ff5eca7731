//! What a purse holds at most, and what tokens cost. Holds no count.

use std::time::Duration;

use crate::usage::Usage;

/// What a tree of runs may use, all of its runs together. Each default stands in brackets; none is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PurseLimits {
    /// Runs below the parent's, each attempt one \[256\].
    pub descendants: u32,
    /// Runs below the parent's that work at one time; a run that waits for another does not count \[8\].
    pub concurrent_runs: u32,
    /// Levels below the parent's run, whatever the handoff policy says \[none\].
    pub depth: Option<u32>,
    /// Model turns, the parent's among them \[none\].
    pub turns: Option<u64>,
    /// Tool calls, delegations among them \[none\].
    pub tool_calls: Option<u64>,
    /// Tokens, all kinds together \[none\].
    pub tokens: Option<u64>,
    /// Cost, in the unit of the model's prices \[none\]; needs prices.
    pub cost: Option<f64>,
    /// Wall time from the start of the parent's run \[none\].
    pub time: Option<Duration>,
    /// Fuel of all components together \[none\].
    pub fuel: Option<u64>,
}

impl Default for PurseLimits {
    fn default() -> Self {
        Self {
            descendants: 256,
            concurrent_runs: 8,
            depth: None,
            turns: None,
            tool_calls: None,
            tokens: None,
            cost: None,
            time: None,
            fuel: None,
        }
    }
}

/// What a million tokens of each kind cost, in a unit of your choice.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to the provider's cache.
    pub cache_write: f64,
}

impl Prices {
    /// What these tokens cost.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens stay far below 2^53")]
    pub fn cost(&self, usage: &Usage) -> f64 {
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        of(usage.input_tokens, self.input)
            + of(usage.output_tokens, self.output)
            + of(usage.cache_read_tokens, self.cache_read)
            + of(usage.cache_write_tokens, self.cache_write)
    }
}

//! Token counts and how they add up. Must know no other module.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens of one model turn, or the sum over many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, without those that came from the provider's cache.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the provider's cache.
    pub cache_write_tokens: u64,
    /// True where a provider sent no figures and bytes / 4 were counted instead.
    pub estimated: bool,
}

impl Usage {
    /// An estimate where the provider sent no figures: one token for four bytes, rounded up.
    #[must_use]
    pub fn estimate(input_bytes: usize, output_bytes: usize) -> Self {
        let tokens = |bytes: usize| (bytes as u64).div_ceil(4);
        Self {
            input_tokens: tokens(input_bytes),
            output_tokens: tokens(output_bytes),
            estimated: true,
            ..Self::default()
        }
    }

    /// All tokens together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        // One estimate among figures makes the sum an estimate.
        self.estimated = self.estimated || other.estimated;
    }
}

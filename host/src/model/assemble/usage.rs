//! Token counts as they come in: partly, twice, or not at all. Must not add up what is cumulative.

use serde_json::Value;

use crate::usage::Usage;

/// The figures seen so far; a later one replaces an earlier one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsageSeen {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    input_holds_cache: bool,
}

impl UsageSeen {
    /// Takes over the figures of a chat completion, whose input figure holds the cached tokens.
    pub(super) fn openai(&mut self, usage: &Value) {
        self.input_holds_cache = true;
        replace(&mut self.input, usage, "/prompt_tokens");
        replace(&mut self.output, usage, "/completion_tokens");
        replace(&mut self.cache_read, usage, "/prompt_tokens_details/cached_tokens");
        replace(&mut self.cache_write, usage, "/prompt_tokens_details/cache_write_tokens");
    }

    /// Takes over the figures of an Anthropic message.
    pub(super) fn anthropic(&mut self, usage: &Value) {
        replace(&mut self.input, usage, "/input_tokens");
        replace(&mut self.output, usage, "/output_tokens");
        replace(&mut self.cache_read, usage, "/cache_read_input_tokens");
        replace(&mut self.cache_write, usage, "/cache_creation_input_tokens");
    }

    /// The usage of a turn; what no figure came for is estimated from the bytes.
    pub(super) fn total(self, request_bytes: usize, turn_bytes: usize) -> Usage {
        let estimate = Usage::estimate(request_bytes, turn_bytes);
        let cache_read_tokens = self.cache_read.unwrap_or(0);
        let cache_write_tokens = self.cache_write.unwrap_or(0);
        let cached =
            if self.input_holds_cache { cache_read_tokens.saturating_add(cache_write_tokens) } else { 0 };
        Usage {
            input_tokens: self.input.map_or(estimate.input_tokens, |input| input.saturating_sub(cached)),
            output_tokens: self.output.unwrap_or(estimate.output_tokens),
            cache_read_tokens,
            cache_write_tokens,
            estimated: self.input.is_none() || self.output.is_none(),
        }
    }
}

fn replace(figure: &mut Option<u64>, usage: &Value, pointer: &str) {
    if let Some(number) = usage.pointer(pointer).and_then(Value::as_u64) {
        *figure = Some(number);
    }
}

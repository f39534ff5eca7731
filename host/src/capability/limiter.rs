//! The limit on what one store may allocate: memories and tables summed, instances counted.
//! Must not know what the guest is or does.

use wasmtime::ResourceLimiter;

/// Most core instances in a store: a component and what it nests.
const INSTANCES: usize = 64;
/// Most memories in a store.
const MEMORIES: usize = 16;
/// Most tables in a store.
const TABLES: usize = 32;
/// Most table elements in a store, all tables together.
const TABLE_ELEMENTS: usize = 200_000;

/// Counts what a store has and refuses what is more than its limit.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    limit: usize,
    bytes: usize,
    peak: usize,
    elements: usize,
    refused: bool,
}

impl MemoryLimiter {
    /// At most `limit` bytes, all memories together.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, bytes: 0, peak: 0, elements: 0, refused: false }
    }

    /// Most bytes that the store had at one time.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// True once something was refused.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.bytes.saturating_sub(current).saturating_add(desired);
        if total > self.limit {
            self.refused = true;
            return Ok(false);
        }
        self.bytes = total;
        self.peak = self.peak.max(total);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.elements.saturating_sub(current).saturating_add(desired);
        if total > TABLE_ELEMENTS {
            self.refused = true;
            return Ok(false);
        }
        self.elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }

    fn tables(&self) -> usize {
        TABLES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_over_all_memories_is_what_is_limited() {
        let mut limiter = MemoryLimiter::new(1000);
        assert!(limiter.memory_growing(0, 600, None).unwrap());
        assert!(limiter.memory_growing(0, 400, None).unwrap(), "exactly the limit fits");
        assert!(!limiter.memory_growing(400, 401, None).unwrap(), "one more does not");
        assert!(limiter.refused() && limiter.peak() == 1000);
    }

    #[test]
    fn the_sum_over_all_tables_is_what_is_limited() {
        let mut limiter = MemoryLimiter::new(0);
        assert!(limiter.table_growing(0, TABLE_ELEMENTS - 1, None).unwrap());
        assert!(!limiter.table_growing(0, 2, None).unwrap());
        assert!(!limiter.table_growing(0, usize::MAX, None).unwrap(), "no overflow");
    }
}

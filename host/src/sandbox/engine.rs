//! The engine: which WebAssembly it takes and how it can be stopped. Must not know components or rights.

use std::path::Path;
use std::sync::Arc;

use wasmtime::{Cache, CacheConfig, Config, Engine, WasmFeatures};

use super::limits::SandboxOptions;
use super::ticker::{Ticker, Ticking};

/// Bytes of stack that wasm may use.
const WASM_STACK: usize = 512 * 1024;
/// Bytes of stack of a guest's fiber: what is above [`WASM_STACK`] is for host functions.
const FIBER_STACK: usize = 4 * 1024 * 1024;
/// Bytes of address space that a memory reserves: enough that most never move, little enough for thousands.
const MEMORY_RESERVATION: u64 = 64 * 1024 * 1024;

/// Why a sandbox cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The engine refused its settings.
    #[error("the WebAssembly engine cannot be made on this machine: {0}")]
    Engine(String),
    /// The threads for guests could not be started.
    #[error("the threads for guests cannot be started: {0}")]
    Threads(String),
    /// The directory for compiled code cannot be used.
    #[error("the cache for compiled code cannot be used: {0}; name another directory or none")]
    Cache(String),
}

/// An engine with the thread that interrupts its guests.
#[derive(Debug)]
pub(super) struct GuestEngine {
    engine: Engine,
    ticker: Arc<Ticker>,
}

impl GuestEngine {
    pub(super) fn new(options: &SandboxOptions) -> Result<Self, SandboxError> {
        let mut config = config();
        if let Some(directory) = &options.cache {
            config.cache(Some(cache(directory)?));
        }
        let engine = Engine::new(&config).map_err(|error| SandboxError::Engine(format!("{error:#}")))?;
        let ticker =
            Ticker::start(engine.weak()).map_err(|error| SandboxError::Threads(error.to_string()))?;
        Ok(Self { engine, ticker })
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Ticks for as long as the value lives.
    pub(super) fn ticking(&self) -> Ticking {
        self.ticker.ticking()
    }
}

/// What guests may be made of: components over plain WebAssembly, nothing that is still being designed.
/// Garbage collection, exceptions and threads are not even compiled into this build.
fn config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .wasm_features(WasmFeatures::GC | WasmFeatures::EXCEPTIONS | WasmFeatures::THREADS, false)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .epoch_interruption(true)
        .consume_fuel(true)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(FIBER_STACK)
        .memory_reservation(MEMORY_RESERVATION)
        .concurrency_support(false);
    config
}

fn cache(directory: &Path) -> Result<Cache, SandboxError> {
    let mut config = CacheConfig::new();
    config.with_directory(directory);
    Cache::new(config).map_err(|error| SandboxError::Cache(format!("{error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_still_being_designed_is_off_and_interruption_is_on() {
        let engine = Engine::new(&config()).unwrap();
        assert!(engine.get_epoch_interruption() && engine.get_consume_fuel());
        assert_eq!((engine.get_max_wasm_stack(), engine.get_async_stack_size()), (WASM_STACK, FIBER_STACK));
        assert!(!engine.get_concurrency_support());
        let on = engine.get_wasm_features();
        for off in [
            WasmFeatures::CM_ASYNC,
            WasmFeatures::THREADS,
            WasmFeatures::GC,
            WasmFeatures::EXCEPTIONS,
            WasmFeatures::MEMORY64,
            WasmFeatures::STACK_SWITCHING,
            WasmFeatures::RELAXED_SIMD,
        ] {
            assert!(!on.intersects(off), "{off:?}");
        }
    }
}

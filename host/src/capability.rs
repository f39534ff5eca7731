//! The host's side of what a guest may import: the state behind one run's host functions, and in the
//! folder the functions themselves, one file an interface. Each lifts its arguments, hands the work to a
//! task outside the guest's runtime and awaits it. Must not link anything: whether a guest gets an
//! interface is decided before it exists.

mod convert;
mod limiter;
mod model;
mod progress;
mod task;
mod toolbox;
mod tools;

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::Instrument as _;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

pub(crate) use limiter::MemoryLimiter;

use crate::calls::{CallExecutor, Fault};
use crate::history::History;
use crate::run::RunScope;
use crate::tools::Builtins;

/// Everything that the host functions of one run can reach. One store, one run, dropped with it.
pub(crate) struct GuestState {
    /// The run.
    pub(crate) scope: Arc<RunScope>,
    /// Where calls of handed-over tools go.
    pub(crate) executor: Arc<dyn CallExecutor>,
    /// The tools behind the typed imports.
    pub(crate) builtins: Builtins,
    /// What outlives the store.
    pub(crate) record: Arc<GuestRecord>,
    /// The operator's or declaration's system text.
    pub(crate) instructions: Option<Arc<str>>,
    /// When the run must end.
    pub(crate) deadline: Option<std::time::Instant>,
    /// The runtime that the work of host functions runs on: never the guest's own.
    pub(crate) io: Handle,
    /// Handles of this run.
    pub(crate) table: ResourceTable,
    /// The inert WASI base.
    pub(crate) wasi: WasiCtx,
    /// Memory and tables of this run.
    pub(crate) limiter: MemoryLimiter,
}

impl WasiView for GuestState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// What a run leaves behind whatever way it ends: kept outside the store, so that a trap cannot take it.
#[derive(Debug, Default)]
pub(crate) struct GuestRecord {
    /// The conversation.
    pub(crate) history: Arc<tokio::sync::Mutex<History>>,
    /// True once the guest has opened it.
    opened: AtomicBool,
    /// The best answer so far, as the guest itself said.
    kept: Mutex<Option<String>>,
    /// A fault of the host that one of the guest's calls ran into.
    fault: Mutex<Option<Fault>>,
    /// Work that the guest's calls started.
    pub(crate) work: TaskTracker,
}

impl GuestRecord {
    /// The record of a run that speaks in `history`.
    pub(crate) fn over(history: Arc<tokio::sync::Mutex<History>>) -> Self {
        Self { history, ..Self::default() }
    }

    /// True the first time.
    fn open(&self) -> bool {
        !self.opened.swap(true, Ordering::Relaxed)
    }

    fn keep(&self, partial: String) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(partial);
    }

    /// What there is to show of a run that gave no answer: what the guest kept, else the last text of its model.
    pub(crate) async fn partial(&self) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match kept.filter(|text| !text.trim().is_empty()) {
            Some(text) => Some(text),
            None => self.history.lock().await.last_text(),
        }
    }

    /// The host fault that ended the run, if one did.
    pub(crate) fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set_fault(&self, fault: Fault) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

/// Ends the guest's call from inside a host function. What really happened stands in the host's own
/// record; this text is never read for it.
#[derive(Debug, thiserror::Error)]
#[error("the host ended the run")]
pub(crate) struct Ended;

impl GuestState {
    /// Runs `work` outside the guest's runtime and waits for it. A stop of the run ends the guest here:
    /// it gets no chance to catch it and go on.
    async fn outside<T, F>(&mut self, work: F) -> wasmtime::Result<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let task = self.io.spawn(self.record.work.track_future(work.in_current_span()));
        match AbortOnDropHandle::new(task).await {
            Ok(_) if self.scope.cancel.is_cancelled() => Err(Ended.into()),
            Ok(done) => Ok(done),
            Err(error) if error.is_cancelled() => Err(Ended.into()),
            Err(error) => {
                let name = crate::ids::ToolName::from("host function");
                self.record.set_fault(Fault::panicked(name, error.into_panic()));
                Err(Ended.into())
            }
        }
    }

    /// Ends the run with a host fault.
    fn fault(&self, fault: Fault) -> wasmtime::Error {
        self.record.set_fault(fault);
        Ended.into()
    }
}

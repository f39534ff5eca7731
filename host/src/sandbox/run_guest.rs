//! One guest from instantiation to its end: store, limits, interruption, and the reading of how it ended.
//! Must not know who delegated or what becomes of the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;
use wasmtime::component::ResourceTable;
use wasmtime::{Store, UpdateDeadline};

use super::engine::GuestEngine;
use super::fuel::{Burnt, Fuel};
use super::outcome::{EndCause, GuestReport, Outcome};
use super::record::{CodeEnd, Record};
use super::{Guest, wasi};
use crate::bindings::exports::deputy::agent::handler::{Answer, Failure};
use crate::bindings::{GeneralPre, TaskHandle, ToolHandle};
use crate::calls::Fault;
use crate::capability::{GuestRecord, GuestState, MemoryLimiter};
use crate::event::Event;
use crate::model::ToolDescription;

/// Bytes that a guest may hand the host in one call.
const HOSTCALL_FUEL: usize = 16 * 1024 * 1024;
/// Live component handles of a store.
const HANDLES: usize = 4096;
/// How long a stopped guest's own calls may take to wind up before they are dropped: longer than the slowest of
/// them, a command whose processes have to be killed, so that nothing of it is left when the end is told.
const WIND_UP: Duration = Duration::from_secs(15);
/// How long a stopped guest that waits for nothing of ours may take to notice.
const NOTICE: Duration = Duration::from_millis(25);

pub(super) async fn run(
    engine: &GuestEngine,
    runtime: Handle,
    pre: GeneralPre<GuestState>,
    guest: Guest,
) -> GuestReport {
    let record = Arc::new(GuestRecord::over(guest.history.clone()));
    let timed_out = Arc::new(AtomicBool::new(false));
    let (scope, limits) = (guest.scope.clone(), guest.limits);
    let (context, output) = wasi::context();
    let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
    let state = GuestState {
        scope: scope.clone(),
        executor: guest.executor,
        builtins: guest.builtins,
        record: record.clone(),
        instructions: guest.instructions,
        deadline,
        io: Handle::current(),
        table: table(),
        wasi: context,
        limiter: MemoryLimiter::new(limits.memory),
    };
    let ticking = engine.ticking();
    let fuel = Fuel::draw(&scope.purse, limits.fuel);
    let mut store = match new_store(engine, state, &fuel) {
        Ok(store) => store,
        Err(error) => return not_run(EndCause::Host(format!("{error:#}"))),
    };
    interrupt_by(&mut store, scope.cancel.clone());

    let watched = Watched { cancel: scope.cancel.clone(), record: record.clone() };
    let handed = guest.handed;
    let span =
        tracing::info_span!("run", agent = %scope.agent(), run = %scope.id, depth = scope.rights.depth());
    let running = async move {
        let _ticking = ticking;
        let code = watched.watch(call(&mut store, &pre, handed)).await;
        let fuel = fuel.settle(store.get_fuel().unwrap_or(0));
        let limiter = &store.data().limiter;
        Ended { code, fuel, peak: limiter.peak(), refused: limiter.refused() }
    };
    let mut task = AbortOnDropHandle::new(runtime.spawn(running.instrument(span)));
    let ended = tokio::select! {
        ended = &mut task => ended,
        () = sleep_until(deadline) => {
            // Said before the stop, so that the record knows which of the two it was: a run that was being stopped
            // already, and took its time to end, did not run into its own limit.
            timed_out.store(!scope.cancel.is_cancelled(), Ordering::Relaxed);
            scope.cancel.cancel();
            (&mut task).await
        }
    };
    // Whatever the guest's calls started has ended, or ends now: dead means joined.
    record.work.close();
    record.work.wait().await;

    let log = output.text();
    if !log.is_empty() {
        scope.events.emit(|| Event::Log {
            run: scope.id.clone(),
            agent: scope.agent().clone(),
            text: log.clone(),
        });
    }
    let (end, fuel, peak) = match ended {
        Ok(Ended { code, fuel, peak, refused }) => {
            let record = Record {
                scope: &scope,
                limits,
                fuel_of_the_purse: fuel.of_the_purse,
                timed_out: timed_out.load(Ordering::Relaxed),
                memory_refused: refused,
                fault: record.take_fault(),
                log: &log,
            };
            (record.read(code), fuel.burnt, peak)
        }
        Err(error) if error.is_panic() => {
            let fault = Fault::panicked("sandbox".into(), error.into_panic());
            (Err((EndCause::Host(fault.to_string()), None)), 0, 0)
        }
        Err(_) => (Err((EndCause::Cancelled, None)), 0, 0),
    };
    let outcome = match end {
        Ok(text) => Outcome::Answered { text },
        Err((cause, Some(text))) => Outcome::Stopped { cause, partial: Some(text) },
        Err((cause, None)) => Outcome::Stopped { cause, partial: record.partial().await },
    };
    GuestReport { outcome, fuel, peak_memory: peak as u64 }
}

/// The report of a run of which nothing ran.
pub(super) fn not_run(cause: EndCause) -> GuestReport {
    GuestReport { outcome: Outcome::Stopped { cause, partial: None }, fuel: 0, peak_memory: 0 }
}

/// What the guest's task leaves when its store is dropped.
struct Ended {
    code: CodeEnd,
    fuel: Burnt,
    peak: usize,
    refused: bool,
}

fn table() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(HANDLES);
    table
}

fn new_store(engine: &GuestEngine, state: GuestState, fuel: &Fuel) -> wasmtime::Result<Store<GuestState>> {
    let mut store = Store::new(engine.engine(), state);
    store.limiter(|state| &mut state.limiter);
    fuel.fill(&mut store)?;
    store.set_hostcall_fuel(HOSTCALL_FUEL);
    store.set_max_component_handles(HANDLES);
    Ok(store)
}

/// At each tick the guest looks at its stop signal, and lets others run. The time limit sets the same signal,
/// and is looked at here as well: a busy host may be late to set it.
fn interrupt_by(store: &mut Store<GuestState>, cancel: CancellationToken) {
    let deadline = store.data().deadline;
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| {
        if cancel.is_cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(UpdateDeadline::Interrupt);
        }
        Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
    });
}

/// Instantiates the component and calls its handler once.
async fn call(
    store: &mut Store<GuestState>,
    pre: &GeneralPre<GuestState>,
    handed: Vec<ToolDescription>,
) -> wasmtime::Result<Result<Answer, Failure>> {
    let instance = pre.instantiate_async(&mut *store).await?;
    let table = &mut store.data_mut().table;
    let task = table.push(TaskHandle)?;
    let tools = handed
        .into_iter()
        .map(|description| table.push(ToolHandle { description }))
        .collect::<Result<Vec<_>, _>>()?;
    instance.deputy_agent_handler().call_handle(&mut *store, task, &tools).await
}

/// Sees to it that a stopped guest ends, wherever it waits.
struct Watched {
    cancel: CancellationToken,
    record: Arc<GuestRecord>,
}

impl Watched {
    /// None: the guest was dropped where it waited.
    async fn watch<T>(self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            end = call => Some(end),
            () = self.stopped() => None,
        }
    }

    /// Our own host functions wind up by themselves and a running guest sees the next tick; one that waits in
    /// the WASI base (a long sleep) sees neither.
    async fn stopped(&self) {
        self.cancel.cancelled().await;
        self.record.work.close();
        let _ = tokio::time::timeout(WIND_UP, self.record.work.wait()).await;
        tokio::time::sleep(NOTICE).await;
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

//! One guest from instantiation to its end: store, limits, interruption, and the reading of how it ended.
//! Must not know who delegated or what becomes of the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::ResourceTable;
use wasmtime::{Store, Trap, UpdateDeadline};

use super::engine::GuestEngine;
use super::limits::GuestLimits;
use super::outcome::{EndCause, GuestReport, Outcome};
use super::{Guest, wasi};
use crate::bindings::exports::deputy::agent::handler::{Answer, Failure};
use crate::bindings::{GeneralPre, TaskHandle, ToolHandle};
use crate::calls::Fault;
use crate::capability::{GuestRecord, GuestState, MemoryLimiter};
use crate::event::Event;
use crate::model::ToolDescription;
use crate::run::RunScope;

/// Bytes that a guest may hand the host in one call.
const HOSTCALL_FUEL: usize = 16 * 1024 * 1024;
/// Live component handles of a store.
const HANDLES: usize = 4096;
/// How long a stopped guest's own calls may take to wind up before they are dropped: longer than the slowest of
/// them, a command whose processes have to be killed, so that nothing of it is left when the end is told.
const WIND_UP: Duration = Duration::from_secs(15);
/// How long a stopped guest that waits for nothing of ours may take to notice.
const NOTICE: Duration = Duration::from_millis(25);

/// How the guest's code ended, before the host's record is asked why.
type CodeEnd = Option<wasmtime::Result<Result<Answer, Failure>>>;

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
    let mut store = match new_store(engine, state, limits.fuel) {
        Ok(store) => store,
        Err(error) => return not_run(EndCause::Host(format!("{error:#}"))),
    };
    interrupt_by(&mut store, scope.cancel.clone());

    let watched = Watched { cancel: scope.cancel.clone(), record: record.clone() };
    let handed = guest.handed;
    let mut task = AbortOnDropHandle::new(runtime.spawn(async move {
        let _ticking = ticking;
        let code = watched.watch(call(&mut store, &pre, handed)).await;
        let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0));
        let limiter = &store.data().limiter;
        Ended { code, fuel, peak: limiter.peak(), refused: limiter.refused() }
    }));
    let ended = tokio::select! {
        ended = &mut task => ended,
        () = sleep_until(deadline) => {
            // Said before the stop, so that the record knows which of the two it was.
            timed_out.store(true, Ordering::Relaxed);
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
                timed_out: timed_out.load(Ordering::Relaxed),
                memory_refused: refused,
                fault: record.take_fault(),
                log: &log,
            };
            (record.read(code), fuel, peak)
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

fn not_run(cause: EndCause) -> GuestReport {
    GuestReport { outcome: Outcome::Stopped { cause, partial: None }, fuel: 0, peak_memory: 0 }
}

/// What the guest's task leaves when its store is dropped.
struct Ended {
    code: CodeEnd,
    fuel: u64,
    peak: usize,
    refused: bool,
}

fn table() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(HANDLES);
    table
}

fn new_store(engine: &GuestEngine, state: GuestState, fuel: u64) -> wasmtime::Result<Store<GuestState>> {
    let mut store = Store::new(engine.engine(), state);
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(fuel)?;
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

/// What the host itself knows of how a run ended.
struct Record<'a> {
    scope: &'a RunScope,
    limits: GuestLimits,
    timed_out: bool,
    memory_refused: bool,
    fault: Option<Fault>,
    log: &'a str,
}

impl Record<'_> {
    /// The answer, or why there is none with what the guest said of it.
    fn read(self, code: CodeEnd) -> Result<String, (EndCause, Option<String>)> {
        let without = |cause| Err((cause, None));
        match code {
            Some(Ok(Ok(Answer { text, complete: true }))) if text.trim().is_empty() => {
                without(EndCause::EmptyAnswer)
            }
            Some(Ok(Ok(Answer { text, complete: true }))) => Ok(text),
            Some(Ok(Ok(Answer { text, complete: false }))) => {
                let (turns, max_turns) = (self.scope.tally.turns(), self.scope.max_turns);
                Err((
                    EndCause::AtLimit { turns, max_turns },
                    Some(text).filter(|text| !text.trim().is_empty()),
                ))
            }
            Some(Ok(Err(Failure::Cancelled))) => {
                // Whether anything stopped it is for the host to say.
                let own =
                    || EndCause::Guest("it says that it was cancelled, and nothing stopped it".to_owned());
                without(self.stop().unwrap_or_else(own))
            }
            Some(Ok(Err(failure))) => without(match failure {
                Failure::Model(text) => EndCause::Model(text),
                Failure::Unable(text) => EndCause::Unable(text),
                Failure::Other(text) => EndCause::Guest(text),
                Failure::Cancelled => EndCause::Cancelled,
            }),
            Some(Err(error)) => {
                let cause = match self.fault {
                    Some(ref fault) => EndCause::Host(fault.to_string()),
                    None => self.stop().unwrap_or_else(|| self.trapped(&error)),
                };
                without(cause)
            }
            None => without(self.stop().unwrap_or(EndCause::Cancelled)),
        }
    }

    /// Whether, and how, the host stopped the run.
    fn stop(&self) -> Option<EndCause> {
        match (self.timed_out, self.limits.time) {
            (true, Some(limit)) => Some(EndCause::TimedOut { limit }),
            _ if self.scope.cancel.is_cancelled() => Some(EndCause::Cancelled),
            _ => None,
        }
    }

    fn trapped(&self, error: &wasmtime::Error) -> EndCause {
        if error.downcast_ref::<wasmtime_wasi::I32Exit>().is_some() {
            return EndCause::Exited;
        }
        match error.downcast_ref::<Trap>() {
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

    /// The line in which a Rust guest says why it panicked, if it wrote one. Untrusted text, shortened.
    fn panic_line(&self) -> Option<String> {
        let mut lines = self.log.lines().skip_while(|line| !line.contains("panicked at"));
        let place = lines.next()?;
        let text = format!("{} {}", place.trim(), lines.next().unwrap_or_default().trim());
        Some(text.chars().take(300).collect())
    }
}

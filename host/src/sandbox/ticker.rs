//! The thread that makes running guests look at their deadline and their stop signal. Ticks only while a guest
//! runs, and ends with the engine. Must not decide who stops: each guest looks at its own signal.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::EngineWeak;

/// Time between two looks.
const TICK: Duration = Duration::from_millis(2);

/// The state that the thread and the guests share.
#[derive(Debug, Default)]
struct Shared {
    running: Mutex<Running>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Running {
    guests: usize,
    closed: bool,
}

/// Starts the thread and stops it when dropped.
#[derive(Debug)]
pub(super) struct Ticker {
    shared: Arc<Shared>,
}

/// Keeps the thread ticking while a guest runs.
#[derive(Debug)]
pub(super) struct Ticking {
    shared: Arc<Shared>,
}

impl Ticker {
    pub(super) fn start(engine: EngineWeak) -> io::Result<Arc<Self>> {
        let shared = Arc::new(Shared::default());
        let thread = shared.clone();
        std::thread::Builder::new().name("deputy-ticker".to_owned()).spawn(move || tick(&thread, &engine))?;
        Ok(Arc::new(Self { shared }))
    }

    pub(super) fn ticking(&self) -> Ticking {
        self.shared.change(|running| running.guests = running.guests.saturating_add(1));
        Ticking { shared: self.shared.clone() }
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Running)) {
        change(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }

    /// Waits until a guest runs. False: there will be none.
    fn wait_for_guests(&self) -> bool {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.guests == 0 && !running.closed {
            running = self.changed.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        !running.closed
    }
}

fn tick(shared: &Shared, engine: &EngineWeak) {
    while shared.wait_for_guests() {
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        drop(engine);
        std::thread::sleep(TICK);
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        self.shared.change(|running| running.guests = running.guests.saturating_sub(1));
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.change(|running| running.closed = true);
    }
}

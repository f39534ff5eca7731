//! SIGINT and SIGTERM: the first stops the run and is waited for, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::ending::Ending;
use crate::render::Live;

/// Which signal came first, if one came.
#[derive(Debug)]
pub(super) struct Signals {
    /// Its number; 0: none came.
    first: Arc<AtomicU8>,
}

impl Signals {
    /// Watches from now on.
    pub(super) fn watch(stop: CancellationToken, live: Live) -> anyhow::Result<Self> {
        let first = Arc::new(AtomicU8::new(0));
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let kept = first.clone();
        tokio::spawn(async move {
            loop {
                let number = tokio::select! {
                    _ = interrupt.recv() => 2,
                    _ = terminate.recv() => 15,
                };
                if stop.is_cancelled() {
                    live.finish_if_idle();
                    std::process::exit(i32::from(Ending::Interrupted(number).code()));
                }
                kept.store(number, Ordering::Relaxed);
                stop.cancel();
            }
        });
        Ok(Self { first })
    }

    /// The number of the first signal.
    pub(super) fn which(&self) -> Option<u8> {
        Some(self.first.load(Ordering::Relaxed)).filter(|number| *number != 0)
    }
}

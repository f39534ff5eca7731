//! Tells those who wait that a store has changed. Must not say what changed, nor look into a store.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

/// Rings for everybody who listens, and knows whether anybody waits.
#[derive(Debug, Clone)]
pub(super) struct Bell {
    rung: Arc<watch::Sender<u64>>,
    waiting: Arc<watch::Sender<usize>>,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { rung: Arc::new(watch::Sender::new(0)), waiting: Arc::new(watch::Sender::new(0)) }
    }

    pub(super) fn ring(&self) {
        self.rung.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn listen(&self) -> Changes {
        Changes { seen: self.rung.subscribe(), waiting: self.waiting.clone() }
    }

    /// Follows how many wait, so that looking for changes can rest while nobody does.
    #[cfg(feature = "sqlite")]
    pub(super) fn waiting(&self) -> watch::Receiver<usize> {
        self.waiting.subscribe()
    }
}

/// Notes the changes of a store since it was made.
///
/// Subscribe, look, wait, look again: a change between the look and the wait is not missed.
/// It may wake without need, never too seldom.
#[derive(Debug)]
pub struct Changes {
    seen: watch::Receiver<u64>,
    waiting: Arc<watch::Sender<usize>>,
}

impl Changes {
    /// Waits for a change not noted before, made by this process or another; false once the
    /// deadline has passed, or the store was closed.
    pub async fn wait(&mut self, deadline: Instant) -> bool {
        let _here = Waiter::new(&self.waiting);
        matches!(tokio::time::timeout_at(deadline, self.seen.changed()).await, Ok(Ok(())))
    }
}

/// Counted as waiting as long as it lives.
struct Waiter<'a>(&'a watch::Sender<usize>);

impl<'a> Waiter<'a> {
    fn new(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|count| *count = count.saturating_add(1));
        Self(waiting)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

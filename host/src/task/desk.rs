//! A host's hold on the store of tasks: who it is there, the leases that it keeps up, cancels that come from elsewhere,
//! and ends that could not be written at once. Must not know runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{End, Owner, TaskError, TaskId, TaskStore, TaskStoreSource, now_ms};

/// How long a host that shows no sign of life is taken to be alive.
const LEASE_MS: i64 = 30_000;
/// How often it shows one.
const BEAT: Duration = Duration::from_secs(10);
/// Tries of an end before it is left to the next beat.
const TRIES: u32 = 5;

/// The tasks of one host.
#[derive(Debug)]
pub(crate) struct TaskDesk {
    source: Arc<dyn TaskStoreSource>,
    store: OnceCell<Arc<dyn TaskStore>>,
    owner: Owner,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What this host works on, each with the signal that stops it.
    alive: HashMap<TaskId, CancellationToken>,
    /// Ends that the store did not take yet.
    unwritten: Vec<(TaskId, End)>,
    /// True while somebody keeps the leases up.
    kept: bool,
}

impl TaskDesk {
    pub(crate) fn new(source: Arc<dyn TaskStoreSource>) -> Arc<Self> {
        Arc::new(Self {
            source,
            store: OnceCell::new(),
            owner: Owner::this_process(),
            state: Mutex::default(),
        })
    }

    /// True where there may be records of earlier runs.
    pub(crate) fn may_hold_records(&self) -> bool {
        self.store.initialized() || self.source.is_there()
    }

    /// The store, opened at the first need. Tasks of processes that died end then.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn store(&self) -> Result<&Arc<dyn TaskStore>, String> {
        self.store
            .get_or_try_init(|| async {
                let store = self.source.open().await?;
                store.sweep(now_ms()).await.map_err(|error| error.to_string())?;
                Ok(store)
            })
            .await
    }

    /// The store, where it is open.
    pub(super) fn opened(&self) -> Option<&Arc<dyn TaskStore>> {
        self.store.get()
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// The end of a lease that begins now.
    pub(super) fn lease() -> i64 {
        now_ms().saturating_add(LEASE_MS)
    }

    /// Takes a task up: its lease is kept from now on, and a cancel from elsewhere reaches it.
    pub(super) fn enlist(self: &Arc<Self>, id: TaskId, cancel: CancellationToken) {
        let mut state = self.lock();
        state.alive.insert(id, cancel);
        if !state.kept {
            state.kept = true;
            tokio::spawn(self.clone().keep());
        }
    }

    /// Stops those of the tasks that this host works on.
    pub(super) fn stop(&self, ids: &[TaskId]) {
        let state = self.lock();
        ids.iter().filter_map(|id| state.alive.get(id)).for_each(CancellationToken::cancel);
    }

    /// Writes how a task ended. What the store does not take now is written later, for as long as this host lives; after
    /// that its lease runs out.
    pub(super) async fn finish(&self, id: &TaskId, end: End) {
        if let Err(end) = self.write_end(id, end).await {
            self.lock().unwritten.push((id.clone(), end));
        }
        self.lock().alive.remove(id);
    }

    /// Hands the end back where the store did not take it.
    async fn write_end(&self, id: &TaskId, end: End) -> Result<(), End> {
        let Some(store) = self.opened() else { return Err(end) };
        let mut wait = Duration::from_millis(50);
        for _ in 0..TRIES {
            match store.finish(id, self.owner, end.clone()).await {
                Ok(_) => return Ok(()),
                // It has ended already, or is another's: there is nothing left to write.
                Err(TaskError::NotFound { .. } | TaskError::Illegal { .. } | TaskError::NotOwner { .. }) => {
                    return Ok(());
                }
                Err(TaskError::Closed) => return Err(end),
                Err(_) => {
                    tokio::time::sleep(wait).await;
                    wait = wait.saturating_mul(2);
                }
            }
        }
        Err(end)
    }

    /// Keeps the leases of this host's tasks up and hears of cancels, as long as there are tasks.
    async fn keep(self: Arc<Self>) {
        let Some(store) = self.opened().cloned() else { return };
        let mut changes = store.changes();
        let mut beat = Instant::now();
        while self.is_needed() {
            if let Ok(ids) = store.cancels(self.owner).await {
                self.stop(&ids);
            }
            if beat <= Instant::now() {
                beat = Instant::now() + BEAT;
                // A fault of the store passes or does not: either way the next beat tries again.
                let _ = store.heartbeat(self.owner, Self::lease()).await;
                let _ = store.sweep(now_ms()).await;
                self.write_what_was_not().await;
            }
            changes.wait(beat).await;
        }
    }

    async fn write_what_was_not(&self) {
        let unwritten = std::mem::take(&mut self.lock().unwritten);
        for (id, end) in unwritten {
            if let Err(end) = self.write_end(&id, end).await {
                self.lock().unwritten.push((id, end));
            }
        }
    }

    /// True while there is a task; else nobody keeps anything up from here on.
    fn is_needed(&self) -> bool {
        let mut state = self.lock();
        state.kept = !(state.alive.is_empty() && state.unwritten.is_empty());
        state.kept
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

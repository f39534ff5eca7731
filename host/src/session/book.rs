//! Which conversation is whose turn: calls on one conversation run one after another, and nobody waits for a
//! conversation that waits for him. Must not know what is said in one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use super::{SessionError, SessionKey, SessionStore, StoredSession};

/// The conversations of a host's subagents.
#[derive(Debug, Default)]
pub struct SessionBook {
    store: Option<Arc<dyn SessionStore>>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Conversations where there is no store; with one, nothing is kept in memory between two calls.
    kept: HashMap<SessionKey, StoredSession>,
    locks: HashMap<SessionKey, Arc<tokio::sync::Mutex<()>>>,
    /// Who waits: what they hold meanwhile, and what they want.
    waits: Vec<(Arc<[SessionKey]>, SessionKey)>,
}

/// Why a conversation cannot be continued now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnterError {
    /// It waits, itself or through others, for whoever wants to continue it.
    #[error("the conversation waits for this very call")]
    IsOpen,
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] SessionError),
}

/// A conversation whose turn it is. Others wait until this is dropped.
#[derive(Debug)]
pub struct Entered {
    key: SessionKey,
    session: Option<StoredSession>,
    book: Arc<SessionBook>,
    _turn: OwnedMutexGuard<()>,
}

impl SessionBook {
    /// Over a store; without one, conversations last as long as the book.
    #[must_use]
    pub fn new(store: Option<Arc<dyn SessionStore>>) -> Arc<Self> {
        Arc::new(Self { store, state: Arc::default() })
    }

    /// The store, where there is one.
    #[must_use]
    pub fn store(&self) -> Option<&Arc<dyn SessionStore>> {
        self.store.as_ref()
    }

    /// Waits until it is this caller's turn on a conversation. `held` are the conversations that the caller and
    /// those above it hold open.
    ///
    /// # Errors
    /// [`EnterError::IsOpen`] where the wait could never end, [`EnterError::Store`] where what is stored is
    /// damaged: never a fresh start in its place.
    pub async fn enter(
        self: &Arc<Self>,
        key: SessionKey,
        held: &Arc<[SessionKey]>,
    ) -> Result<Entered, EnterError> {
        let (lock, waiting) = self.queue(&key, held).ok_or(EnterError::IsOpen)?;
        let turn = lock.lock_owned().await;
        drop(waiting);
        let session = match &self.store {
            Some(store) => store.load(&key).await?,
            None => self.lock().kept.get(&key).cloned(),
        };
        Ok(Entered { key, session, book: self.clone(), _turn: turn })
    }

    /// Joins the queue for a conversation, unless it would never be this caller's turn.
    fn queue(
        &self,
        key: &SessionKey,
        held: &Arc<[SessionKey]>,
    ) -> Option<(Arc<tokio::sync::Mutex<()>>, Waiting)> {
        let mut state = self.lock();
        if state.leads_to(key, held) {
            return None;
        }
        // Locks that nobody holds or waits for need not be remembered.
        state.locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        let lock = state.locks.entry(key.clone()).or_default().clone();
        state.waits.push((held.clone(), key.clone()));
        Some((lock, Waiting { state: self.state.clone(), held: held.clone(), wanted: key.clone() }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// True where whoever holds `wanted` waits, directly or through others, for one of `held`.
    fn leads_to(&self, wanted: &SessionKey, held: &[SessionKey]) -> bool {
        let mut seen = HashSet::new();
        let mut next = vec![wanted];
        while let Some(key) = next.pop() {
            if held.contains(key) {
                return true;
            }
            if seen.insert(key) {
                let waits = self.waits.iter().filter(|(holds, _)| holds.contains(key));
                next.extend(waits.map(|(_, wanted)| wanted));
            }
        }
        false
    }
}

impl Entered {
    /// The conversation so far; none where this call begins it.
    #[must_use]
    pub fn session(&self) -> Option<&StoredSession> {
        self.session.as_ref()
    }

    /// Which conversation it is.
    #[must_use]
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Keeps the conversation as it is now.
    ///
    /// # Errors
    /// [`SessionError`] where it cannot be stored.
    pub async fn save(&mut self, session: StoredSession) -> Result<(), SessionError> {
        match &self.book.store {
            Some(store) => store.save(&session).await?,
            None => {
                self.book.lock().kept.insert(self.key.clone(), session.clone());
            }
        }
        self.session = Some(session);
        Ok(())
    }
}

/// A place in a queue, given up by being dropped.
struct Waiting {
    state: Arc<Mutex<State>>,
    held: Arc<[SessionKey]>,
    wanted: SessionKey,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = |(held, wanted): &(Arc<[SessionKey]>, SessionKey)| {
            Arc::ptr_eq(held, &self.held) && *wanted == self.wanted
        };
        if let Some(at) = state.waits.iter().position(mine) {
            state.waits.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::ids::SessionId;

    fn key(tool: &str) -> SessionKey {
        SessionKey { tool: tool.into(), user: "ann".into() }
    }

    fn held(tools: &[&str]) -> Arc<[SessionKey]> {
        tools.iter().map(|tool| key(tool)).collect()
    }

    fn stored(tool: &str) -> StoredSession {
        StoredSession {
            id: SessionId::fresh(),
            key: key(tool),
            depth: 1,
            tools: Default::default(),
            history: History::new(),
        }
    }

    #[tokio::test]
    async fn a_conversation_is_kept_for_its_key_alone() {
        let book = SessionBook::new(None);
        let mut entered = book.enter(key("a"), &held(&[])).await.unwrap();
        assert!(entered.session().is_none());
        let session = stored("a");
        entered.save(session.clone()).await.unwrap();
        drop(entered);
        assert_eq!(
            book.enter(key("a"), &held(&[])).await.unwrap().session().map(|one| &one.id),
            Some(&session.id)
        );
        assert!(book.enter(key("b"), &held(&[])).await.unwrap().session().is_none());
        let other = SessionKey { tool: "a".into(), user: "bob".into() };
        assert!(book.enter(other, &held(&[])).await.unwrap().session().is_none());
    }

    #[tokio::test]
    async fn one_turn_at_a_time() {
        let book = SessionBook::new(None);
        let first = book.enter(key("a"), &held(&[])).await.unwrap();
        let (none, others) = (held(&[]), book.clone());
        let second = tokio::spawn(async move { others.enter(key("a"), &none).await.map(drop) });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(first);
        second.await.unwrap().unwrap();
        assert!(book.lock().waits.is_empty());
    }

    #[tokio::test]
    async fn nobody_waits_for_what_waits_for_him() {
        let book = SessionBook::new(None);
        let _a = book.enter(key("a"), &held(&[])).await.unwrap();
        let own = book.enter(key("a"), &held(&["a"])).await;
        assert_eq!(own.unwrap_err(), EnterError::IsOpen, "its own");

        // One chain holds a and wants b, the other holds b and c and wants a.
        let _b = book.enter(key("b"), &held(&[])).await.unwrap();
        let (holds_a, others) = (held(&["a"]), book.clone());
        let waits = tokio::spawn(async move { others.enter(key("b"), &holds_a).await.map(drop) });
        while book.lock().waits.is_empty() {
            tokio::task::yield_now().await;
        }
        let other = book.enter(key("a"), &held(&["b", "c"])).await;
        assert_eq!(other.unwrap_err(), EnterError::IsOpen, "through another");
        drop(_b);
        waits.await.unwrap().unwrap();
    }
}

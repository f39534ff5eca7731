//! The parent's own conversations: taken up before a run and kept after it. Must not touch a subagent's.

use std::collections::BTreeSet;

use super::request::{Continue, RunRequest};
use crate::history::History;
use crate::ids::{SessionId, UserId};
use crate::session::{SessionBook, SessionError, SessionKey, SessionStore, StoredSession};

/// The parent's conversations in a store, or none.
pub(super) struct Sessions<'a> {
    store: Option<&'a dyn SessionStore>,
}

impl<'a> Sessions<'a> {
    pub(super) fn of(book: &'a SessionBook) -> Self {
        Self { store: book.store().map(|store| &**store) }
    }

    /// The conversation that a request begins or goes on with, or why it cannot.
    pub(super) async fn begin(&self, request: &RunRequest) -> Result<(SessionId, History), String> {
        let Some(which) = &request.resume else {
            return Ok((SessionId::fresh(), History::new()));
        };
        let store = self.store.ok_or("cannot go on with a conversation: this host keeps none; give it a store with `HostBuilder::sessions`")?;
        let session = match which {
            Continue::Session(session) => session.clone(),
            Continue::Newest => self.newest(store, &request.user).await?,
        };
        let key = SessionKey::of_agent(&session, request.user.clone());
        match store.load(&key).await.map_err(|error| error.to_string())? {
            Some(stored) => Ok((session, stored.history)),
            None => Err(format!(
                "there is no conversation {session} of a parent agent for the user `{}`; leave it out to begin a new one",
                request.user
            )),
        }
    }

    async fn newest(&self, store: &dyn SessionStore, user: &UserId) -> Result<SessionId, String> {
        let list = store.list().await.map_err(|error| error.to_string())?;
        let own = list.sessions.into_iter().filter(|one| one.key.is_of_agent() && one.key.user == *user);
        // Ids are in the order of their making.
        own.map(|one| one.id)
            .max()
            .ok_or_else(|| format!("there is no conversation to go on with for the user `{user}`"))
    }

    /// Keeps a conversation, where there is a store.
    pub(super) async fn keep(
        &self,
        user: &UserId,
        session: SessionId,
        history: History,
    ) -> Result<(), SessionError> {
        let Some(store) = self.store else { return Ok(()) };
        let key = SessionKey::of_agent(&session, user.clone());
        store.save(&StoredSession { id: session, key, depth: 0, tools: BTreeSet::new(), history }).await
    }
}

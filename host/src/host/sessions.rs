//! The parent's own conversations: taken up before a run and kept after it. Must not touch a subagent's.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::request::{Continue, RunRequest};
use crate::history::History;
use crate::ids::{SessionId, UserId};
use crate::session::{Entered, SessionBook, SessionError, SessionKey, SessionStore, StoredSession};
use crate::task::KeepHistory;

/// The conversation of one run of a parent.
pub(super) struct Conversation<'a> {
    book: &'a SessionBook,
    user: UserId,
    pub(super) id: SessionId,
    /// The turn on it, where others may want to go on with it as well.
    entered: Option<Entered>,
}

impl<'a> Conversation<'a> {
    /// The conversation that a request begins or goes on with, and what was said in it; or why it cannot.
    pub(super) async fn begin(
        book: &'a Arc<SessionBook>,
        request: &RunRequest,
    ) -> Result<(Self, History), String> {
        let user = request.user.clone();
        let Some(which) = &request.resume else {
            return Ok((Self { book, user, id: SessionId::fresh(), entered: None }, History::new()));
        };
        if book.store().is_none() {
            return Err("cannot go on with a conversation: this host keeps none; give it a store with `HostBuilder::sessions`".to_owned());
        }
        let id = match which {
            Continue::Session(session) => session.clone(),
            Continue::Newest => newest(book, &user).await?,
        };
        let key = SessionKey::of_agent(&id, user.clone());
        let entered = book.enter(key, &Arc::from([])).await.map_err(|error| error.to_string())?;
        match entered.session().map(|session| session.history.clone()) {
            Some(history) => Ok((Self { book, user, id, entered: Some(entered) }, history)),
            None => Err(format!(
                "there is no conversation {id} of a parent agent for the user `{user}`; leave it out to begin a new one"
            )),
        }
    }

    /// What keeps the conversation while the run goes on, where there is a store.
    pub(super) fn keeper(&self) -> Option<Arc<dyn KeepHistory>> {
        let store = self.book.store()?.clone();
        let key = SessionKey::of_agent(&self.id, self.user.clone());
        Some(Arc::new(Keeper { store, id: self.id.clone(), key }))
    }

    /// Keeps the conversation, where there is a store.
    pub(super) async fn keep(self, history: History) -> Result<(), SessionError> {
        let Some(store) = self.book.store() else { return Ok(()) };
        let key = SessionKey::of_agent(&self.id, self.user);
        let session = StoredSession { id: self.id, key, depth: 0, tools: BTreeSet::new(), history };
        match self.entered {
            Some(mut entered) => entered.save(session).await,
            None => store.save(&session).await,
        }
    }
}

/// Keeps a parent's conversation under way.
#[derive(Debug)]
struct Keeper {
    store: Arc<dyn SessionStore>,
    id: SessionId,
    key: SessionKey,
}

#[async_trait]
impl KeepHistory for Keeper {
    async fn keep(&self, history: &History) -> Result<(), String> {
        let session = StoredSession {
            id: self.id.clone(),
            key: self.key.clone(),
            depth: 0,
            tools: BTreeSet::new(),
            history: history.clone(),
        };
        self.store.save(&session).await.map_err(|error| error.to_string())
    }
}

async fn newest(book: &SessionBook, user: &UserId) -> Result<SessionId, String> {
    let Some(store) = book.store() else { return Err("this host keeps no conversation".to_owned()) };
    let list = store.list().await.map_err(|error| error.to_string())?;
    let own = list.sessions.into_iter().filter(|one| one.key.is_of_agent() && one.key.user == *user);
    // Ids are in the order of their making.
    own.map(|one| one.id)
        .max()
        .ok_or_else(|| format!("there is no conversation to go on with for the user `{user}`"))
}

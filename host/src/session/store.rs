//! What is stored of a conversation, and what every store promises. Must not know where a store keeps it.

use std::collections::BTreeSet;
use std::fmt::Debug;

use async_trait::async_trait;
use serde::Serialize;

use super::error::SessionError;
use super::key::SessionKey;
use crate::history::History;
use crate::ids::{SessionId, ToolName};

/// A conversation with the rights that it was begun with.
#[derive(Clone, Debug)]
pub struct StoredSession {
    /// Its id. Another one where a conversation was begun anew under the same key.
    pub id: SessionId,
    /// What it is found by.
    pub key: SessionKey,
    /// How deep in the chain of delegations it was begun; 0 is the parent's own.
    pub depth: u32,
    /// The tools that it could use when it was begun.
    pub tools: BTreeSet<ToolName>,
    /// The messages. A loaded one has the default cap on results.
    pub history: History,
}

/// One readable session of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// What it is found by.
    pub key: SessionKey,
    /// How deep in the chain of delegations it was begun.
    pub depth: u32,
    /// The tools that it could use when it was begun.
    pub tools: BTreeSet<ToolName>,
    /// How many messages it has.
    pub messages: usize,
    /// What it takes where it is stored, in bytes.
    pub bytes: u64,
}

/// One entry of a list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableSession {
    /// What [`SessionStore::remove`] takes for it. Not the session's own id, which may not be readable.
    pub id: SessionId,
    /// Why it cannot be read.
    pub error: SessionError,
}

/// What a store holds, in the order of the ids: the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionList {
    /// What can be taken up again.
    pub sessions: Vec<SessionSummary>,
    /// What stands in a session's place and cannot be read.
    pub unreadable: Vec<UnreadableSession>,
}

/// Keeps conversations between runs. Any number of stores and processes may use one place at once: whoever reads
/// gets a whole session, and of several that save the last one stays.
#[async_trait]
pub trait SessionStore: Send + Sync + Debug {
    /// The session of `key`, `None` where none was stored.
    ///
    /// # Errors
    /// Where one is there and cannot be read, whatever is wrong with it.
    async fn load(&self, key: &SessionKey) -> Result<Option<StoredSession>, SessionError>;

    /// Stores `session` in the place of the one with its key.
    ///
    /// # Errors
    /// Where it cannot be written or is too large to be read again, and where the one that stands there cannot be
    /// read: that one is kept.
    async fn save(&self, session: &StoredSession) -> Result<(), SessionError>;

    /// What is stored.
    ///
    /// # Errors
    /// Where the store as a whole cannot be read. A session that cannot be is in the list.
    async fn list(&self) -> Result<SessionList, SessionError>;

    /// Removes what stands in the place of this key, readable or not. False where there is nothing.
    ///
    /// # Errors
    /// Where it is there and cannot be removed.
    async fn remove_of(&self, key: &SessionKey) -> Result<bool, SessionError>;

    /// Removes the session with this id, or the unreadable one that goes by it or still shows it. False where
    /// there is none.
    ///
    /// # Errors
    /// Where it is there and cannot be removed.
    async fn remove(&self, id: &SessionId) -> Result<bool, SessionError>;
}

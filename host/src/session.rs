//! Conversations that outlast a run: what one is, where it is kept, why it cannot be read. Must not decide when a
//! conversation is taken up again, nor what it may still do.
//!
//! A conversation belongs to a [`SessionKey`], a tool and a user, and there is at most one of each key. A store
//! gives back exactly what it was given, nothing where nothing was stored, or a [`SessionError`]. What cannot be
//! read is never taken for nothing: it stays where it is, [`SessionStore::save`] does not write over it, and
//! only [`SessionStore::remove`] or a person takes it away.

mod book;
mod directory;
mod document;
mod error;
mod key;
mod store;

pub use book::{EnterError, Entered, SessionBook};
pub use directory::DirectoryStore;
pub use error::SessionError;
pub use key::SessionKey;
pub use store::{SessionList, SessionStore, SessionSummary, StoredSession, UnreadableSession};

pub use crate::event::SessionMode;
pub use crate::ids::{SessionId, UserId};

//! Keeps sessions as files of one private directory. Must not know what a document looks like, nor wait for a
//! disk on a thread that others need.

mod files;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use super::document::{self, Unreadable, VERSION};
use super::error::SessionError;
use super::key::SessionKey;
use super::store::{SessionList, SessionStore, SessionSummary, StoredSession, UnreadableSession};
use crate::digest;
use crate::ids::SessionId;
use files::{Files, SUFFIX};

/// Sessions in a directory of their own, one file each that only its owner can read. A file is replaced as a
/// whole: whoever reads it sees the session before or the one after.
///
/// Clones share the directory.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    files: Arc<Files>,
}

impl DirectoryStore {
    /// Opens the directory at `path`, and makes it (mode 700, with what is missing above it) where it is not
    /// there. Clears away what writers that broke off more than an hour ago left half written.
    ///
    /// Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// [`SessionError::Directory`] where it cannot be made or opened, is a link, belongs to somebody else, or
    /// can be entered by somebody else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SessionError> {
        Ok(Self { files: Arc::new(Files::open(path.as_ref())?) })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Files) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let files = self.files.clone();
        tokio::task::spawn_blocking(move || work(&files)).await.unwrap_or_else(|error| {
            Err(SessionError::Io {
                path: self.files.path().to_owned(),
                message: format!("the work on it did not end: {error}"),
            })
        })
    }
}

#[async_trait]
impl SessionStore for DirectoryStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<StoredSession>, SessionError> {
        let name = file_name(key);
        self.blocking(move |files| load(files, &name)).await
    }

    async fn save(&self, session: &StoredSession) -> Result<(), SessionError> {
        let session = session.clone();
        self.blocking(move |files| save(files, &session)).await
    }

    async fn list(&self) -> Result<SessionList, SessionError> {
        self.blocking(list).await
    }

    async fn remove_of(&self, key: &SessionKey) -> Result<bool, SessionError> {
        let name = file_name(key);
        self.blocking(move |files| files.remove(&name)).await
    }

    async fn remove(&self, id: &SessionId) -> Result<bool, SessionError> {
        let id = id.clone();
        self.blocking(move |files| remove(files, &id)).await
    }
}

/// The name of a key's file. Nothing of the key shows in it, and no two keys share one.
fn file_name(key: &SessionKey) -> String {
    let digest = digest::of_parts(&[key.tool.as_str(), key.user.as_str()]);
    format!("{digest}{SUFFIX}")
}

fn load(files: &Files, name: &str) -> Result<Option<StoredSession>, SessionError> {
    files.read(name)?.map(|bytes| session_of(files, name, &bytes)).transpose()
}

/// The session in `bytes`, which are what the file `name` holds.
fn session_of(files: &Files, name: &str, bytes: &[u8]) -> Result<StoredSession, SessionError> {
    let path = || files.path().join(name);
    let session = document::from_bytes(bytes).map_err(|unreadable| match unreadable {
        Unreadable::Damaged { byte, message } => SessionError::Damaged { path: path(), byte, message },
        Unreadable::Newer { found } => SessionError::Newer { path: path(), found, known: VERSION },
    })?;
    if file_name(&session.key) != name {
        let SessionKey { tool, user } = &session.key;
        let message = format!(
            "expected the session of the tool and the user that the file is named after, found that of tool {tool:?} and user {user:?}"
        );
        return Err(SessionError::Damaged { path: path(), byte: 0, message });
    }
    Ok(session)
}

fn save(files: &Files, session: &StoredSession) -> Result<(), SessionError> {
    let name = file_name(&session.key);
    let bytes = document::to_bytes(session).map_err(|error| SessionError::Io {
        path: files.path().join(&name),
        message: format!("could not write it as JSON: {error}"),
    })?;
    // What cannot be read may be all that is left of a conversation: it is not written over.
    load(files, &name)?;
    files.replace(&name, &bytes)
}

fn list(files: &Files) -> Result<SessionList, SessionError> {
    let mut list = SessionList::default();
    for name in files.names()? {
        let read = files.read(&name).and_then(|bytes| {
            let Some(bytes) = bytes else { return Ok(None) };
            let session = session_of(files, &name, &bytes)?;
            Ok(Some(summary(session, bytes.len())))
        });
        match read {
            Ok(summary) => list.sessions.extend(summary),
            Err(error) => list.unreadable.push(UnreadableSession { id: handle(&name), error }),
        }
    }
    list.sessions.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(list)
}

fn summary(session: StoredSession, bytes: usize) -> SessionSummary {
    SessionSummary {
        messages: session.history.entries().len(),
        bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        id: session.id,
        key: session.key,
        depth: session.depth,
        tools: session.tools,
    }
}

/// What an unreadable file goes by: its name without the suffix.
fn handle(name: &str) -> SessionId {
    SessionId::from(name.strip_suffix(SUFFIX).unwrap_or(name))
}

fn remove(files: &Files, id: &SessionId) -> Result<bool, SessionError> {
    let (mut named, mut shown) = (None, None);
    for name in files.names()? {
        let bytes = files.read(&name);
        let session = match &bytes {
            Ok(None) => continue,
            Ok(Some(bytes)) => session_of(files, &name, bytes),
            Err(error) => Err(error.clone()),
        };
        match session {
            Ok(session) if session.id == *id => return files.remove(&name),
            Ok(_) => {}
            Err(_) if handle(&name) == *id => named = Some(name),
            Err(_) if bytes.ok().flatten().and_then(|bytes| document::id_in(&bytes)).as_ref() == Some(id) => {
                shown = Some(name);
            }
            Err(_) => {}
        }
    }
    named.or(shown).map_or(Ok(false), |name| files.remove(&name))
}

#[cfg(test)]
mod tests;

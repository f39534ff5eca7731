//! Why a stored conversation could not be had or kept. Says what to do; must not do it.

use std::path::PathBuf;

/// Why a store did not do what it was asked. What was stored stands, except that after an [`Io`](Self::Io) of a save
/// or a removal the new state may be there without being safe from a power cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The system refused.
    #[error("cannot use the stored session {}: {message}; see that the disk and the permissions allow it, then try again", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried and what the system said.
        message: String,
    },
    /// The directory is not one that sessions can be kept in.
    #[error("cannot keep sessions in {}: {message}", path.display())]
    Directory {
        /// The directory that was named.
        path: PathBuf,
        /// What was expected, what was found and what to do.
        message: String,
    },
    /// What stands there is not a whole session.
    #[error("the stored session {} is damaged at byte {byte}: {message}; nothing was changed: move the file away or remove the session, then a new one can begin", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where reading stopped, in bytes from the start of the file; 0 where it is the file as a whole.
        byte: u64,
        /// What was expected and what was found.
        message: String,
    },
    /// A newer host wrote it.
    #[error("the stored session {} has version {found}, and this program knows versions up to {known}; use a newer one, or move the file away to begin a new session", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the document.
        found: u64,
        /// The newest version that can be read.
        known: u64,
    },
    /// The conversation is larger than a store keeps.
    #[error("the session {} has {bytes} bytes, more than the {most} that are kept of one; nothing was changed: remove the session to begin a new one", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the document in bytes.
        bytes: u64,
        /// Most bytes of a document.
        most: u64,
    },
}

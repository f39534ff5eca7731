//! Why a store is not opened, told so that a person can act. Must not look at files.

use std::io;
use std::path::{Path, PathBuf};

use super::fault::primary_code;

/// A store that is not opened. Whatever lies there is left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Something else lies where the directory or a file belongs.
    #[error("`{}` is {found}, not {wanted}", path.display())]
    WrongKind {
        /// Where.
        path: PathBuf,
        /// What lies there.
        found: &'static str,
        /// What belongs there.
        wanted: &'static str,
    },
    /// It belongs to another user, who could read or forge records.
    #[error("`{}` belongs to user {owner}, not to user {user} who runs this program", path.display())]
    WrongOwner {
        /// Where.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// Others may write there.
    #[error("`{}` may be written by others (mode {mode:o}); take that right away with `chmod go-w`", path.display())]
    OpenToOthers {
        /// Where.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file is there but holds nothing, so whatever it held is gone.
    #[error("`{}` is empty, which no task store ever is; restore it or move it away", path.display())]
    Empty {
        /// Where.
        path: PathBuf,
    },
    /// The file is of another kind.
    #[error("`{}` is not a database; move it away", path.display())]
    NotADatabase {
        /// Where.
        path: PathBuf,
    },
    /// The file is a database of another program. It was not read.
    #[error("`{}` is the database of another program (application id {found:#010x})", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
        /// The application id it bears.
        found: u32,
    },
    /// A newer version of this program wrote it.
    #[error(
        "`{}` has version {found} and this program knows versions up to {known}; use a newer version of the program, or move the file away",
        path.display()
    )]
    Newer {
        /// Where.
        path: PathBuf,
        /// The version of the file.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The content is not sound.
    #[error("`{}` is damaged ({detail}); restore it or move it away", path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file system refused.
    #[error("failed to {doing} `{}`", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The database library refused.
    #[error("failed to {doing} `{}`", path.display())]
    Database {
        /// What was being done.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: sqlx::Error,
    },
}

const CORRUPT: u32 = 11;
const NOT_A_DATABASE: u32 = 26;

impl OpenError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// Tells damage from other faults of the database library.
    pub(super) fn database(doing: &'static str, path: &Path) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| {
            let path = path.to_owned();
            match primary_code(&source) {
                Some(CORRUPT) => Self::Damaged { path, detail: source.to_string() },
                Some(NOT_A_DATABASE) => Self::NotADatabase { path },
                Some(_) | None => Self::Database { doing, path, source },
            }
        }
    }
}

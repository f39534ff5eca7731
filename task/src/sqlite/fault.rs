//! Sorts what the database library reports. Must not decide what a fault leads to.

use std::sync::Arc;

use crate::TaskError;

const BUSY: u32 = 5;
const LOCKED: u32 = 6;

impl TaskError {
    /// Contention apart from the rest.
    pub(super) fn storage(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| match primary_code(&source) {
            Some(BUSY | LOCKED) => Self::Busy,
            Some(_) | None => Self::Storage { doing, source: Arc::new(source) },
        }
    }
}

/// The primary result code of SQLite in an error, if it holds one.
pub(super) fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    Some(code.parse::<u32>().ok()? & 0xff)
}

//! The tables, their version, and how a connection is set up. Must not read or write a record.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use super::OpenError;

/// "DPTY", in the header of the file.
pub(super) const APPLICATION_ID: u32 = 0x4450_5459;

/// The version of the tables below.
const VERSION: i64 = 1;

/// How long a write waits for another process to finish its own.
const BUSY: Duration = Duration::from_secs(10);

/// Up to this size a file is checked whole when it is opened.
const CHECKED_BYTES: u64 = 8 * 1024 * 1024;

/// Meant for PostgreSQL as it stands: `BIGINT`, `TEXT` and `BOOLEAN`, partial indexes, checks.
/// Each check is a rule that no code can get round. The counter is a row and no
/// `max(ended_sequence) + 1`, so that where writers are concurrent it orders them by its lock.
const TABLES: &str = "
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('ended', 0);
CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY,
    parent_session TEXT NOT NULL,
    parent_task TEXT REFERENCES tasks (id),
    root TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    agent_key TEXT NOT NULL,
    label TEXT,
    task TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled', 'lost')),
    result TEXT,
    partial TEXT,
    error TEXT,
    for_user TEXT,
    owner_host TEXT,
    owner_pid BIGINT,
    lease_until_ms BIGINT,
    created_ms BIGINT NOT NULL,
    started_ms BIGINT,
    ended_ms BIGINT,
    ended_sequence BIGINT UNIQUE,
    delivered BOOLEAN NOT NULL DEFAULT FALSE,
    cancel_requested BOOLEAN NOT NULL DEFAULT FALSE,
    restart_safe BOOLEAN NOT NULL DEFAULT FALSE,
    attempts BIGINT NOT NULL DEFAULT 0,
    CHECK ((status = 'completed') = (result IS NOT NULL)),
    CHECK ((status IN ('pending', 'running')) = (ended_sequence IS NULL)),
    CHECK ((status IN ('pending', 'running')) = (lease_until_ms IS NOT NULL)),
    CHECK (status <> 'running' OR owner_host IS NOT NULL),
    CHECK (NOT delivered OR ended_sequence IS NOT NULL)
);
CREATE INDEX tasks_alive ON tasks (lease_until_ms) WHERE ended_sequence IS NULL;
CREATE INDEX tasks_held ON tasks (owner_host) WHERE ended_sequence IS NULL;
CREATE INDEX tasks_awaited ON tasks (parent_session) WHERE ended_sequence IS NULL;
CREATE INDEX tasks_due ON tasks (parent_session, ended_sequence) WHERE NOT delivered;
CREATE INDEX tasks_below ON tasks (parent_task);
CREATE INDEX tasks_newest ON tasks (created_ms, id);
CREATE INDEX tasks_of_session ON tasks (parent_session, created_ms, id);
";

/// How every connection is set up. The pragmas are SQLite's own; all else is common SQL.
pub(super) fn options(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(false)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .pragma("trusted_schema", "OFF")
        .disable_statement_logging()
}

/// Fills an empty file with a whole store and leaves nothing beside it.
pub(super) async fn write_new(draft: &Path) -> Result<(), OpenError> {
    let fault = || OpenError::database("create a task store in", draft);
    let mut connection = options(draft).connect().await.map_err(fault())?;
    let all = format!(
        "BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {TABLES} COMMIT;"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(all)).execute(&mut connection).await.map_err(fault())?;
    // The last connection to close moves the log into the file and removes it.
    connection.close().await.map_err(fault())
}

/// The first connection to a file that looks like a store: checks the rest of it.
pub(super) async fn connect(file: &Path) -> Result<SqliteConnection, OpenError> {
    let mut connection = connect_again(file).await?;
    let application = number(&mut connection, file, "PRAGMA application_id").await?;
    if application != i64::from(APPLICATION_ID) {
        let found = u32::try_from(application & 0xffff_ffff).unwrap_or_default();
        return Err(OpenError::Foreign { path: file.to_owned(), found });
    }
    let found = number(&mut connection, file, "PRAGMA user_version").await?;
    if found > VERSION {
        return Err(OpenError::Newer { path: file.to_owned(), found, known: VERSION });
    }
    if found < VERSION {
        return Err(damaged(file, format!("version {found}, which never was")));
    }
    sound(&mut connection, file).await?;
    Ok(connection)
}

/// One more connection to a file that was checked.
pub(super) async fn connect_again(file: &Path) -> Result<SqliteConnection, OpenError> {
    options(file).connect().await.map_err(OpenError::database("open", file))
}

/// Looks for bytes too many or too few and, in a small file, at every page.
async fn sound(connection: &mut SqliteConnection, file: &Path) -> Result<(), OpenError> {
    let fault = || OpenError::database("check", file);
    // Within a transaction the count stays true: no checkpoint passes what a reader sees.
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM counters;").execute(&mut *connection).await.map_err(fault())?;
    let pages = number(connection, file, "PRAGMA page_count").await?;
    let size = number(connection, file, "PRAGMA page_size").await?;
    let end = u64::try_from(pages.saturating_mul(size)).unwrap_or_default();
    let length = std::fs::metadata(file).map_err(OpenError::io("look at", file))?.len();
    if length > end {
        return Err(damaged(
            file,
            format!("{} bytes follow its end at offset {end}", length.saturating_sub(end)),
        ));
    }
    // What is missing from the file may be in the log, but not in an empty one.
    let log = std::fs::metadata(log_of(file)).map_or(0, |log| log.len());
    if length < end && log == 0 {
        return Err(damaged(file, format!("it ends at offset {length} and should at {end}")));
    }
    if end <= CHECKED_BYTES {
        let found: String =
            sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut *connection).await.map_err(fault())?;
        if found != "ok" {
            return Err(damaged(file, found));
        }
    }
    sqlx::raw_sql("COMMIT").execute(&mut *connection).await.map_err(fault())?;
    Ok(())
}

/// Where SQLite keeps the write-ahead log of a file.
fn log_of(file: &Path) -> PathBuf {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

async fn number(connection: &mut SqliteConnection, file: &Path, sql: &'static str) -> Result<i64, OpenError> {
    sqlx::query_scalar(sql).fetch_one(connection).await.map_err(OpenError::database("read", file))
}

fn damaged(file: &Path, detail: String) -> OpenError {
    OpenError::Damaged { path: file.to_owned(), detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_is_as_durable_as_it_is_said_to_be() {
        let dir = tempfile::tempdir().unwrap();
        let draft = dir.path().join("draft");
        std::fs::write(&draft, "").unwrap();
        write_new(&draft).await.unwrap();
        let mut connection = connect(&draft).await.unwrap();
        let mode: String =
            sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut connection).await.unwrap();
        assert_eq!(mode, "wal");
        for (pragma, expected) in [
            ("PRAGMA synchronous", 2), // FULL: the log is synced at each commit
            ("PRAGMA foreign_keys", 1),
            ("PRAGMA busy_timeout", 10_000),
            ("PRAGMA trusted_schema", 0),
        ] {
            assert_eq!(number(&mut connection, &draft, pragma).await.unwrap(), expected, "{pragma}");
        }
    }
}

//! The store in a workspace, over one SQLite file. Must not decide what may become of a record.
//!
//! Every change goes through one writer that commits what waits together; questions go over a
//! small pool. Several processes may have the same store open. Write-ahead logging needs shared
//! memory, so the file must lie on a disk of this machine, not on a network share.

mod changes;
mod fault;
mod place;
mod refusal;
mod rows;
mod schema;
mod vigil;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::SqlitePool;
use sqlx::sqlite::SqlitePoolOptions;

pub use refusal::OpenError;

use super::changes::Bell;
use super::{
    Changes, End, NewTask, Owner, SessionId, TaskError, TaskFilter, TaskId, TaskRecord, TaskStatus, TaskStore,
};
use vigil::Vigil;
use writer::Writer;

/// How many questions are answered at once.
const READERS: u32 = 2;

/// Keeps records in the file `tasks.db` of one directory.
#[derive(Debug)]
pub struct SqliteTaskStore {
    file: PathBuf,
    readers: SqlitePool,
    writer: Writer,
    vigil: Vigil,
    bell: Bell,
}

impl SqliteTaskStore {
    /// Opens the store in this directory, and makes both where there is none.
    ///
    /// The directory (0700, with a `.gitignore` of its own) may be new, its parent may not.
    /// What is there and is no sound store of this program is refused and left as it is.
    /// Must be called within the tokio runtime that is to do the work.
    pub async fn open(dir: impl AsRef<Path>) -> Result<Self, OpenError> {
        let dir = dir.as_ref().to_owned();
        let file = place::prepare(dir).await?;
        let connection = schema::connect(&file).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_lazy_with(schema::options(&file).pragma("query_only", "ON"));
        let bell = Bell::new();
        let vigil = Vigil::spawn(schema::connect_again(&file).await?, bell.clone()).await;
        let writer = Writer::spawn(schema::options(&file), connection, bell.clone());
        Ok(Self { file, readers, writer, vigil, bell })
    }

    /// The file that holds the records.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// How many changes were answered, and how many commits they took.
    #[must_use]
    pub fn cost(&self) -> (u64, u64) {
        self.writer.cost()
    }

    /// Ends the work: what was sent before is written, what comes after is refused.
    pub async fn close(&self) {
        self.writer.close().await;
        self.vigil.stop().await;
        self.readers.close().await;
    }
}

#[async_trait]
impl TaskStore for SqliteTaskStore {
    async fn create(&self, new: NewTask) -> Result<TaskRecord, TaskError> {
        self.writer.write(changes::Create { new }).await
    }

    async fn start(&self, id: &TaskId, owner: Owner, lease_until_ms: i64) -> Result<TaskRecord, TaskError> {
        self.writer.write(changes::Start { id: id.clone(), owner, until: lease_until_ms }).await
    }

    async fn claim(&self, owner: Owner, lease_until_ms: i64) -> Result<Option<TaskRecord>, TaskError> {
        if rows::next_unheld(&self.readers).await?.is_none() {
            return Ok(None);
        }
        self.writer.write(changes::Claim { owner, until: lease_until_ms }).await
    }

    async fn heartbeat(&self, owner: Owner, lease_until_ms: i64) -> Result<u64, TaskError> {
        self.writer.write(changes::Heartbeat { owner, until: lease_until_ms }).await
    }

    async fn cancels(&self, owner: Owner) -> Result<Vec<TaskId>, TaskError> {
        rows::cancels(&self.readers, owner).await
    }

    async fn keep_partial(&self, id: &TaskId, owner: Owner, text: String) -> Result<(), TaskError> {
        self.writer.write(changes::KeepPartial { id: id.clone(), owner, text }).await
    }

    async fn finish(&self, id: &TaskId, owner: Owner, end: End) -> Result<TaskStatus, TaskError> {
        self.writer.write(changes::Finish { id: id.clone(), owner, end }).await
    }

    async fn cancel(&self, id: &TaskId) -> Result<Vec<TaskId>, TaskError> {
        self.writer.write(changes::Cancel { id: id.clone() }).await
    }

    async fn ended_undelivered(&self, session: &SessionId) -> Result<Vec<TaskRecord>, TaskError> {
        rows::ended_undelivered(&self.readers, session).await
    }

    async fn acknowledge(&self, ids: &[TaskId]) -> Result<Vec<TaskId>, TaskError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.writer.write(changes::Acknowledge { ids: Arc::from(ids) }).await
    }

    async fn get(&self, id: &TaskId) -> Result<TaskRecord, TaskError> {
        rows::get(&self.readers, id).await
    }

    async fn list(&self, filter: &TaskFilter) -> Result<Vec<TaskRecord>, TaskError> {
        rows::list(&self.readers, filter).await
    }

    async fn running_count(&self, session: &SessionId) -> Result<u64, TaskError> {
        rows::running_count(&self.readers, session).await
    }

    async fn sweep(&self, now_ms: i64) -> Result<Vec<TaskId>, TaskError> {
        // Most sweeps find nothing; those cost no commit.
        if rows::overdue(&self.readers, now_ms).await?.is_empty() {
            return Ok(Vec::new());
        }
        self.writer.write(changes::Sweep { now: now_ms }).await
    }

    fn changes(&self) -> Changes {
        self.bell.listen()
    }
}

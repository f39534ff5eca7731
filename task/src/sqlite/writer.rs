//! Writes what waits in one commit and answers only after it. Must not know what is written.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::TaskError;
use crate::changes::Bell;

/// At most so many changes share a commit, so that no answer waits for a long group.
const GROUP: usize = 256;

/// One change of the store, applied within a transaction of others.
#[async_trait]
pub(super) trait Change: Send + 'static {
    /// What the one who asked for it is told.
    type Answer: Send + 'static;

    /// Applies it. An error undoes what it did, and nothing else of its group.
    async fn apply(self, connection: &mut SqliteConnection) -> Result<Self::Answer, TaskError>;
}

/// The way to the one task that writes.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    work: tokio::sync::Mutex<Option<JoinHandle<()>>>,
    cost: Arc<Cost>,
}

#[derive(Debug, Default)]
struct Cost {
    changes: AtomicU64,
    commits: AtomicU64,
}

impl Writer {
    pub(super) fn spawn(options: SqliteConnectOptions, connection: SqliteConnection, bell: Bell) -> Self {
        let (sender, queue) = mpsc::channel(GROUP);
        let cost = Arc::new(Cost::default());
        let desk = Desk { options, connection: Some(connection), bell, cost: cost.clone() };
        let work = tokio::spawn(desk.run(queue));
        Self { queue: Mutex::new(Some(sender)), work: tokio::sync::Mutex::new(Some(work)), cost }
    }

    /// Hands a change over and waits until it is durable.
    pub(super) async fn write<C: Change>(&self, change: C) -> Result<C::Answer, TaskError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (reply, answer) = oneshot::channel();
        let slip = Slip { change: Some(change), outcome: None, reply: Some(reply) };
        queue.ok_or(TaskError::Closed)?.send(Box::new(slip)).await.map_err(|_| TaskError::Closed)?;
        answer.await.map_err(|_| TaskError::Closed)?
    }

    pub(super) fn cost(&self) -> (u64, u64) {
        (self.cost.changes.load(Ordering::Relaxed), self.cost.commits.load(Ordering::Relaxed))
    }

    pub(super) async fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = self.work.lock().await.take() {
            let _ = work.await;
        }
    }
}

/// A change whose type is forgotten, so that different ones share a group.
#[async_trait]
trait Job: Send {
    /// Whether it may stay.
    async fn apply(&mut self, connection: &mut SqliteConnection) -> bool;

    /// Tells the outcome, or why the group came to nothing.
    fn answer(&mut self, group: Option<&TaskError>);
}

struct Slip<C: Change> {
    change: Option<C>,
    outcome: Option<Result<C::Answer, TaskError>>,
    reply: Option<oneshot::Sender<Result<C::Answer, TaskError>>>,
}

#[async_trait]
impl<C: Change> Job for Slip<C> {
    async fn apply(&mut self, connection: &mut SqliteConnection) -> bool {
        let Some(change) = self.change.take() else { return false };
        let outcome = change.apply(connection).await;
        let stays = outcome.is_ok();
        self.outcome = Some(outcome);
        stays
    }

    fn answer(&mut self, group: Option<&TaskError>) {
        let told = match (self.outcome.take(), group) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(fault)) => Err(fault.clone()),
            (Some(Ok(answer)), None) => Ok(answer),
            (None, None) => Err(TaskError::Closed),
        };
        if let Some(reply) = self.reply.take() {
            // Whoever asked may be gone; the change stands all the same.
            let _ = reply.send(told);
        }
    }
}

/// Where the one who writes sits.
struct Desk {
    options: SqliteConnectOptions,
    /// None after a fault that left its state unknown.
    connection: Option<SqliteConnection>,
    bell: Bell,
    cost: Arc<Cost>,
}

impl Desk {
    async fn run(mut self, mut queue: mpsc::Receiver<Box<dyn Job>>) {
        let mut group = Vec::with_capacity(GROUP);
        while queue.recv_many(&mut group, GROUP).await > 0 {
            // Lets those who were just answered send their next change into this group.
            tokio::task::yield_now().await;
            while group.len() < GROUP
                && let Ok(job) = queue.try_recv()
            {
                group.push(job);
            }
            let fault = self.commit(&mut group).await.err();
            for mut job in group.drain(..) {
                job.answer(fault.as_ref());
            }
        }
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }

    /// One transaction for all. A connection that failed is dropped, which undoes what is open.
    async fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), TaskError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.options.connect().await.map_err(TaskError::storage("reopen"))?,
        };
        // `IMMEDIATE` takes SQLite's write lock at once; PostgreSQL has no such word or need.
        if let Err(fault) = run(&mut connection, "BEGIN IMMEDIATE", "begin").await {
            self.connection = Some(connection);
            return Err(fault);
        }
        let mut stay = 0;
        for job in group {
            run(&mut connection, "SAVEPOINT one", "begin").await?;
            if job.apply(&mut connection).await {
                stay += 1;
            } else {
                run(&mut connection, "ROLLBACK TO one", "undo").await?;
            }
            run(&mut connection, "RELEASE one", "end").await?;
        }
        run(&mut connection, if stay > 0 { "COMMIT" } else { "ROLLBACK" }, "commit").await?;
        self.connection = Some(connection);
        if stay > 0 {
            self.cost.changes.fetch_add(stay, Ordering::Relaxed);
            self.cost.commits.fetch_add(1, Ordering::Relaxed);
            self.bell.ring();
        }
        Ok(())
    }
}

async fn run(
    connection: &mut SqliteConnection,
    sql: &'static str,
    doing: &'static str,
) -> Result<(), TaskError> {
    sqlx::query(sql).execute(connection).await.map(drop).map_err(TaskError::storage(doing))
}

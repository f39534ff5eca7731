//! Notices changes of other processes, by looking while somebody waits. Must not read records.

use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;

use crate::changes::Bell;

/// How often it looks. SQLite has no message to other processes; PostgreSQL would have `LISTEN`.
const PACE: Duration = Duration::from_millis(250);

/// Looks until it is stopped or dropped.
#[derive(Debug)]
pub(super) struct Vigil(Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>);

impl Vigil {
    pub(super) async fn spawn(mut connection: SqliteConnection, bell: Bell) -> Self {
        let seen = version(&mut connection).await;
        let (stop, stopped) = oneshot::channel();
        let work = tokio::spawn(async move {
            tokio::select! {
                _ = stopped => {}
                () = look(&mut connection, &bell, seen) => {}
            }
            let _ = connection.close().await;
        });
        Self(Mutex::new(Some((stop, work))))
    }

    pub(super) async fn stop(&self) {
        if let Some((stop, work)) = self.0.lock().await.take() {
            drop(stop);
            let _ = work.await;
        }
    }
}

/// What was seen last is kept while nobody waits, so a change in between rings at the first
/// look of the next wait.
async fn look(connection: &mut SqliteConnection, bell: &Bell, mut seen: Option<i64>) {
    let mut waiting = bell.waiting();
    while waiting.wait_for(|count| *count > 0).await.is_ok() {
        let now = version(connection).await;
        if now != seen {
            seen = now;
            bell.ring();
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Differs from the value before where another connection has committed since. A failure is
/// a value too: those who wait look for themselves and see the fault.
async fn version(connection: &mut SqliteConnection) -> Option<i64> {
    sqlx::query_scalar("PRAGMA data_version").fetch_one(connection).await.ok()
}

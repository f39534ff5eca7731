//! Named behaviours of the stores, and what tests need to ask them. Must use the public interface only.

mod cost;
mod crash;
mod delivery;
mod leases;
mod life;
mod refusals;
mod sharing;
mod tree;

use super::{
    End, MemoryTaskStore, NewTask, Owner, Placement, SessionId, SqliteTaskStore, TaskId, TaskStore, now_ms,
};

/// Runs each behaviour over each store, as a test of its own.
macro_rules! over_both_stores {
    ($($behaviour:ident),+ $(,)?) => {
        mod memory {
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(&crate::MemoryTaskStore::new()).await;
            })+
        }
        mod sqlite {
            $(#[tokio::test]
            async fn $behaviour() {
                let (_dir, store) = crate::tests::sqlite().await;
                super::$behaviour(&store).await;
            })+
        }
    };
}
use over_both_stores;

/// A store in a directory that goes with the first value.
async fn sqlite() -> (tempfile::TempDir, SqliteTaskStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteTaskStore::open(dir.path().join(".deputy")).await.unwrap();
    (dir, store)
}

fn owner() -> Owner {
    Owner::this_process()
}

/// The end of a lease that begins now.
fn soon() -> i64 {
    now_ms() + 30_000
}

fn session() -> SessionId {
    SessionId::from("s")
}

fn new(id: &str, placement: Placement) -> NewTask {
    NewTask {
        id: TaskId::from(id),
        parent_session: session(),
        parent_task: None,
        agent_id: "explore".to_owned(),
        agent_key: "explore-1".to_owned(),
        label: Some("look".to_owned()),
        task: "look around".to_owned(),
        user: Some("me".to_owned()),
        placement,
        lease_until_ms: soon(),
        restart_safe: false,
    }
}

fn below(parent: &str, id: &str, placement: Placement) -> NewTask {
    NewTask { parent_task: Some(TaskId::from(parent)), ..new(id, placement) }
}

fn completed(text: &str) -> End {
    End::Completed(text.to_owned())
}

/// The names, for short comparisons.
fn names(ids: &[TaskId]) -> Vec<&str> {
    ids.iter().map(TaskId::as_str).collect()
}

/// The names of what is due to the session, in order.
async fn due(store: &dyn TaskStore) -> Vec<TaskId> {
    store.ended_undelivered(&session()).await.unwrap().into_iter().map(|record| record.id).collect()
}

#[test]
fn a_default_memory_store_is_a_store() {
    let _: Box<dyn TaskStore> = Box::new(MemoryTaskStore::default());
}

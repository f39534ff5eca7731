//! Two hosts on one file. Must not start a process: two stores of one process share nothing either.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::TaskStatus;

async fn two() -> (tempfile::TempDir, SqliteTaskStore, SqliteTaskStore) {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(".deputy");
    let (one, two) = tokio::join!(SqliteTaskStore::open(&place), SqliteTaskStore::open(&place));
    (dir, one.unwrap(), two.unwrap())
}

async fn claim_all(store: &SqliteTaskStore) -> Vec<TaskId> {
    let me = owner();
    let mut claimed = Vec::new();
    while let Some(record) = store.claim(me, soon()).await.unwrap() {
        claimed.push(record.id);
    }
    claimed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_make_the_store_at_once_get_the_same_one() {
    for _ in 0..10 {
        let (dir, one, two) = two().await;
        one.create(new("a", Placement::Queued)).await.unwrap();
        assert!(two.get(&"a".into()).await.is_ok());
        let left = std::fs::read_dir(dir.path().join(".deputy")).unwrap();
        let drafts =
            left.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().contains("new-"));
        assert_eq!(drafts.count(), 0, "no draft is left");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_never_claim_a_task_twice() {
    let (_dir, one, two) = two().await;
    for number in 0..60 {
        one.create(new(&number.to_string(), Placement::Queued)).await.unwrap();
    }
    let (first, second) = tokio::join!(claim_all(&one), claim_all(&two));
    let all: BTreeSet<TaskId> = first.iter().chain(&second).cloned().collect();
    assert_eq!((first.len() + second.len(), all.len()), (60, 60));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_start_wins_between_two_hosts() {
    let (_dir, one, two) = two().await;
    for number in 0..20 {
        let id = one.create(new(&number.to_string(), Placement::Queued)).await.unwrap().id;
        let (a, b) = tokio::join!(one.start(&id, owner(), soon()), two.start(&id, owner(), soon()));
        assert!(a.is_ok() != b.is_ok());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_that_drain_at_once_deliver_each_result_once() {
    let (_dir, one, two) = two().await;
    let me = owner();
    for number in 0..20 {
        let id = one.create(new(&number.to_string(), Placement::Running(me))).await.unwrap().id;
        one.finish(&id, me, completed("x")).await.unwrap();
    }
    let ended = due(&two).await;
    let (first, second) = tokio::join!(one.acknowledge(&ended), two.acknowledge(&ended));
    assert_eq!(first.unwrap().len() + second.unwrap().len(), 20);
}

#[tokio::test]
async fn a_cancel_of_another_process_wakes_the_holder() {
    let (_dir, host, command) = two().await;
    let me = owner();
    let id = host.create(new("a", Placement::Running(me))).await.unwrap().id;
    let mut changes = host.changes();
    assert_eq!(host.cancels(me).await.unwrap(), []);
    command.cancel(&id).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while host.cancels(me).await.unwrap().is_empty() {
        assert!(changes.wait(deadline).await, "the cancel was not seen");
    }
    assert_eq!(host.finish(&id, me, completed("x")).await.unwrap(), TaskStatus::Cancelled);
    let mut changes = command.changes();
    while command.get(&id).await.unwrap().status != TaskStatus::Cancelled {
        assert!(changes.wait(deadline).await, "the end was not seen");
    }
}

#[tokio::test]
async fn cancelled_stays_cancelled_after_a_restart() {
    let (_dir, store) = sqlite().await;
    let me = owner();
    let ran = store.create(new("ran", Placement::Running(me))).await.unwrap().id;
    let waited = store.create(new("waited", Placement::Queued)).await.unwrap().id;
    store.cancel(&ran).await.unwrap();
    store.cancel(&waited).await.unwrap();
    store.close().await;

    let again = SqliteTaskStore::open(store.file().parent().unwrap()).await.unwrap();
    assert!(again.claim(owner(), soon()).await.unwrap().is_none());
    again.sweep(now_ms() + 60_000).await.unwrap();
    for id in [ran, waited] {
        assert_eq!(again.get(&id).await.unwrap().status, TaskStatus::Cancelled);
    }
}

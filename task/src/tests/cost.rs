//! What a task costs in commits. Must not measure time.

use super::*;
use crate::TaskError;

#[tokio::test]
async fn one_task_alone_takes_one_commit_to_acknowledge_and_three_in_its_life() {
    let (_dir, store) = sqlite().await;
    let me = owner();
    let id = store.create(new("a", Placement::Running(me))).await.unwrap().id;
    assert_eq!(store.cost(), (1, 1));
    store.finish(&id, me, completed("x")).await.unwrap();
    store.acknowledge(&[id]).await.unwrap();
    assert_eq!(store.cost(), (3, 3));
    store.sweep(now_ms()).await.unwrap();
    store.claim(me, soon()).await.unwrap();
    assert_eq!(store.cost(), (3, 3), "looking in vain costs no commit");
}

#[tokio::test]
async fn fifty_tasks_in_flight_share_commits() {
    let (_dir, store) = sqlite().await;
    let (store, me) = (&store, owner());
    let life = |lane: u32| async move {
        for round in 0..5 {
            let id = store.create(new(&format!("{lane}-{round}"), Placement::Held(me))).await.unwrap().id;
            store.start(&id, me, soon()).await.unwrap();
            store.finish(&id, me, completed("x")).await.unwrap();
        }
    };
    let mut lives: Vec<_> = (0..50).map(|lane| Box::pin(life(lane))).collect();
    delivery::join(&mut lives).await;
    let (changes, commits) = store.cost();
    assert_eq!(changes, 750);
    assert!(commits * 5 <= changes, "{commits} commits for {changes} changes");
}

#[tokio::test]
async fn a_refused_change_does_not_fail_those_in_its_commit() {
    let (_dir, store) = sqlite().await;
    let me = owner();
    store.create(new("taken", Placement::Queued)).await.unwrap();
    let nobody = TaskId::from("unknown");
    let (good, taken, unknown, late) = tokio::join!(
        store.create(new("good", Placement::Running(me))),
        store.create(new("taken", Placement::Queued)),
        store.finish(&nobody, me, completed("x")),
        store.create(below("good", "late", Placement::Running(me))),
    );
    assert!(good.is_ok() && late.is_ok());
    assert!(matches!(taken, Err(TaskError::Exists { .. })));
    assert!(matches!(unknown, Err(TaskError::NotFound { .. })));
    assert_eq!(store.cost(), (3, 2), "four changes were handed over at once");
}

#[tokio::test]
async fn a_closed_store_refuses_and_leaves_one_file() {
    let (_dir, store) = sqlite().await;
    store.create(new("a", Placement::Queued)).await.unwrap();
    store.close().await;
    assert!(matches!(store.create(new("b", Placement::Queued)).await, Err(TaskError::Closed)));
    let again = SqliteTaskStore::open(store.file().parent().unwrap()).await.unwrap();
    assert_eq!(again.get(&"a".into()).await.unwrap().task, "look around");
}

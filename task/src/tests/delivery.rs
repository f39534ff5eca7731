//! Draining, acknowledging and being told of changes, over both stores. Must not sleep.

use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::{TaskError, TaskStatus};

over_both_stores!(
    results_are_due_in_order_of_ending,
    a_result_is_acknowledged_once,
    what_runs_cannot_be_acknowledged,
    a_change_between_look_and_wait_is_not_missed,
    a_wait_ends_at_its_deadline,
    two_hundred_tasks_at_once_all_arrive,
    of_a_cancel_and_a_finish_at_once_one_wins,
);

fn in_ten_seconds() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

async fn results_are_due_in_order_of_ending(store: &dyn TaskStore) {
    let me = owner();
    for id in ["1", "2", "3"] {
        store.create(new(id, Placement::Running(me))).await.unwrap();
    }
    store.create(new("4", Placement::Held(me))).await.unwrap();
    store.finish(&"3".into(), me, completed("x")).await.unwrap();
    store.cancel(&"4".into()).await.unwrap();
    store.finish(&"1".into(), me, End::Failed { error: "e".to_owned(), partial: None }).await.unwrap();
    assert_eq!(names(&due(store).await), ["3", "4", "1"]);
    let sequences = store.ended_undelivered(&session()).await.unwrap();
    assert!(sequences.is_sorted_by(|a, b| a.ended_sequence < b.ended_sequence));
    assert_eq!(store.ended_undelivered(&"t".into()).await.unwrap(), []);
}

async fn a_result_is_acknowledged_once(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("1", Placement::Running(me))).await.unwrap().id;
    store.finish(&id, me, completed("x")).await.unwrap();
    let both = [id.clone(), id.clone()];
    assert_eq!(store.acknowledge(&both).await.unwrap(), std::slice::from_ref(&id));
    assert_eq!(store.acknowledge(&both).await.unwrap(), []);
    assert_eq!(store.acknowledge(&[]).await.unwrap(), []);
    assert_eq!(due(store).await, []);
    assert!(store.get(&id).await.unwrap().delivered);
}

async fn what_runs_cannot_be_acknowledged(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("1", Placement::Running(me))).await.unwrap().id;
    assert_eq!(store.acknowledge(std::slice::from_ref(&id)).await.unwrap(), []);
    store.finish(&id, me, completed("x")).await.unwrap();
    assert_eq!(due(store).await, [id]);
}

async fn a_change_between_look_and_wait_is_not_missed(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("1", Placement::Running(me))).await.unwrap().id;
    let mut changes = store.changes();
    assert_eq!(due(store).await, []);
    store.finish(&id, me, completed("x")).await.unwrap();
    assert!(changes.wait(in_ten_seconds()).await);
    assert_eq!(due(store).await, [id]);
}

async fn a_wait_ends_at_its_deadline(store: &dyn TaskStore) {
    assert!(!store.changes().wait(Instant::now()).await);
}

async fn two_hundred_tasks_at_once_all_arrive(store: &dyn TaskStore) {
    let me = owner();
    let life = |number: u32| async move {
        let id = store.create(new(&format!("{number:03}"), Placement::Held(me))).await.unwrap().id;
        store.start(&id, me, soon()).await.unwrap();
        store.finish(&id, me, completed("x")).await.unwrap();
    };
    let mut lives: Vec<_> = (0..200).map(|number| Box::pin(life(number))).collect();
    join(&mut lives).await;
    let ended = due(store).await;
    assert_eq!(ended.len(), 200);
    assert_eq!(store.acknowledge(&ended).await.unwrap().len(), 200);
    assert_eq!(store.running_count(&session()).await.unwrap(), 0);
}

async fn of_a_cancel_and_a_finish_at_once_one_wins(store: &dyn TaskStore) {
    let me = owner();
    for number in 0..50 {
        let id = store.create(new(&number.to_string(), Placement::Running(me))).await.unwrap().id;
        let (ended, stopped) = tokio::join!(store.finish(&id, me, completed("x")), store.cancel(&id));
        let expected = match stopped.unwrap().len() {
            0 => TaskStatus::Completed,
            _ => TaskStatus::Cancelled,
        };
        assert_eq!(ended.unwrap(), expected);
        assert_eq!(store.get(&id).await.unwrap().status, expected);
        assert!(matches!(store.finish(&id, me, completed("y")).await, Err(TaskError::Illegal { .. })));
    }
}

/// Drives all of them on this task.
pub(super) async fn join<F: Future<Output = ()> + Unpin>(all: &mut Vec<F>) {
    std::future::poll_fn(|context| {
        all.retain_mut(|one| std::pin::Pin::new(one).poll(context).is_pending());
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

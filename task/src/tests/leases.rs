//! Leases, heartbeats and the sweep, over both stores. Must not wait for a clock: it says what time it is.

use super::*;
use crate::{MAX_LEASE_MS, TaskStatus};

over_both_stores!(
    a_living_host_is_left_alone,
    a_task_whose_host_died_fails_with_its_text,
    a_cancelled_task_whose_host_died_ends_as_cancelled,
    a_task_that_never_began_is_lost,
    a_finish_after_the_sweep_is_refused,
    a_late_finish_before_any_sweep_counts,
    a_task_safe_to_run_again_does_so_once,
    a_held_task_may_be_taken_over_when_the_lease_is_over,
    a_lease_from_before_the_clock_was_set_back_is_over,
    a_heartbeat_prolongs_all_tasks_of_one_host,
);

/// Later than any lease given here.
fn later() -> i64 {
    now_ms() + 60_000
}

async fn a_living_host_is_left_alone(store: &dyn TaskStore) {
    store.create(new("a", Placement::Running(owner()))).await.unwrap();
    store.create(new("b", Placement::Queued)).await.unwrap();
    assert_eq!(store.sweep(now_ms()).await.unwrap(), []);
}

async fn a_task_whose_host_died_fails_with_its_text(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("a", Placement::Running(me))).await.unwrap().id;
    store.keep_partial(&id, me, "half".to_owned()).await.unwrap();
    assert_eq!(store.sweep(later()).await.unwrap(), std::slice::from_ref(&id));
    assert_eq!(store.sweep(later()).await.unwrap(), [], "a second sweep finds nothing");
    let ended = store.get(&id).await.unwrap();
    assert_eq!((ended.status, ended.partial.as_deref()), (TaskStatus::Failed, Some("half")));
    assert_eq!(ended.error.as_deref(), Some("the process that ran this task died"));
    assert_eq!(due(store).await, [id]);
}

async fn a_cancelled_task_whose_host_died_ends_as_cancelled(store: &dyn TaskStore) {
    let id = store.create(new("a", Placement::Running(owner()))).await.unwrap().id;
    store.cancel(&id).await.unwrap();
    store.sweep(later()).await.unwrap();
    assert_eq!(store.get(&id).await.unwrap().status, TaskStatus::Cancelled);
}

async fn a_task_that_never_began_is_lost(store: &dyn TaskStore) {
    store.create(new("held", Placement::Held(owner()))).await.unwrap();
    store.create(new("queued", Placement::Queued)).await.unwrap();
    assert_eq!(names(&store.sweep(later()).await.unwrap()), ["held", "queued"]);
    for id in ["held", "queued"] {
        let record = store.get(&id.into()).await.unwrap();
        assert_eq!((record.status, record.attempts), (TaskStatus::Lost, 0));
    }
}

async fn a_finish_after_the_sweep_is_refused(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("a", Placement::Running(me))).await.unwrap().id;
    store.sweep(later()).await.unwrap();
    assert!(store.finish(&id, me, completed("late")).await.is_err());
    assert_eq!(store.get(&id).await.unwrap().result, None);
}

async fn a_late_finish_before_any_sweep_counts(store: &dyn TaskStore) {
    let me = owner();
    let task = NewTask { lease_until_ms: now_ms() - 1, ..new("a", Placement::Running(me)) };
    let id = store.create(task).await.unwrap().id;
    assert_eq!(store.finish(&id, me, completed("late")).await.unwrap(), TaskStatus::Completed);
    assert_eq!(store.sweep(later()).await.unwrap(), []);
}

async fn a_task_safe_to_run_again_does_so_once(store: &dyn TaskStore) {
    let (first, second) = (owner(), owner());
    let task = NewTask { restart_safe: true, ..new("a", Placement::Running(first)) };
    let id = store.create(task).await.unwrap().id;
    store.sweep(later()).await.unwrap();
    assert_eq!(store.get(&id).await.unwrap().status, TaskStatus::Pending);
    let again = store.claim(second, soon()).await.unwrap().unwrap();
    assert_eq!((again.id, again.attempts), (id.clone(), 2));
    assert!(store.finish(&id, first, completed("from the dead")).await.is_err());
    store.sweep(later()).await.unwrap();
    assert_eq!(store.get(&id).await.unwrap().status, TaskStatus::Failed, "it kills its host each time");
}

async fn a_held_task_may_be_taken_over_when_the_lease_is_over(store: &dyn TaskStore) {
    let other = owner();
    let task = NewTask { lease_until_ms: now_ms() - 1, ..new("a", Placement::Held(owner())) };
    let id = store.create(task).await.unwrap().id;
    assert_eq!(store.start(&id, other, soon()).await.unwrap().owner, Some(other));
}

async fn a_lease_from_before_the_clock_was_set_back_is_over(store: &dyn TaskStore) {
    let task = NewTask { lease_until_ms: i64::MAX, ..new("a", Placement::Running(owner())) };
    let record = store.create(task).await.unwrap();
    assert!(record.lease_until_ms.unwrap() <= now_ms() + MAX_LEASE_MS, "a lease has a longest length");
    assert_eq!(store.sweep(now_ms()).await.unwrap(), []);
    let a_year = 365 * 24 * 60 * 60 * 1000;
    assert_eq!(store.sweep(now_ms() - a_year).await.unwrap(), [record.id]);
}

async fn a_heartbeat_prolongs_all_tasks_of_one_host(store: &dyn TaskStore) {
    let (me, other) = (owner(), owner());
    store.create(new("1", Placement::Running(me))).await.unwrap();
    store.create(new("2", Placement::Held(me))).await.unwrap();
    store.create(new("3", Placement::Running(other))).await.unwrap();
    assert_eq!(store.heartbeat(me, now_ms() + 120_000).await.unwrap(), 2);
    assert_eq!(names(&store.sweep(later()).await.unwrap()), ["3"]);
}

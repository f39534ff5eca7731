//! Cancelling a task and what is below it, over both stores. Must not test files or processes.

use super::*;
use crate::{TaskError, TaskStatus};

over_both_stores!(
    cancel_reaches_four_levels_and_lists_what_it_stopped,
    cancel_reaches_below_what_has_ended,
    cancel_leaves_siblings_and_parents_alone,
    whatever_comes_after_a_cancel_ends_as_cancelled,
    nothing_starts_below_what_is_being_stopped,
    a_holder_sees_which_of_its_tasks_to_stop,
);

async fn chain(store: &dyn TaskStore) -> Owner {
    let me = owner();
    store.create(new("1", Placement::Running(me))).await.unwrap();
    store.create(below("1", "2", Placement::Running(me))).await.unwrap();
    store.create(below("2", "3", Placement::Running(me))).await.unwrap();
    let last = store.create(below("3", "4", Placement::Held(me))).await.unwrap();
    assert_eq!(last.root.as_str(), "1");
    me
}

async fn cancel_reaches_four_levels_and_lists_what_it_stopped(store: &dyn TaskStore) {
    let me = chain(store).await;
    assert_eq!(names(&store.cancel(&"1".into()).await.unwrap()), ["1", "2", "3", "4"]);
    assert_eq!(store.cancel(&"1".into()).await.unwrap(), [], "a second cancel stops nothing");
    for id in ["1", "2", "3"] {
        let record = store.get(&id.into()).await.unwrap();
        assert_eq!((record.status, record.cancel_requested), (TaskStatus::Running, true));
        store.finish(&record.id, me, End::Cancelled { partial: None }).await.unwrap();
    }
    assert_eq!(store.get(&"4".into()).await.unwrap().status, TaskStatus::Cancelled);
    assert_eq!(store.running_count(&session()).await.unwrap(), 0);
    assert!(matches!(store.start(&"4".into(), me, soon()).await, Err(TaskError::Illegal { .. })));
}

async fn cancel_reaches_below_what_has_ended(store: &dyn TaskStore) {
    let me = chain(store).await;
    store.finish(&"1".into(), me, completed("x")).await.unwrap();
    store.finish(&"2".into(), me, completed("x")).await.unwrap();
    assert_eq!(names(&store.cancel(&"1".into()).await.unwrap()), ["3", "4"]);
    assert_eq!(store.get(&"1".into()).await.unwrap().status, TaskStatus::Completed);
}

async fn cancel_leaves_siblings_and_parents_alone(store: &dyn TaskStore) {
    let me = chain(store).await;
    store.create(below("1", "sibling", Placement::Running(me))).await.unwrap();
    assert_eq!(names(&store.cancel(&"2".into()).await.unwrap()), ["2", "3", "4"]);
    assert!(!store.get(&"1".into()).await.unwrap().cancel_requested);
    assert!(!store.get(&"sibling".into()).await.unwrap().cancel_requested);
}

async fn whatever_comes_after_a_cancel_ends_as_cancelled(store: &dyn TaskStore) {
    let me = owner();
    let ends = [
        completed("text"),
        End::Failed { error: "stopped".to_owned(), partial: Some("text".to_owned()) },
        End::Cancelled { partial: Some("text".to_owned()) },
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let id = store.create(new(&number.to_string(), Placement::Running(me))).await.unwrap().id;
        assert_eq!(store.cancel(&id).await.unwrap(), std::slice::from_ref(&id));
        assert_eq!(store.finish(&id, me, end).await.unwrap(), TaskStatus::Cancelled);
        let ended = store.get(&id).await.unwrap();
        assert_eq!((ended.result, ended.partial.as_deref()), (None, Some("text")));
    }
}

async fn nothing_starts_below_what_is_being_stopped(store: &dyn TaskStore) {
    let me = owner();
    store.create(new("1", Placement::Running(me))).await.unwrap();
    store.cancel(&"1".into()).await.unwrap();
    let late = store.create(below("1", "2", Placement::Running(me))).await;
    assert!(matches!(late, Err(TaskError::ParentStopped { status: TaskStatus::Running, .. })));
    store.finish(&"1".into(), me, completed("x")).await.unwrap();
    let late = store.create(below("1", "2", Placement::Running(me))).await;
    assert!(matches!(late, Err(TaskError::ParentStopped { status: TaskStatus::Cancelled, .. })));
}

async fn a_holder_sees_which_of_its_tasks_to_stop(store: &dyn TaskStore) {
    let me = chain(store).await;
    store.create(new("other", Placement::Running(owner()))).await.unwrap();
    assert_eq!(store.cancels(me).await.unwrap(), []);
    store.cancel(&"3".into()).await.unwrap();
    store.cancel(&"other".into()).await.unwrap();
    assert_eq!(names(&store.cancels(me).await.unwrap()), ["3"]);
}

//! The states of one task, over both stores. Must not test trees or leases.

use super::*;
use crate::{TaskError, TaskFilter, TaskStatus};

over_both_stores!(
    a_task_goes_from_pending_over_running_to_completed,
    a_task_may_begin_running,
    a_second_task_of_a_name_is_refused,
    an_unknown_task_is_told_as_such,
    a_failure_keeps_the_text_kept_before,
    an_ended_task_changes_no_more,
    a_pending_task_cannot_complete,
    only_the_holder_may_start_keep_and_finish,
    a_claim_takes_the_oldest_that_nobody_holds,
    a_list_is_filtered_and_newest_first,
    running_count_counts_what_has_not_ended,
);

async fn a_task_goes_from_pending_over_running_to_completed(store: &dyn TaskStore) {
    let me = owner();
    let created = store.create(new("a", Placement::Held(me))).await.unwrap();
    assert_eq!((created.status, created.attempts), (TaskStatus::Pending, 0));
    assert_eq!(store.get(&created.id).await.unwrap(), created);

    let started = store.start(&created.id, me, soon()).await.unwrap();
    assert_eq!((started.status, started.owner, started.attempts), (TaskStatus::Running, Some(me), 1));
    assert_eq!(store.get(&created.id).await.unwrap(), started);

    assert_eq!(store.finish(&created.id, me, completed("done")).await.unwrap(), TaskStatus::Completed);
    let ended = store.get(&created.id).await.unwrap();
    assert_eq!((ended.result.as_deref(), ended.lease_until_ms), (Some("done"), None));
    assert!(ended.ended_sequence.is_some() && ended.ended_ms.is_some() && !ended.delivered);
}

async fn a_task_may_begin_running(store: &dyn TaskStore) {
    let created = store.create(new("a", Placement::Running(owner()))).await.unwrap();
    assert_eq!((created.status, created.attempts), (TaskStatus::Running, 1));
    assert!(created.started_ms.is_some());
}

async fn a_second_task_of_a_name_is_refused(store: &dyn TaskStore) {
    store.create(new("a", Placement::Queued)).await.unwrap();
    let again = store.create(NewTask { task: "other".to_owned(), ..new("a", Placement::Queued) }).await;
    assert!(matches!(again, Err(TaskError::Exists { id }) if id.as_str() == "a"));
    assert_eq!(store.get(&"a".into()).await.unwrap().task, "look around");
}

async fn an_unknown_task_is_told_as_such(store: &dyn TaskStore) {
    let id = TaskId::from("nobody");
    let me = owner();
    assert!(matches!(store.get(&id).await, Err(TaskError::NotFound { .. })));
    assert!(matches!(store.start(&id, me, soon()).await, Err(TaskError::NotFound { .. })));
    assert!(matches!(store.finish(&id, me, completed("x")).await, Err(TaskError::NotFound { .. })));
    assert!(matches!(store.cancel(&id).await, Err(TaskError::NotFound { .. })));
    let orphan = store.create(below("nobody", "a", Placement::Queued)).await;
    assert!(matches!(orphan, Err(TaskError::NotFound { .. })));
    assert_eq!(store.acknowledge(&[id]).await.unwrap(), []);
}

async fn a_failure_keeps_the_text_kept_before(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("a", Placement::Running(me))).await.unwrap().id;
    store.keep_partial(&id, me, "half".to_owned()).await.unwrap();
    let end = End::Failed { error: "429".to_owned(), partial: None };
    assert_eq!(store.finish(&id, me, end).await.unwrap(), TaskStatus::Failed);
    let ended = store.get(&id).await.unwrap();
    assert_eq!((ended.error.as_deref(), ended.partial.as_deref()), (Some("429"), Some("half")));
    assert_eq!(ended.result, None);
}

async fn an_ended_task_changes_no_more(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("a", Placement::Running(me))).await.unwrap().id;
    store.finish(&id, me, completed("first")).await.unwrap();
    let before = store.get(&id).await.unwrap();

    let again = store.finish(&id, me, completed("second")).await;
    assert!(matches!(again, Err(TaskError::Illegal { from: TaskStatus::Completed, .. })));
    assert!(matches!(store.start(&id, me, soon()).await, Err(TaskError::Illegal { .. })));
    assert!(matches!(store.keep_partial(&id, me, "late".to_owned()).await, Err(TaskError::Illegal { .. })));
    assert_eq!(store.cancel(&id).await.unwrap(), []);
    assert_eq!(store.heartbeat(me, soon()).await.unwrap(), 0);
    assert_eq!(store.get(&id).await.unwrap(), before);
}

async fn a_pending_task_cannot_complete(store: &dyn TaskStore) {
    let me = owner();
    let id = store.create(new("a", Placement::Held(me))).await.unwrap().id;
    let early = store.finish(&id, me, completed("x")).await;
    assert!(matches!(early, Err(TaskError::Illegal { from: TaskStatus::Pending, .. })));
    let end = End::Failed { error: "does not compile".to_owned(), partial: None };
    assert_eq!(store.finish(&id, me, end).await.unwrap(), TaskStatus::Failed);
}

async fn only_the_holder_may_start_keep_and_finish(store: &dyn TaskStore) {
    let (me, other) = (owner(), owner());
    let id = store.create(new("a", Placement::Held(me))).await.unwrap().id;
    assert!(matches!(store.start(&id, other, soon()).await, Err(TaskError::NotOwner { .. })));
    store.start(&id, me, soon()).await.unwrap();
    let text = "forged".to_owned();
    assert!(matches!(store.keep_partial(&id, other, text).await, Err(TaskError::NotOwner { .. })));
    assert!(matches!(store.finish(&id, other, completed("x")).await, Err(TaskError::NotOwner { .. })));
    assert_eq!(store.get(&id).await.unwrap().partial, None);
}

async fn a_claim_takes_the_oldest_that_nobody_holds(store: &dyn TaskStore) {
    let me = owner();
    store.create(new("0-held", Placement::Held(owner()))).await.unwrap();
    store.create(new("1-first", Placement::Queued)).await.unwrap();
    store.create(new("2-second", Placement::Queued)).await.unwrap();
    let mut claimed = Vec::new();
    while let Some(record) = store.claim(me, soon()).await.unwrap() {
        assert_eq!((record.status, record.owner), (TaskStatus::Running, Some(me)));
        claimed.push(record.id);
    }
    assert_eq!(names(&claimed), ["1-first", "2-second"]);
}

async fn a_list_is_filtered_and_newest_first(store: &dyn TaskStore) {
    let me = owner();
    store.create(new("1", Placement::Running(me))).await.unwrap();
    store.create(below("1", "2", Placement::Queued)).await.unwrap();
    let elsewhere = NewTask { parent_session: "t".into(), ..new("3", Placement::Running(me)) };
    store.create(elsewhere).await.unwrap();
    store.finish(&"3".into(), me, completed("x")).await.unwrap();
    let cases = [
        (TaskFilter::default(), vec!["3", "2", "1"]),
        (TaskFilter { session: Some(session()), ..TaskFilter::default() }, vec!["2", "1"]),
        (TaskFilter { root: Some("1".into()), ..TaskFilter::default() }, vec!["2", "1"]),
        (
            TaskFilter {
                statuses: vec![TaskStatus::Completed, TaskStatus::Running],
                ..TaskFilter::default()
            },
            vec!["3", "1"],
        ),
        (TaskFilter { limit: 1, ..TaskFilter::default() }, vec!["3"]),
    ];
    for (filter, expected) in cases {
        let found = store.list(&filter).await.unwrap();
        let found: Vec<&str> = found.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
}

async fn running_count_counts_what_has_not_ended(store: &dyn TaskStore) {
    let me = owner();
    store.create(new("1", Placement::Running(me))).await.unwrap();
    store.create(new("2", Placement::Queued)).await.unwrap();
    assert_eq!(store.running_count(&session()).await.unwrap(), 2);
    store.finish(&"1".into(), me, completed("x")).await.unwrap();
    assert_eq!(store.running_count(&session()).await.unwrap(), 1);
    assert_eq!(store.running_count(&"t".into()).await.unwrap(), 0);
}

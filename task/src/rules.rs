//! What may become of a record, as pure functions for every store. Must not store or read a clock.

use super::{End, NewTask, Owner, Placement, TaskError, TaskId, TaskRecord, TaskStatus};

/// The longest lease. A longer one is cut, and one that ends later than this from now counts
/// as over: it was written before the clock was set back and would never end.
pub const MAX_LEASE_MS: i64 = 60 * 60 * 1000;

/// How long a task that goes back to pending waits for a host before it is lost.
const RESTART_GRACE_MS: i64 = 60 * 1000;

/// How often a task is begun at most: one that kills its host each time ends as failed.
const MAX_ATTEMPTS: u32 = 2;

const DIED: &str = "the process that ran this task died";
const NEVER_BEGAN: &str = "this task never began: the host that was to run it died";

/// The record of a new task, below this parent.
pub(super) fn created(new: NewTask, parent: Option<&TaskRecord>, now: i64) -> Result<TaskRecord, TaskError> {
    if let Some(above) = parent
        && (above.status.is_ended() || above.cancel_requested)
    {
        return Err(TaskError::ParentStopped { parent: above.id.clone(), status: above.status });
    }
    let (status, owner) = match new.placement {
        Placement::Queued => (TaskStatus::Pending, None),
        Placement::Held(owner) => (TaskStatus::Pending, Some(owner)),
        Placement::Running(owner) => (TaskStatus::Running, Some(owner)),
    };
    let begun = status == TaskStatus::Running;
    Ok(TaskRecord {
        root: parent.map_or_else(|| new.id.clone(), |above| above.root.clone()),
        id: new.id,
        parent_session: new.parent_session,
        parent_task: new.parent_task,
        agent_id: new.agent_id,
        agent_key: new.agent_key,
        label: new.label,
        task: new.task,
        status,
        result: None,
        partial: None,
        error: None,
        user: new.user,
        owner,
        lease_until_ms: Some(lease(new.lease_until_ms, now)),
        created_ms: now,
        started_ms: begun.then_some(now),
        ended_ms: None,
        ended_sequence: None,
        delivered: false,
        cancel_requested: false,
        restart_safe: new.restart_safe,
        attempts: u32::from(begun),
    })
}

/// Begins a pending task.
pub(super) fn start(record: &mut TaskRecord, owner: Owner, until: i64, now: i64) -> Result<(), TaskError> {
    if record.status != TaskStatus::Pending {
        return Err(illegal(record, TaskStatus::Running));
    }
    if record.owner.is_some_and(|holder| holder != owner) && !is_over(record, now) {
        return Err(not_owner(&record.id));
    }
    record.status = TaskStatus::Running;
    record.owner = Some(owner);
    record.lease_until_ms = Some(lease(until, now));
    record.started_ms = Some(now);
    record.attempts = record.attempts.saturating_add(1);
    Ok(())
}

/// Keeps text of a running task.
pub(super) fn keep_partial(record: &mut TaskRecord, owner: Owner, text: String) -> Result<(), TaskError> {
    if record.status != TaskStatus::Running {
        return Err(illegal(record, TaskStatus::Running));
    }
    if record.owner != Some(owner) {
        return Err(not_owner(&record.id));
    }
    record.partial = Some(text);
    Ok(())
}

/// Ends a task as its owner reports it.
pub(super) fn finish(record: &mut TaskRecord, owner: Owner, end: End, now: i64) -> Result<(), TaskError> {
    let never_ran = record.status == TaskStatus::Pending && end.status() == TaskStatus::Completed;
    if record.status.is_ended() || never_ran {
        return Err(illegal(record, end.status()));
    }
    if record.owner != Some(owner) {
        return Err(not_owner(&record.id));
    }
    let (status, text, error) = match end {
        End::Completed(result) if record.cancel_requested => (TaskStatus::Cancelled, Some(result), None),
        End::Completed(result) => {
            record.result = Some(result);
            (TaskStatus::Completed, None, None)
        }
        End::Failed { error, partial } if record.cancel_requested => {
            (TaskStatus::Cancelled, partial, Some(error))
        }
        End::Failed { error, partial } => (TaskStatus::Failed, partial, Some(error)),
        End::Cancelled { partial } => (TaskStatus::Cancelled, partial, None),
    };
    record.partial = text.or(record.partial.take());
    record.cancel_requested |= status == TaskStatus::Cancelled;
    end_as(record, status, error, now);
    Ok(())
}

/// Stops a task; whether there was anything to stop.
pub(super) fn cancel(record: &mut TaskRecord, now: i64) -> bool {
    if record.status.is_ended() || record.cancel_requested {
        return false;
    }
    record.cancel_requested = true;
    if record.status == TaskStatus::Pending {
        end_as(record, TaskStatus::Cancelled, None, now);
    }
    true
}

/// Ends a task that nobody holds any more; whether it changed.
pub(super) fn sweep(record: &mut TaskRecord, now: i64) -> bool {
    if record.status.is_ended() || !is_over(record, now) {
        return false;
    }
    if record.status == TaskStatus::Pending {
        end_as(record, TaskStatus::Lost, Some(NEVER_BEGAN.to_owned()), now);
    } else if record.cancel_requested {
        end_as(record, TaskStatus::Cancelled, None, now);
    } else if record.restart_safe && record.attempts < MAX_ATTEMPTS {
        record.status = TaskStatus::Pending;
        record.owner = None;
        record.lease_until_ms = Some(now.saturating_add(RESTART_GRACE_MS));
    } else {
        end_as(record, TaskStatus::Failed, Some(DIED.to_owned()), now);
    }
    true
}

/// The end of a lease that may be written now.
pub(super) fn lease(until: i64, now: i64) -> i64 {
    until.min(now.saturating_add(MAX_LEASE_MS))
}

fn is_over(record: &TaskRecord, now: i64) -> bool {
    record.lease_until_ms.is_none_or(|until| until <= now || until > now.saturating_add(MAX_LEASE_MS))
}

fn end_as(record: &mut TaskRecord, status: TaskStatus, error: Option<String>, now: i64) {
    record.status = status;
    record.error = error;
    record.lease_until_ms = None;
    record.ended_ms = Some(now);
}

fn illegal(record: &TaskRecord, to: TaskStatus) -> TaskError {
    TaskError::Illegal { id: record.id.clone(), from: record.status, to }
}

fn not_owner(id: &TaskId) -> TaskError {
    TaskError::NotOwner { id: id.clone() }
}

//! A store for hosts without a workspace: the same rules, gone with the process. Must not touch a disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::changes::Bell;
use super::store::now_ms;
use super::{
    Changes, End, NewTask, Owner, SessionId, TaskError, TaskFilter, TaskId, TaskRecord, TaskStatus,
    TaskStore, rules,
};

/// Keeps records in memory. "Durable" means: as long as this value lives.
#[derive(Debug)]
pub struct MemoryTaskStore {
    shelf: Mutex<Shelf>,
    bell: Bell,
}

#[derive(Debug, Default)]
struct Shelf {
    /// In order of creation.
    records: BTreeMap<u64, TaskRecord>,
    places: BTreeMap<TaskId, u64>,
    last_place: u64,
    last_sequence: i64,
}

impl Shelf {
    fn get(&self, id: &TaskId) -> Result<&TaskRecord, TaskError> {
        let place = self.places.get(id);
        place.and_then(|place| self.records.get(place)).ok_or_else(|| TaskError::NotFound { id: id.clone() })
    }

    fn add(&mut self, record: TaskRecord) {
        self.last_place = self.last_place.saturating_add(1);
        self.places.insert(record.id.clone(), self.last_place);
        self.records.insert(self.last_place, record);
    }

    /// Puts a changed record in the place of the old one; gives it its place among the ended.
    fn save(&mut self, mut record: TaskRecord) {
        if record.status.is_ended() && record.ended_sequence.is_none() {
            self.last_sequence = self.last_sequence.saturating_add(1);
            record.ended_sequence = Some(self.last_sequence);
        }
        if let Some(place) = self.places.get(&record.id) {
            self.records.insert(*place, record);
        }
    }

    /// Applies a rule to each record that fits; lists those it changed.
    fn each(
        &mut self,
        fits: impl Fn(&TaskRecord) -> bool,
        rule: impl Fn(&mut TaskRecord) -> bool,
    ) -> Vec<TaskId> {
        let fitting: Vec<TaskRecord> = self.records.values().filter(|record| fits(record)).cloned().collect();
        let mut changed = Vec::new();
        for mut record in fitting {
            if rule(&mut record) {
                changed.push(record.id.clone());
                self.save(record);
            }
        }
        changed
    }
}

impl MemoryTaskStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self { shelf: Mutex::default(), bell: Bell::new() }
    }

    /// A rule works on a copy that is put back whole, so a panic leaves no half-made record.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(
        &self,
        id: &TaskId,
        rule: impl FnOnce(&mut TaskRecord) -> Result<(), TaskError>,
    ) -> Result<TaskRecord, TaskError> {
        let mut shelf = self.shelf();
        let mut record = shelf.get(id)?.clone();
        rule(&mut record)?;
        shelf.save(record.clone());
        drop(shelf);
        self.bell.ring();
        Ok(record)
    }

    fn each(
        &self,
        fits: impl Fn(&TaskRecord) -> bool,
        rule: impl Fn(&mut TaskRecord) -> bool,
    ) -> Vec<TaskId> {
        let changed = self.shelf().each(fits, rule);
        if !changed.is_empty() {
            self.bell.ring();
        }
        changed
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl TaskStore for MemoryTaskStore {
    async fn create(&self, new: NewTask) -> Result<TaskRecord, TaskError> {
        let mut shelf = self.shelf();
        if shelf.places.contains_key(&new.id) {
            return Err(TaskError::Exists { id: new.id });
        }
        let parent = new.parent_task.as_ref().map(|parent| shelf.get(parent)).transpose()?;
        let record = rules::created(new, parent, now_ms())?;
        shelf.add(record.clone());
        drop(shelf);
        self.bell.ring();
        Ok(record)
    }

    async fn start(&self, id: &TaskId, owner: Owner, lease_until_ms: i64) -> Result<TaskRecord, TaskError> {
        self.change(id, |record| rules::start(record, owner, lease_until_ms, now_ms()))
    }

    async fn claim(&self, owner: Owner, lease_until_ms: i64) -> Result<Option<TaskRecord>, TaskError> {
        let mut shelf = self.shelf();
        let waits = |record: &&TaskRecord| record.status == TaskStatus::Pending && record.owner.is_none();
        let Some(mut record) = shelf.records.values().find(waits).cloned() else { return Ok(None) };
        rules::start(&mut record, owner, lease_until_ms, now_ms())?;
        shelf.save(record.clone());
        drop(shelf);
        self.bell.ring();
        Ok(Some(record))
    }

    async fn heartbeat(&self, owner: Owner, lease_until_ms: i64) -> Result<u64, TaskError> {
        let until = rules::lease(lease_until_ms, now_ms());
        let mut alive = 0;
        for record in self.shelf().records.values_mut() {
            if record.owner == Some(owner) && !record.status.is_ended() {
                record.lease_until_ms = Some(until);
                alive += 1;
            }
        }
        Ok(alive)
    }

    async fn cancels(&self, owner: Owner) -> Result<Vec<TaskId>, TaskError> {
        let asked = |record: &&TaskRecord| {
            record.owner == Some(owner) && record.status == TaskStatus::Running && record.cancel_requested
        };
        Ok(self.shelf().records.values().filter(asked).map(|record| record.id.clone()).collect())
    }

    async fn keep_partial(&self, id: &TaskId, owner: Owner, text: String) -> Result<(), TaskError> {
        self.change(id, |record| rules::keep_partial(record, owner, text)).map(drop)
    }

    async fn finish(&self, id: &TaskId, owner: Owner, end: End) -> Result<TaskStatus, TaskError> {
        self.change(id, |record| rules::finish(record, owner, end, now_ms())).map(|record| record.status)
    }

    async fn cancel(&self, id: &TaskId) -> Result<Vec<TaskId>, TaskError> {
        let mut shelf = self.shelf();
        let mut below = BTreeSet::from([shelf.get(id)?.id.clone()]);
        // A child is created after its parent, so one pass in order of creation finds all.
        for record in shelf.records.values() {
            if record.parent_task.as_ref().is_some_and(|parent| below.contains(parent)) {
                below.insert(record.id.clone());
            }
        }
        let stopped =
            shelf.each(|record| below.contains(&record.id), |record| rules::cancel(record, now_ms()));
        drop(shelf);
        self.bell.ring();
        Ok(stopped)
    }

    async fn ended_undelivered(&self, session: &SessionId) -> Result<Vec<TaskRecord>, TaskError> {
        let due = |record: &&TaskRecord| {
            record.parent_session == *session && record.status.is_ended() && !record.delivered
        };
        let mut ended: Vec<TaskRecord> = self.shelf().records.values().filter(due).cloned().collect();
        ended.sort_by_key(|record| record.ended_sequence);
        Ok(ended)
    }

    async fn acknowledge(&self, ids: &[TaskId]) -> Result<Vec<TaskId>, TaskError> {
        let deliver = |record: &mut TaskRecord| {
            record.status.is_ended() && !std::mem::replace(&mut record.delivered, true)
        };
        Ok(self.each(|record| ids.contains(&record.id), deliver))
    }

    async fn get(&self, id: &TaskId) -> Result<TaskRecord, TaskError> {
        self.shelf().get(id).cloned()
    }

    async fn list(&self, filter: &TaskFilter) -> Result<Vec<TaskRecord>, TaskError> {
        let fits = |record: &&TaskRecord| {
            filter.session.as_ref().is_none_or(|session| record.parent_session == *session)
                && filter.root.as_ref().is_none_or(|root| record.root == *root)
                && (filter.statuses.is_empty() || filter.statuses.contains(&record.status))
        };
        let limit = usize::try_from(filter.limit).unwrap_or(usize::MAX);
        Ok(self.shelf().records.values().rev().filter(fits).take(limit).cloned().collect())
    }

    async fn running_count(&self, session: &SessionId) -> Result<u64, TaskError> {
        let alive = |record: &&TaskRecord| record.parent_session == *session && !record.status.is_ended();
        Ok(self.shelf().records.values().filter(alive).fold(0, |count, _| count + 1))
    }

    async fn sweep(&self, now_ms: i64) -> Result<Vec<TaskId>, TaskError> {
        Ok(self.each(|_| true, |record| rules::sweep(record, now_ms)))
    }

    fn changes(&self) -> Changes {
        self.bell.listen()
    }
}

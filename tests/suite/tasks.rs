//! Agents that work in the background: started, told of, stopped, and never lost.

mod delivery;
mod life;
mod spawning;
mod trees;

use std::sync::Arc;

use deputy::host::HostBuilder;
use deputy::model::Model;
use deputy::task::{MemoryTaskStore, TaskFilter, TaskRecord, TaskStatus, TaskStore};

use crate::support::{host, react, telling};

/// A host with two prompted subagents, and the records of its tasks.
fn with_store(model: Arc<dyn Model>) -> (HostBuilder, Arc<MemoryTaskStore>) {
    let store = Arc::new(MemoryTaskStore::new());
    let builder =
        telling(host(model)).task_store(store.clone()).subagent(react("ann")).subagent(react("bob"));
    (builder, store)
}

async fn records(store: &dyn TaskStore) -> Vec<TaskRecord> {
    let mut records = store.list(&TaskFilter { limit: 1000, ..TaskFilter::default() }).await.unwrap();
    records.reverse();
    records
}

async fn statuses(store: &dyn TaskStore) -> Vec<TaskStatus> {
    records(store).await.iter().map(|record| record.status).collect()
}

/// What stands behind `name: ` in a result of lines.
fn field(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

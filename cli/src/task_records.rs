//! Where the records of a workspace's background tasks are: `.deputy/tasks.db`. Must not make it before a task needs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use deputy::task::{TaskStore, TaskStoreSource};
use deputy_task::SqliteTaskStore;

/// The directory of a workspace that the records are in.
const DIRECTORY: &str = ".deputy";
/// The file in it.
const FILE: &str = "tasks.db";

/// The task records of one workspace.
#[derive(Debug)]
pub(crate) struct TaskRecords {
    directory: PathBuf,
}

impl TaskRecords {
    pub(crate) fn of(workspace: &Path) -> Self {
        Self { directory: workspace.join(DIRECTORY) }
    }
}

#[async_trait]
impl TaskStoreSource for TaskRecords {
    fn is_there(&self) -> bool {
        self.directory.join(FILE).symlink_metadata().is_ok()
    }

    async fn open(&self) -> Result<Arc<dyn TaskStore>, String> {
        match SqliteTaskStore::open(&self.directory).await {
            Ok(store) => Ok(Arc::new(store)),
            Err(error) => Err(format!("{:#}", anyhow::Error::new(error))),
        }
    }
}

//! Advisory locks, which the kernel gives back when their holder dies. Must not know what they guard.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::WorktreeError;

/// Longest wait for another host.
const WAIT: Duration = Duration::from_secs(120);
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    file: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing it is not enough: a process that is being started elsewhere in this one has it open for a moment.
        let _ = self.file.unlock();
    }
}

/// Locks `file`, found at `path`, as soon as nobody else holds it.
pub(super) async fn lock(file: File, path: &Path, what: &'static str) -> Result<Held, WorktreeError> {
    let end = Instant::now() + WAIT;
    let mut file = file;
    loop {
        match try_lock(file, path)? {
            Ok(held) => return Ok(held),
            Err(again) => file = again,
        }
        if Instant::now() >= end {
            return Err(WorktreeError::TimedOut { what, seconds: WAIT.as_secs() });
        }
        sleep(PAUSE).await;
    }
}

/// Locks `file`, or gives it back where somebody else holds it.
pub(super) fn try_lock(file: File, path: &Path) -> Result<Result<Held, File>, WorktreeError> {
    match file.try_lock() {
        Ok(()) => Ok(Ok(Held { file })),
        Err(TryLockError::WouldBlock) => Ok(Err(file)),
        Err(TryLockError::Error(source)) => Err(WorktreeError::io("lock", path)(source)),
    }
}

//! The commands that a run has in the background: how many, by which names, and that none outlives the run. Must not
//! know how a command is run or shut in.

mod command;
mod ring;

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(super) use command::{BackgroundCommand, Ended};

use super::{Finished, ToolError};

/// Most commands of one run that run in the background at one time.
const AT_ONCE: usize = 8;

/// Most commands of one run that are remembered; beyond that the one that ended longest ago is forgotten.
const REMEMBERED: usize = 32;

/// The commands that one run has in the background.
#[derive(Clone, Debug)]
pub struct BackgroundCommands {
    /// Set when the run is being stopped.
    stop: CancellationToken,
    /// Each is tracked until nothing of it runs any more.
    tracker: TaskTracker,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    started: u64,
    /// In the order of their starts.
    commands: Vec<Arc<BackgroundCommand>>,
}

impl BackgroundCommands {
    /// None yet, of the run that `cancel` stops.
    #[must_use]
    pub fn within(cancel: &CancellationToken) -> Self {
        Self { stop: cancel.child_token(), tracker: TaskTracker::new(), known: Arc::default() }
    }

    /// Stops all of them and waits until nothing of them runs any more. No other starts from then on.
    pub async fn end(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Starts one with the work that `run` makes of it. The work has to end soon once the command's token says so,
    /// and nothing of it may run any more then.
    ///
    /// # Errors
    /// [`ToolError::Failed`] where too many run; [`ToolError::Cancelled`] where the run is over.
    pub(super) fn start<F>(
        &self,
        run: impl FnOnce(Arc<BackgroundCommand>) -> F,
    ) -> Result<Arc<BackgroundCommand>, ToolError>
    where
        F: Future<Output = Result<Finished, ToolError>> + Send + 'static,
    {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let running: Vec<&str> = known.running().map(|one| one.id()).collect();
        if running.len() >= AT_ONCE {
            return Err(ToolError::Failed(format!(
                "{} commands run in the background, the most that may: {}; wait for one or stop one with `check_command`",
                running.len(),
                running.join(", ")
            )));
        }
        known.started = known.started.saturating_add(1);
        let command =
            Arc::new(BackgroundCommand::new(format!("command_{}", known.started), self.stop.child_token()));
        known.remember(command.clone());
        let (work, done) = (run(command.clone()), Unfinished(command.clone()));
        self.tracker.spawn(async move { done.end(work.await) });
        Ok(command)
    }

    /// The one of this name.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] with the names that there are.
    pub(super) fn get(&self, id: &str) -> Result<Arc<BackgroundCommand>, ToolError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.commands.iter().find(|one| one.id() == id).cloned().ok_or_else(|| {
            let ids: Vec<&str> = known.commands.iter().map(|one| one.id()).collect();
            let ids = if ids.is_empty() { "none was started".to_owned() } else { ids.join(", ") };
            ToolError::NotFound(format!("there is no command `{id}` in the background; there are: {ids}"))
        })
    }
}

impl Known {
    fn running(&self) -> impl Iterator<Item = &Arc<BackgroundCommand>> {
        self.commands.iter().filter(|one| one.ended().is_none())
    }

    fn remember(&mut self, command: Arc<BackgroundCommand>) {
        if self.commands.len() >= REMEMBERED
            && let Some(oldest) = self.commands.iter().position(|one| one.ended().is_some())
        {
            self.commands.remove(oldest);
        }
        self.commands.push(command);
    }
}

/// Ends a command's record whatever becomes of its work: a wait for one that broke off would never end.
struct Unfinished(Arc<BackgroundCommand>);

impl Unfinished {
    fn end(self, how: Result<Finished, ToolError>) {
        self.0.end(how);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.0.ended().is_none() {
            let why = "the host broke the command off by a fault of its own".to_owned();
            self.0.end(Err(ToolError::Failed(why)));
        }
    }
}

#[cfg(test)]
mod tests;

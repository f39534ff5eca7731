//! One command that runs in the background: its output until it is taken, and how it ended. Must not start it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::ring::{Ring, Taken};
use crate::tools::exec_helper::message::Live;
use crate::tools::{Finished, ToolError};

/// Most bytes of output that are kept until somebody looks.
const OUTPUT_BYTES: usize = 1024 * 1024;

/// How a command ended, and after how long.
#[derive(Clone, Debug)]
pub(in crate::tools) struct Ended {
    pub(in crate::tools) after: Duration,
    pub(in crate::tools) how: Result<Finished, ToolError>,
}

/// A command in the background.
#[derive(Debug)]
pub(in crate::tools) struct BackgroundCommand {
    id: String,
    began: Instant,
    stop: CancellationToken,
    output: Mutex<Ring>,
    ended: watch::Sender<Option<Ended>>,
}

impl BackgroundCommand {
    pub(super) fn new(id: String, stop: CancellationToken) -> Self {
        let output = Mutex::new(Ring::new(OUTPUT_BYTES));
        Self { id, began: Instant::now(), stop, output, ended: watch::Sender::new(None) }
    }

    /// What the model calls it.
    pub(in crate::tools) fn id(&self) -> &str {
        &self.id
    }

    /// Set when it is to end.
    pub(in crate::tools) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// How long it has been running.
    pub(in crate::tools) fn running_for(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes in output as it comes.
    pub(in crate::tools) fn said(&self, live: Live) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match live {
            Live::Output(text) => output.push(&text),
            Live::LeftOut(bytes) => output.lost(bytes),
        }
    }

    /// Output that nobody has taken yet.
    pub(in crate::tools) fn take(&self, most: usize) -> Taken {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).take(most)
    }

    /// How it ended, if it has.
    pub(in crate::tools) fn ended(&self) -> Option<Ended> {
        self.ended.borrow().clone()
    }

    /// Waits for its end; nothing of it runs any more then.
    pub(in crate::tools) async fn wait(&self) {
        // The sender lives as long as this.
        let _ = self.ended.subscribe().wait_for(Option::is_some).await;
    }

    pub(super) fn end(&self, how: Result<Finished, ToolError>) {
        self.ended.send_replace(Some(Ended { after: self.began.elapsed(), how }));
    }
}

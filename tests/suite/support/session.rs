//! Conversations in tests: subagents that reuse theirs, a store over a directory, the answer of a run.

use std::path::Path;
use std::sync::Arc;

use deputy::event::SessionMode;
use deputy::host::{Host, RunRequest};
use deputy::session::{DirectoryStore, SessionStore};
use deputy::subagent::Subagent;

use super::react;

/// A subagent that a prompt makes and that continues its conversation.
pub(crate) fn remembers(name: &str) -> Subagent {
    react(name).session_mode(SessionMode::Reuse)
}

/// The store in a directory.
pub(crate) fn store(at: &Path) -> Arc<dyn SessionStore> {
    Arc::new(DirectoryStore::open(at).unwrap())
}

/// What a run answers; one without an answer has failed the test.
pub(crate) async fn answer(host: &Host, request: impl Into<RunRequest>) -> String {
    let report = host.run(request).await;
    report.answer.unwrap_or_else(|| panic!("{:?}", report.error))
}

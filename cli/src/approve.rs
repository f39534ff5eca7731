//! Asks the person at the terminal about one call. Must not remember an answer for another one.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::Arc;

use async_trait::async_trait;
use deputy::governance::{ApprovalRequest, Approver, DenyAll};
use tokio::sync::Mutex;

use crate::render;

/// The person, where there is a terminal to ask at.
pub(crate) fn approver() -> Arc<dyn Approver> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        Arc::new(Person { one_at_a_time: Mutex::new(()) })
    } else {
        Arc::new(DenyAll)
    }
}

/// Somebody who could be asked: for a check, which asks nobody.
pub(crate) fn somebody() -> Arc<dyn Approver> {
    Arc::new(Person { one_at_a_time: Mutex::new(()) })
}

/// The person at the terminal.
#[derive(Debug)]
struct Person {
    one_at_a_time: Mutex<()>,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest) -> bool {
        let _one = self.one_at_a_time.lock().await;
        render::note(&format!(
            "allow {} to call {} with {}? [y/N] ",
            render::line(request.agent.as_str()),
            render::line(request.tool.as_str()),
            render::line(&request.arguments)
        ));
        let answer = tokio::task::spawn_blocking(|| {
            let mut answer = String::new();
            io::stdin().lock().read_line(&mut answer).map(|_| answer)
        });
        matches!(answer.await, Ok(Ok(answer)) if matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

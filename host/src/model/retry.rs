//! Tries a turn again where another try may help. Must not use anything of a turn that failed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Model, ModelError, Turn, TurnRequest};

/// The longest pause of our own between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How often and how soon a turn is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts at one turn, the first one counted; 3 by default. 0 counts as 1.
    pub attempts: u32,
    /// The pause after the first failure, doubled after each further one; 1 s by default. A server that
    /// asks for a longer pause gets it, up to a minute.
    pub first_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 3, first_delay: Duration::from_secs(1) }
    }
}

impl RetryPolicy {
    /// The pause after that many failures in a row.
    fn pause(&self, failures: u32, error: &ModelError) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let own = self.first_delay.saturating_mul(1 << doublings).min(LONGEST_PAUSE);
        own.max(error.retry_after().unwrap_or(Duration::ZERO))
    }
}

/// A model whose transient failures are tried again, a whole turn each time.
#[derive(Clone, Debug)]
pub struct Retrying<M> {
    inner: M,
    policy: RetryPolicy,
}

impl<M: Model> Retrying<M> {
    /// Tries the turns of `inner` again, as `policy` says.
    pub fn new(inner: M, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

#[async_trait]
impl<M: Model> Model for Retrying<M> {
    fn name(&self) -> String {
        self.inner.name()
    }

    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        let mut failures = 0;
        loop {
            let error = match self.inner.turn(request).await {
                Err(error) if error.is_transient() => error,
                answer => return answer,
            };
            failures += 1;
            if failures >= self.policy.attempts {
                // With one attempt there is no row of failures to speak of.
                return Err(match failures {
                    1 => error,
                    _ => ModelError::GaveUp { failures, last: Box::new(error) },
                });
            }
            let pause = self.policy.pause(failures, &error);
            request.observer.retry(failures, pause, &error);
            tokio::select! {
                biased;
                () = request.cancel.cancelled() => return Err(ModelError::Cancelled),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> String {
        (**self).name()
    }

    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        (**self).turn(request).await
    }
}

#[cfg(test)]
mod tests;

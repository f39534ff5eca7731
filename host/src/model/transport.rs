//! One HTTP exchange a turn, whatever the wire format: limits, cancellation, and errors that can be
//! shown. Holds the key; must not know what is inside a request or an answer.

mod answer;
mod clean;
mod client;
mod endpoint;
mod retry_after;

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};

pub(super) use clean::Cleaner;
pub(super) use client::client;
pub(super) use endpoint::{Endpoint, endpoint, same_origin, shown};

use super::assemble::Assembler;
use super::{Model, ModelError, Turn, TurnRequest};

/// The limits of one exchange with a model server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// Longest wait for a connection; 10 s by default.
    pub connect: Duration,
    /// Longest time in which nothing at all comes, pings counted as something; 60 s by default.
    /// Where no stream was asked for, the answer comes at once and only `total` counts.
    pub idle: Duration,
    /// Longest time of one attempt at a turn; 600 s by default.
    pub total: Duration,
    /// Most bytes of an answer as it comes over the wire; 256 MiB by default, since each token of a
    /// stream comes in an envelope of some hundred bytes.
    pub response_bytes: usize,
    /// Most bytes of one event of a stream; 16 MiB by default.
    pub event_bytes: usize,
    /// Most bytes of a turn; 8 MiB by default.
    pub turn_bytes: usize,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
            response_bytes: 256 * 1024 * 1024,
            event_bytes: 16 * 1024 * 1024,
            turn_bytes: 8 * 1024 * 1024,
        }
    }
}

/// A wire format: what is sent, and how what comes is read.
pub(super) trait Protocol: Send + Sync + std::fmt::Debug {
    /// The JSON body of a request.
    fn body(&self, request: &TurnRequest<'_>) -> Result<String, ModelError>;

    /// Whether it asks for a stream.
    fn streams(&self) -> bool;

    /// What reads a stream.
    fn assembler(&self, turn_cap: usize) -> Box<dyn Assembler>;

    /// Reads an answer that came whole.
    fn whole(&self, body: &str, turn_cap: usize, request_bytes: usize) -> Result<Turn, ModelError>;
}

/// A model behind HTTP.
pub(super) struct HttpModel {
    pub name: String,
    pub protocol: Box<dyn Protocol>,
    pub client: reqwest::Client,
    pub url: Url,
    /// The key and the version, where the provider wants them; marked sensitive, so that `Debug` hides the key.
    pub headers: HeaderMap,
    pub cleaner: Cleaner,
    pub limits: ModelLimits,
}

impl std::fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A base URL may hold a password.
        f.debug_struct("HttpModel")
            .field("name", &self.name)
            .field("protocol", &self.protocol)
            .field("url", &shown(&self.url))
            .field("headers", &self.headers)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for HttpModel {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        let exchange = tokio::time::timeout(self.limits.total, self.exchange(&request));
        let answer = tokio::select! {
            biased;
            // Dropping the exchange closes its connection.
            () = request.cancel.cancelled() => return Err(ModelError::Cancelled),
            answer = exchange => answer,
        };
        answer
            .unwrap_or_else(|_| {
                let total = self.limits.total;
                Err(self.timed_out(format!("the whole answer did not come within {total:?}")))
            })
            .map_err(|error| self.cleaner.error(error))
    }
}

impl HttpModel {
    async fn exchange(&self, request: &TurnRequest<'_>) -> Result<Turn, ModelError> {
        let body = self.protocol.body(request)?;
        let request_bytes = body.len();
        let accept = if self.protocol.streams() { "text/event-stream" } else { "application/json" };
        let sending = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(ACCEPT, HeaderValue::from_static(accept))
            .body(body)
            .send();
        let response = self.in_time(sending).await?.map_err(|error| self.unreachable(error))?;
        if !response.status().is_success() {
            return Err(self.status_error(response).await);
        }
        self.read(response, request, request_bytes).await
    }

    /// Waits for something to come, no longer than the idle limit where a stream was asked for.
    async fn in_time<F: Future>(&self, waiting: F) -> Result<F::Output, ModelError> {
        if !self.protocol.streams() {
            return Ok(waiting.await);
        }
        let idle = self.limits.idle;
        tokio::time::timeout(idle, waiting)
            .await
            .map_err(|_| self.timed_out(format!("nothing came for {idle:?}")))
    }

    fn timed_out(&self, limit: String) -> ModelError {
        ModelError::TimedOut { url: shown(&self.url), limit }
    }

    fn unreachable(&self, error: reqwest::Error) -> ModelError {
        if error.is_timeout() && error.is_connect() {
            return self.timed_out(format!("no connection within {:?}", self.limits.connect));
        }
        // The error's own text holds the URL with all its parts; ours says it without.
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            reason.push_str(": ");
            reason.push_str(&cause.to_string());
            source = cause.source();
        }
        ModelError::Unreachable { url: shown(&self.url), reason }
    }
}

#[cfg(test)]
mod tests;

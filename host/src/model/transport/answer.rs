//! Reads answers: a stream, a body that came whole, or an error status. Must not send anything.

use std::time::SystemTime;

use bytes::Bytes;
use futures_util::FutureExt;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use serde_json::Value;
use tokio::time::timeout;

use super::retry_after::retry_after;
use super::{HttpModel, shown};
use crate::model::assemble::{Assembler, Step, says_context_is_full, server_message};
use crate::model::sse::{SseEvent, SseParser};
use crate::model::{ModelError, Turn, TurnObserver, TurnRequest};

/// Most bytes that are read of an error's body.
const ERROR_BODY: usize = 64 * 1024;

/// What an answer with a good status is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Stream,
    Whole,
}

impl HttpModel {
    /// The turn in an answer with a good status.
    pub(super) async fn read(
        &self,
        mut response: Response,
        request: &TurnRequest<'_>,
        request_bytes: usize,
    ) -> Result<Turn, ModelError> {
        match self.form(&response)? {
            Form::Stream => self.read_stream(&mut response, request.observer, request_bytes).await,
            Form::Whole => self.read_whole(&mut response, request.observer, request_bytes).await,
        }
    }

    fn form(&self, response: &Response) -> Result<Form, ModelError> {
        let content_type = header(response, CONTENT_TYPE.as_str()).unwrap_or_default().to_lowercase();
        if content_type.contains("event-stream") {
            return Ok(Form::Stream);
        }
        if content_type.contains("json") {
            return Ok(Form::Whole);
        }
        if content_type.contains("html") {
            return Err(ModelError::Protocol {
                reason: format!(
                    "expected a model's answer from {}, a web page came (`{content_type}`); check the base URL",
                    shown(&self.url)
                ),
            });
        }
        Ok(if self.protocol.streams() { Form::Stream } else { Form::Whole })
    }

    async fn read_stream(
        &self,
        response: &mut Response,
        observer: &dyn TurnObserver,
        request_bytes: usize,
    ) -> Result<Turn, ModelError> {
        let mut stream = Stream::new(self);
        let mut read = 0;
        while let Some(chunk) = self.chunk(response, &mut read).await? {
            if stream.push(&chunk, observer)? {
                // What is left is the end of the body; taken, the connection can be used again.
                let _ = response.chunk().now_or_never();
                return stream.assembler.finish(request_bytes);
            }
        }
        stream.end(observer, request_bytes)
    }

    async fn read_whole(
        &self,
        response: &mut Response,
        observer: &dyn TurnObserver,
        request_bytes: usize,
    ) -> Result<Turn, ModelError> {
        let mut body = Vec::new();
        let mut read = 0;
        while let Some(chunk) = self.chunk(response, &mut read).await? {
            body.extend_from_slice(&chunk);
        }
        if !body.trim_ascii_start().starts_with(b"{") && !body.is_empty() {
            // Some servers send a stream under another name.
            let mut stream = Stream::new(self);
            stream.push(&body, observer)?;
            return stream.end(observer, request_bytes);
        }
        let body = String::from_utf8_lossy(&body);
        if body.trim().is_empty() {
            return Err(ModelError::Incomplete { reason: "the answer is empty".to_owned() });
        }
        let turn = self.protocol.whole(&body, self.limits.turn_bytes, request_bytes)?;
        let text = turn.message.text();
        if !text.is_empty() {
            observer.text(&text);
        }
        Ok(turn)
    }

    /// The next piece of a body; `read` counts all of them together.
    async fn chunk(&self, response: &mut Response, read: &mut usize) -> Result<Option<Bytes>, ModelError> {
        let chunk = self.in_time(response.chunk()).await?.map_err(|error| match self.unreachable(error) {
            ModelError::Unreachable { reason, .. } => ModelError::Incomplete { reason },
            other => other,
        })?;
        *read = read.saturating_add(chunk.as_ref().map_or(0, Bytes::len));
        if *read > self.limits.response_bytes {
            return Err(ModelError::Protocol {
                reason: format!(
                    "expected an answer of at most {} bytes, a longer one came",
                    self.limits.response_bytes
                ),
            });
        }
        Ok(chunk)
    }

    /// The error for an answer with another status.
    pub(super) async fn status_error(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let wait = header(&response, RETRY_AFTER.as_str());
        let retry_after = wait.and_then(|value| retry_after(value, SystemTime::now()));
        let target = header(&response, LOCATION.as_str()).filter(|_| status.is_redirection());
        let message = match target.map(|target| response.url().join(target)) {
            Some(Ok(target)) => {
                format!("it redirects to {}, which is not followed; set the base URL to that", shown(&target))
            }
            Some(Err(_)) => "it redirects to what is no URL".to_owned(),
            None => {
                let mut body = Vec::new();
                // Half a message is better than none, so that an error here ends the reading only.
                while let Ok(Ok(Some(chunk))) = timeout(self.limits.idle, response.chunk()).await {
                    body.extend_from_slice(&chunk);
                    if body.len() > ERROR_BODY {
                        break;
                    }
                }
                error_text(&String::from_utf8_lossy(&body), status)
            }
        };
        if matches!(status.as_u16(), 400 | 413) && says_context_is_full(&message) {
            return ModelError::ContextFull { message };
        }
        ModelError::Status { url: shown(&self.url), status: status.as_u16(), message, retry_after }
    }
}

/// A stream on its way to a turn.
struct Stream {
    parser: SseParser,
    assembler: Box<dyn Assembler>,
}

impl Stream {
    fn new(model: &HttpModel) -> Self {
        Self {
            parser: SseParser::new(model.limits.event_bytes),
            assembler: model.protocol.assembler(model.limits.turn_bytes),
        }
    }

    /// Takes a chunk; true once the turn is done.
    fn push(&mut self, chunk: &[u8], observer: &dyn TurnObserver) -> Result<bool, ModelError> {
        let mut events = Vec::new();
        let pushed = self.parser.push(chunk, &mut events);
        for event in &events {
            if self.take(event, observer)? {
                return Ok(true);
            }
        }
        pushed.map_err(|error| ModelError::Protocol { reason: error.to_string() })?;
        Ok(false)
    }

    fn end(mut self, observer: &dyn TurnObserver, request_bytes: usize) -> Result<Turn, ModelError> {
        let parser = std::mem::replace(&mut self.parser, SseParser::new(0));
        if let Some(event) = parser.finish() {
            self.take(&event, observer)?;
        }
        self.assembler.finish(request_bytes)
    }

    fn take(&mut self, event: &SseEvent, observer: &dyn TurnObserver) -> Result<bool, ModelError> {
        match self.assembler.take(event)? {
            Step::Quiet => Ok(false),
            Step::Text(text) => {
                observer.text(&text);
                Ok(false)
            }
            Step::Done => Ok(true),
        }
    }
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// What an error's body says, or the status in words where it says nothing.
fn error_text(body: &str, status: reqwest::StatusCode) -> String {
    let body = body.trim();
    if body.is_empty() {
        return status.canonical_reason().unwrap_or("no reason given").to_owned();
    }
    match serde_json::from_str::<Value>(body) {
        Ok(error) => server_message(&error),
        Err(_) => body.to_owned(),
    }
}

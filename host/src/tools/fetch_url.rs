//! The tool that reads one public web page: its result and how that reads.
//! Must not open connections or judge addresses; the web client does.

use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::render::{CUT_PAGE, page_head};
use deputy_contract::{FetchUrl, render};

use super::builtin::Operation;
use super::context::CallContext;
use super::error::ToolError;
use super::web::{ReadPage, WebClient, cut_at};
use crate::governance::{Effect, Permit};

const LOSSY_MARKER: &str = "\n\n[lossy: some bytes were not valid text and were replaced by `\u{fffd}`]";

/// One page as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Where the text came from, after redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// What the server says it is; empty where it says nothing.
    pub content_type: String,
    /// The readable text. It says so itself where bytes had to be replaced.
    pub text: String,
    /// True where a size cap cut the text.
    pub cut: bool,
}

/// Fetches one public page as text. Everything that it reaches goes through one [`WebClient`].
#[derive(Clone, Debug)]
pub struct FetchUrlTool {
    client: Arc<WebClient>,
}

impl FetchUrlTool {
    /// The tool over a client that may be shared between runs.
    #[must_use]
    pub fn new(client: Arc<WebClient>) -> Self {
        Self { client }
    }
}

#[async_trait]
impl Operation for FetchUrlTool {
    type Arguments = FetchUrl;
    type Output = Document;

    const EFFECT: Effect = Effect::Web;

    async fn run(&self, permit: Permit<FetchUrl>, context: &CallContext) -> Result<Document, ToolError> {
        let FetchUrl { url } = permit.into_arguments();
        let most = context.limits.result_bytes;
        let page = self.client.read(&url, most, &context.cancel).await?;
        Ok(fit(page, most))
    }

    fn render(&self, output: Document) -> String {
        render::document(&output.url, output.status, &output.content_type, &output.text, output.cut)
    }
}

/// The page with its text cut so that the rendered result stays within `most` bytes.
fn fit(page: ReadPage, most: usize) -> Document {
    let ReadPage { url, status, content_type, mut text, lossy, mut cut } = page;
    let taken = page_head(&url, status, &content_type).len() + if lossy { LOSSY_MARKER.len() } else { 0 };
    let room = most.saturating_sub(taken);
    if cut || text.len() > room {
        cut = true;
        text.truncate(cut_at(&text, room.saturating_sub(CUT_PAGE.len())));
    }
    if lossy {
        text.push_str(LOSSY_MARKER);
    }
    Document { url, status, content_type, text, cut }
}

#[cfg(test)]
mod tests;

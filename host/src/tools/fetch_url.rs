//! `fetch_url`: one public page as text. Must not decide which addresses are public: the client does.

use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::{FetchUrl, render};

use super::web::{Document, WebClient};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// Fetches pages.
#[derive(Clone, Debug)]
pub struct FetchUrlTool {
    web: Arc<WebClient>,
}

impl FetchUrlTool {
    /// Fetches them through `web`.
    #[must_use]
    pub fn new(web: Arc<WebClient>) -> Self {
        Self { web }
    }
}

#[async_trait]
impl Operation for FetchUrlTool {
    type Arguments = FetchUrl;
    type Output = Document;
    const EFFECT: Effect = Effect::Web;

    async fn run(&self, permit: Permit<FetchUrl>, context: &CallContext) -> Result<Document, ToolError> {
        let url = permit.into_arguments().url;
        self.web.fetch(&url, context.limits.result_bytes, &context.cancel).await
    }

    fn render(&self, page: Document) -> String {
        render::document(&page.url, page.status, &page.content_type, &page.text, page.cut)
    }
}

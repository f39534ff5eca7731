//! Fetches pages for tools: every address is checked before it is connected to, on every hop. Knows nothing of
//! models; must not send anything of the host's but the request.

mod address;
mod page;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, redirect};
use tokio_util::sync::CancellationToken;
use url::Url;

use address::is_public;
pub use page::Document;
use page::{Body, document};

use super::ToolError;

/// Limits of a fetch.
#[derive(Clone, Debug)]
pub struct WebLimits {
    /// Time for the whole fetch, redirects included. Default 30 s.
    pub total: Duration,
    /// Time for each connection. Default 10 s.
    pub connect: Duration,
    /// Most bytes of a body. Default 2 MiB.
    pub body_bytes: usize,
    /// Most redirects. Default 5.
    pub redirects: usize,
    /// Hosts, as `HOST` or `HOST:PORT`, that may be reached although their addresses are private: the
    /// operator's choice. Default: none.
    pub allow_private: Vec<String>,
}

impl Default for WebLimits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            body_bytes: 2 * 1024 * 1024,
            redirects: 5,
            allow_private: Vec::new(),
        }
    }
}

/// Fetches pages.
#[derive(Clone, Debug)]
pub struct WebClient {
    limits: WebLimits,
    tls: Arc<rustls::ClientConfig>,
}

/// A client for web pages cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a client for web pages cannot be made: {0}")]
pub struct WebUnavailable(String);

impl WebClient {
    /// A client under these limits.
    ///
    /// # Errors
    /// [`WebUnavailable`] where TLS cannot be set up at all.
    pub fn new(limits: WebLimits) -> Result<Self, WebUnavailable> {
        // Plain pages are still read on a machine without certificates.
        let tls = crate::tls::client_config(false).map_err(WebUnavailable)?;
        Ok(Self { limits, tls: Arc::new(tls) })
    }

    /// Fetches one page as text of at most `text_bytes` bytes.
    pub(super) async fn fetch(
        &self,
        address: &str,
        text_bytes: usize,
        cancel: &CancellationToken,
    ) -> Result<Document, ToolError> {
        let mut url = address::parse(address)?;
        let fetched = async {
            for _ in 0..=self.limits.redirects {
                let response = self.request(&url).await?;
                match redirected(&url, &response)? {
                    Some(next) => url = next,
                    None => return self.read(&url, response, text_bytes).await,
                }
            }
            Err(failed(&url, &format!("more than {} redirects", self.limits.redirects)))
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::Cancelled),
            fetched = tokio::time::timeout(self.limits.total, fetched) => fetched.unwrap_or_else(|_| {
                let limit = self.limits.total.as_millis();
                Err(ToolError::TimedOut(format!("the page did not come within {limit} ms")))
            }),
        }
    }

    /// One request to an address that was checked. A client of its own for each: it can connect there only.
    async fn request(&self, url: &Url) -> Result<Response, ToolError> {
        let addresses = self.resolve(url).await?;
        let host = url.host_str().unwrap_or_default();
        let client = Client::builder()
            .tls_backend_preconfigured((*self.tls).clone())
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(self.limits.connect)
            .pool_max_idle_per_host(0)
            .resolve_to_addrs(host, &addresses)
            .build()
            .map_err(|error| failed(url, &error.without_url().to_string()))?;
        let request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        request.send().await.map_err(|error| failed(url, &reasons(&error.without_url())))
    }

    /// The addresses of a host, all of them checked: one bad one refuses it.
    async fn resolve(&self, url: &Url) -> Result<Vec<SocketAddr>, ToolError> {
        let host = url.host_str().unwrap_or_default();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let port = url.port_or_known_default().unwrap_or(80);
        let addresses: Vec<SocketAddr> = match bare.parse() {
            Ok(ip) => vec![SocketAddr::new(ip, port)],
            Err(_) => match tokio::net::lookup_host((bare, port)).await {
                Ok(addresses) => addresses.collect(),
                Err(error) => return Err(failed(url, &format!("its name cannot be resolved: {error}"))),
            },
        };
        let named = [host.to_owned(), format!("{host}:{port}")];
        let allowed = self.limits.allow_private.iter().any(|one| named.contains(one));
        if !allowed && let Some(private) = addresses.iter().find(|address| !is_public(address.ip())) {
            return Err(ToolError::Failed(format!(
                "`{}` is not fetched: it leads to {}, which is no public address",
                page::shown_url(url),
                private.ip()
            )));
        }
        if addresses.is_empty() {
            return Err(failed(url, "its name has no address"));
        }
        Ok(addresses)
    }

    async fn read(&self, url: &Url, response: Response, text_bytes: usize) -> Result<Document, ToolError> {
        let header = |name| {
            response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| encoding != "identity") {
            return Err(failed(
                url,
                &format!("it is compressed ({encoding:?}) although it was asked not to be"),
            ));
        }
        let kind = header(CONTENT_TYPE).unwrap_or_default();
        let status = response.status().as_u16();
        let mut body = Body { bytes: Vec::new(), cut: false };
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| failed(url, &reasons(&error.without_url())))?;
            let room = self.limits.body_bytes.saturating_sub(body.bytes.len());
            body.bytes.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
            if piece.len() > room {
                body.cut = true;
                break;
            }
        }
        document(url, status, &kind, body, text_bytes).await
    }
}

/// Where a response sends us, checked like any address.
fn redirected(from: &Url, response: &Response) -> Result<Option<Url>, ToolError> {
    if !response.status().is_redirection() {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let location = location.to_str().map_err(|_| failed(from, "it redirects to what is no address"))?;
    let next = from.join(location).map_err(|_| failed(from, "it redirects to what is no address"))?;
    address::check(&next)?;
    if from.scheme() == "https" && next.scheme() == "http" {
        return Err(failed(from, "it redirects from https to http"));
    }
    Ok(Some(next))
}

fn failed(url: &Url, reason: &str) -> ToolError {
    ToolError::Failed(format!("cannot fetch `{}`: {}", page::shown_url(url), page::shown(reason)))
}

/// An error with what caused it.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;

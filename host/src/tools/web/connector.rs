//! One request to addresses that were checked before. Must not resolve, redirect, retry, use a proxy or keep
//! anything between requests.

use std::net::SocketAddr;
#[cfg(test)]
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue};
use rustls::ClientConfig;
#[cfg(test)]
use rustls::client::danger::ServerCertVerifier;
#[cfg(test)]
use rustls::crypto::CryptoProvider;
use url::Url;

use super::shown::shown;

/// Most header lines of an answer. Their bytes are bounded by the HTTP library (about 400 KiB).
const MOST_HEADERS: usize = 100;

/// Sends one GET to checked addresses.
#[async_trait]
pub(crate) trait Connector: Send + Sync + std::fmt::Debug {
    /// Asks for `url` at one of `addresses` and at nothing else.
    ///
    /// # Errors
    /// What went wrong, fit for a message.
    async fn get(&self, url: &Url, addresses: &[SocketAddr]) -> Result<reqwest::Response, String>;
}

/// The connector that opens real connections.
#[derive(Debug)]
pub(super) struct NetworkConnector {
    tls: ClientConfig,
    connect_time: Duration,
}

impl NetworkConnector {
    /// A connector that trusts what the platform trusts. On a machine without certificates it trusts nobody:
    /// plain pages are still read.
    pub(super) fn new(connect_time: Duration) -> Result<Self, String> {
        let mut tls = crate::tls::client_config(false)?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { tls, connect_time })
    }

    #[cfg(test)]
    pub(super) fn with_verifier(
        connect_time: Duration,
        provider: Arc<CryptoProvider>,
        verifier: Arc<dyn ServerCertVerifier>,
    ) -> Result<Self, rustls::Error> {
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            // The name is the library's: what is set here is a verifier that does check.
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { tls, connect_time })
    }
}

#[async_trait]
impl Connector for NetworkConnector {
    async fn get(&self, url: &Url, addresses: &[SocketAddr]) -> Result<reqwest::Response, String> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/html, text/*;q=0.9, */*;q=0.5"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        // A client of its own for each request: no connection, cookie or address outlives it. A host that is
        // an address never reaches the resolver; the caller has checked that address itself.
        let client = reqwest::Client::builder()
            .user_agent(concat!("deputy/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(Pinned(addresses.to_vec()))
            .connect_timeout(self.connect_time)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .pool_max_idle_per_host(0)
            .http1_only()
            .http1_max_headers(MOST_HEADERS)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()
            .map_err(describe)?;
        client.get(url.clone()).send().await.map_err(describe)
    }
}

/// Answers every look-up with the checked addresses.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(async move { Ok(addresses) })
    }
}

/// The innermost cause, which never holds the URL.
pub(super) fn describe(error: reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "connecting took too long"
    } else if error.is_connect() {
        "could not connect"
    } else {
        "the exchange failed"
    };
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    format!("{what} ({})", shown(&cause.to_string(), 200))
}

//! The way of one page: check the URL, resolve once, check every address, connect to those only, follow
//! redirects by the same steps, read within the limits. Must not judge text or addresses itself.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, TRANSFER_ENCODING};
use tokio_util::sync::CancellationToken;
use url::Host;

use super::address::not_public;
use super::connector::{Connector, NetworkConnector, describe};
use super::fault::WebFault;
use super::limits::{PrivatePlace, WebLimits, is_foreign_port};
use super::media::{Media, text_of};
use super::resolver::{Resolver, SystemResolver};
use super::shown::shown;
use super::target::Target;

/// Reads public web pages. Built once and shared; holds no connection, cookie or address between calls.
#[derive(Debug)]
pub struct WebClient {
    limits: WebLimits,
    private: Vec<PrivatePlace>,
    resolver: Arc<dyn Resolver>,
    connector: Arc<dyn Connector>,
}

/// Why no web client can be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebClientError {
    /// An entry of [`WebLimits::allow_private`] is not a place.
    #[error("`{entry}` in `allow_private` is not a `host` or `host:port`; correct or remove it")]
    PrivatePlace {
        /// The entry.
        entry: String,
    },
    /// TLS cannot be set up at all.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// One page as text, before it is fitted to a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct ReadPage {
    pub(in super::super) url: String,
    pub(in super::super) status: u16,
    pub(in super::super) content_type: String,
    pub(in super::super) text: String,
    /// True where bytes were no text and had to be replaced.
    pub(in super::super) lossy: bool,
    pub(in super::super) cut: bool,
}

/// What is left of an answer once its body is read.
struct Answer {
    target: Target,
    status: u16,
    content_type: String,
    media: Media,
    bytes: Vec<u8>,
    cut: bool,
}

impl WebClient {
    /// A client with these limits, over the system's resolver and certificates.
    ///
    /// # Errors
    /// [`WebClientError`] where the limits name no place or the system has no root certificates.
    pub fn new(limits: WebLimits) -> Result<Self, WebClientError> {
        Self::with_resolver(limits, Arc::new(SystemResolver))
    }

    /// A client that asks `resolver` for addresses. They are checked like any others.
    ///
    /// # Errors
    /// As [`WebClient::new`].
    pub fn with_resolver(limits: WebLimits, resolver: Arc<dyn Resolver>) -> Result<Self, WebClientError> {
        let connector = Arc::new(NetworkConnector::new(limits.connect_time).map_err(WebClientError::Tls)?);
        Self::with_parts(limits, resolver, connector)
    }

    pub(super) fn with_parts(
        limits: WebLimits,
        resolver: Arc<dyn Resolver>,
        connector: Arc<dyn Connector>,
    ) -> Result<Self, WebClientError> {
        let place = |entry: &String| {
            PrivatePlace::parse(entry).ok_or_else(|| WebClientError::PrivatePlace { entry: entry.clone() })
        };
        let private = limits.allow_private.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Self { limits, private, resolver, connector })
    }

    /// Reads the page at `url`; stops making text at about `text_bytes`.
    pub(in super::super) async fn read(
        &self,
        url: &str,
        text_bytes: usize,
        cancel: &CancellationToken,
    ) -> Result<ReadPage, WebFault> {
        let target = Target::parse(url)?;
        let reached = Mutex::new(target.to_string());
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(WebFault::Cancelled),
            page = tokio::time::timeout(self.limits.total_time, self.page(target, text_bytes, &reached)) => {
                page.unwrap_or_else(|_| {
                    let target = reached.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    Err(WebFault::Deadline { target, limit: self.limits.total_time })
                })
            }
        }
    }

    async fn page(
        &self,
        target: Target,
        text_bytes: usize,
        reached: &Mutex<String>,
    ) -> Result<ReadPage, WebFault> {
        let Answer { target, status, content_type, media, bytes, cut } = self.follow(target, reached).await?;
        let shown_target = target.to_string();
        let url = target.url().clone();
        // Conversion takes time in proportion to the bytes, which are capped.
        let text =
            tokio::task::spawn_blocking(move || text_of(&bytes, cut, &media, target.url(), text_bytes))
                .await
                .map_err(|error| WebFault::Conversion {
                    target: shown_target,
                    reason: shown(&error.to_string(), 100),
                })?;
        Ok(ReadPage {
            url: url.into(),
            status,
            content_type,
            text: text.text,
            lossy: text.lossy,
            cut: cut || text.cut,
        })
    }

    /// Follows redirects by hand; every hop goes through the same checks as the first.
    async fn follow(&self, mut target: Target, reached: &Mutex<String>) -> Result<Answer, WebFault> {
        let mut hop = 0;
        loop {
            let redirect = |fault: WebFault| match hop {
                0 => fault,
                _ => WebFault::Redirect { hop, fault: Box::new(fault) },
            };
            target.to_string().clone_into(&mut reached.lock().unwrap_or_else(PoisonError::into_inner));
            let addresses = self.checked_addresses(&target).await.map_err(redirect)?;
            let response = self
                .connector
                .get(target.url(), &addresses)
                .await
                .map_err(|reason| redirect(WebFault::NoAnswer { target: target.to_string(), reason }))?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return self.answer(target, response).await;
            }
            hop += 1;
            let next = next_target(&target, &response)
                .map_err(|fault| WebFault::Redirect { hop, fault: Box::new(fault) })?;
            if hop > self.limits.redirects {
                return Err(WebFault::Redirects { limit: self.limits.redirects, target: next.to_string() });
            }
            target = next;
        }
    }

    /// Every address of the target, each of them checked. One that is not public refuses all.
    async fn checked_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, WebFault> {
        let (host, port) = (target.host().to_string(), target.port());
        let named = self.private.iter().find(|place| place.is(&host, port));
        let port_is_open = match &self.limits.ports {
            Some(ports) => ports.contains(&port),
            None => !is_foreign_port(port),
        };
        if !port_is_open && !named.is_some_and(PrivatePlace::names_port) {
            return Err(WebFault::Port { port });
        }
        let addresses = match target.host() {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => {
                if named.is_none() && is_local_name(name) {
                    return Err(WebFault::LocalName { host, port });
                }
                self.lookup(name).await?
            }
        };
        if named.is_none()
            && let Some((address, kind)) =
                addresses.iter().find_map(|address| not_public(*address).map(|kind| (*address, kind)))
        {
            return Err(WebFault::NotPublic { host, port, address, kind });
        }
        Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
    }

    async fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, WebFault> {
        let none = |reason: &str| WebFault::NoAddress { host: shown(name, 100), reason: shown(reason, 100) };
        let addresses = self.resolver.resolve(name).await.map_err(|error| none(&error.to_string()))?;
        if addresses.is_empty() { Err(none("the answer was empty")) } else { Ok(addresses) }
    }

    /// Checks what the answer says of itself, then reads no more of it than the cap.
    async fn answer(&self, target: Target, mut response: reqwest::Response) -> Result<Answer, WebFault> {
        let encoded = foreign_values(response.headers(), &CONTENT_ENCODING, "identity")
            .or_else(|| foreign_values(response.headers(), &TRANSFER_ENCODING, "chunked"));
        if let Some(encoding) = encoded {
            return Err(WebFault::Encoding { target: target.to_string(), encoding });
        }
        let types = response.headers().get_all(CONTENT_TYPE).iter().map(|value| lossy(value.as_bytes()));
        let written: Vec<String> = types.collect();
        // Two types are two readings of one page: that is no text type.
        let content_type = shown(&written.join(" and "), 100);
        let media = if written.len() > 1 { None } else { Media::parse(&written.concat()) };
        let media = media.ok_or_else(|| WebFault::NotText {
            target: target.to_string(),
            content_type: content_type.clone(),
            size: response
                .content_length()
                .map_or("size unknown".to_owned(), |bytes| format!("{bytes} bytes")),
        })?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        let mut cut = false;
        while let Some(chunk) = response.chunk().await.map_err(|error| WebFault::BrokeOff {
            target: target.to_string(),
            bytes: bytes.len(),
            reason: describe(error),
        })? {
            let room = self.limits.body_bytes.saturating_sub(bytes.len());
            bytes.extend(chunk.iter().take(room));
            if chunk.len() > room {
                cut = true;
                break;
            }
        }
        if media.is_unknown() && bytes.contains(&0) {
            let size = format!("{}{} bytes", if cut { "more than " } else { "" }, bytes.len());
            let content_type = "no content type and not plain text".to_owned();
            return Err(WebFault::NotText { target: target.to_string(), content_type, size });
        }
        Ok(Answer { target, status, content_type, media, bytes, cut })
    }
}

fn next_target(target: &Target, response: &reqwest::Response) -> Result<Target, WebFault> {
    let unusable = || WebFault::Location { target: target.to_string(), status: response.status().as_u16() };
    let mut locations = response.headers().get_all(LOCATION).iter();
    let (Some(location), None) = (locations.next(), locations.next()) else { return Err(unusable()) };
    let location = std::str::from_utf8(location.as_bytes()).map_err(|_| unusable())?;
    let next = target.redirected(location)?;
    if target.is_https() && !next.is_https() {
        return Err(WebFault::Downgrade { target: target.to_string() });
    }
    Ok(next)
}

/// Names that mean this machine whatever a resolver says.
fn is_local_name(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    ["localhost", "localdomain", "ip6-localhost", "ip6-loopback"].contains(&last)
}

/// What a header lists beside `expected`, fit for a message.
fn foreign_values(headers: &HeaderMap, name: &HeaderName, expected: &str) -> Option<String> {
    let all: Vec<String> = headers.get_all(name).iter().map(|value| lossy(value.as_bytes())).collect();
    let all = all.join(",");
    let foreign = |value: &str| {
        let value = value.trim();
        !value.is_empty() && !value.eq_ignore_ascii_case(expected)
    };
    all.split(',').any(foreign).then(|| shown(&all, 100))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

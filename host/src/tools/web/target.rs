//! A URL as it was written, read by one parser and refused where another reader could see another host in it.
//! Must not resolve names.

use std::net::Ipv6Addr;

use url::{Host, Url};

use super::shown::{is_hidden, shown};

/// Most bytes of a URL.
const MOST_BYTES: usize = 4096;

/// Why a URL is not fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UrlRefusal {
    #[error("the URL has {bytes} bytes, at most {MOST_BYTES} are allowed; use a shorter one")]
    TooLong { bytes: usize },
    #[error(
        "the URL holds `{character}` at byte {at}, which readers of URLs treat in different ways; percent-encode it"
    )]
    Character { character: String, at: usize },
    #[error("the URL must begin with `http://` or `https://`; use one of them")]
    Scheme,
    #[error("the URL carries a user name or password before `@`; leave them out")]
    Credentials,
    #[error(
        "the URL has `@` right behind a host without a path, which can be read as another host; put `/` behind the host"
    )]
    HiddenAuthority,
    #[error("the port of the URL must be a plain number from 1 to 65535; write it so or leave it out")]
    Port,
    #[error(
        "the host `{host}` can be read in different ways (as `{read_as}` for one); write it in its plain form"
    )]
    Ambiguous { host: String, read_as: String },
    #[error("the URL cannot be read ({reason}); check it")]
    Unreadable { reason: String },
}

/// A URL whose host can be read in one way only. It has no credentials and no fragment.
#[derive(Clone, Debug)]
pub(super) struct Target {
    url: Url,
    host: Host<String>,
    port: u16,
}

impl Target {
    /// Reads `raw`.
    pub(super) fn parse(raw: &str) -> Result<Self, UrlRefusal> {
        check_text(raw)?;
        let rest = without_scheme(raw).ok_or(UrlRefusal::Scheme)?;
        let (authority, after) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlRefusal::Credentials);
        }
        if after.starts_with(['?', '#']) && after.contains('@') {
            return Err(UrlRefusal::HiddenAuthority);
        }
        let (written_host, written_port) = split_port(authority)?;
        let mut url = Url::parse(raw).map_err(|error| unreadable(&error))?;
        let host = url.host().ok_or_else(|| ambiguous(written_host, ""))?.to_owned();
        if !reads_as(written_host, &host) {
            return Err(ambiguous(written_host, &host.to_string()));
        }
        let port = url.port_or_known_default().ok_or(UrlRefusal::Port)?;
        if written_port.is_some_and(|written| written != port) {
            return Err(UrlRefusal::Port);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlRefusal::Credentials);
        }
        url.set_fragment(None);
        Ok(Self { url, host, port })
    }

    /// Reads the `Location` of an answer that came from here.
    pub(super) fn redirected(&self, location: &str) -> Result<Self, UrlRefusal> {
        check_text(location)?;
        if location.starts_with("//") {
            return Self::parse(&format!("{}:{location}", self.url.scheme()));
        }
        let first = location.split(['/', '?', '#']).next().unwrap_or_default();
        if first.contains(':') {
            return Self::parse(location);
        }
        let joined = self.url.join(location).map_err(|error| unreadable(&error))?;
        if joined.origin() != self.url.origin() {
            return Err(ambiguous("", joined.host_str().unwrap_or_default()));
        }
        Self::parse(joined.as_str())
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn host(&self) -> &Host<String> {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }
}

/// For messages: without the query, which may hold a token.
impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut plain = self.url.clone();
        let had_query = plain.query().is_some();
        plain.set_query(None);
        write!(formatter, "{}{}", shown(plain.as_str(), 200), if had_query { "?…" } else { "" })
    }
}

/// Refuses what some readers drop, fold or take for a slash.
fn check_text(raw: &str) -> Result<(), UrlRefusal> {
    if raw.len() > MOST_BYTES {
        return Err(UrlRefusal::TooLong { bytes: raw.len() });
    }
    let found = raw
        .char_indices()
        .find(|(_, character)| *character == '\\' || character.is_whitespace() || is_hidden(*character));
    match found {
        None => Ok(()),
        Some((at, character)) => {
            Err(UrlRefusal::Character { character: character.escape_default().to_string(), at })
        }
    }
}

fn without_scheme(raw: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let (start, rest) = raw.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

/// Parts `host[:port]`, with the brackets kept.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), UrlRefusal> {
    let (host, port) = match authority.rfind(']') {
        Some(bracket) => authority.split_at(bracket.saturating_add(1)),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if port.is_empty() {
        return Ok((host, None));
    }
    let digits = port.strip_prefix(':').ok_or_else(|| ambiguous(host, ""))?;
    let number: u16 = digits.parse().map_err(|_| UrlRefusal::Port)?;
    // `080` and `+80` parse as well; only the plain form is read alike everywhere.
    if number == 0 || number.to_string() != digits {
        return Err(UrlRefusal::Port);
    }
    Ok((host, Some(number)))
}

/// True where the text is the plain form of what the parser read.
fn reads_as(written: &str, host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => {
            let plain = |label: &str| {
                !label.is_empty()
                    && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            };
            written.eq_ignore_ascii_case(name) && written.split('.').all(plain)
        }
        Host::Ipv4(address) => written == address.to_string(),
        Host::Ipv6(address) => {
            let inner = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            inner.and_then(|text| text.parse::<Ipv6Addr>().ok()) == Some(*address)
        }
    }
}

fn ambiguous(host: &str, read_as: &str) -> UrlRefusal {
    UrlRefusal::Ambiguous { host: shown(host, 100), read_as: shown(read_as, 100) }
}

fn unreadable(error: &url::ParseError) -> UrlRefusal {
    UrlRefusal::Unreadable { reason: error.to_string() }
}

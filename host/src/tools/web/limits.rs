//! The operator's limits on web reading, and the private places that they name. Must not act on them.

use std::net::Ipv6Addr;
use std::time::Duration;

/// Limits on web reading. Set by the operator; nothing that a model writes changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebLimits {
    /// How long one call may take, redirects, answer and conversion included. Default 30 s.
    pub total_time: Duration,
    /// How long making one connection may take. Default 10 s.
    pub connect_time: Duration,
    /// Most bytes of an answer that are read. Default 2 MiB.
    pub body_bytes: usize,
    /// Most redirects that are followed. Default 5.
    pub redirects: usize,
    /// The only ports that may be reached. Default `None`: every port but those that belong to other
    /// protocols, such as mail.
    pub ports: Option<Vec<u16>>,
    /// Places that may be reached although they are not public, each an exact `host` or `host:port` (an IPv6
    /// address in brackets). With a port, that port is allowed too. Default: none.
    pub allow_private: Vec<String>,
}

impl Default for WebLimits {
    fn default() -> Self {
        Self {
            total_time: Duration::from_secs(30),
            connect_time: Duration::from_secs(10),
            body_bytes: 2 * 1024 * 1024,
            redirects: 5,
            ports: None,
            allow_private: Vec::new(),
        }
    }
}

/// One place that the operator named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PrivatePlace {
    host: String,
    port: Option<u16>,
}

impl PrivatePlace {
    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (inner, after) = rest.split_once(']')?;
                let address: Ipv6Addr = inner.parse().ok()?;
                (format!("[{address}]"), if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host.to_ascii_lowercase(), Some(port)),
                None => (text.to_ascii_lowercase(), None),
            },
        };
        let name = host.trim_matches(['[', ']']);
        let plain = |character: char| character.is_ascii_alphanumeric() || "-._:".contains(character);
        if name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        let port = port.map(str::parse).transpose().ok()?;
        Some(Self { host, port })
    }

    /// True where this is the place `host` (lower case, IPv6 in brackets) at `port`.
    pub(super) fn is(&self, host: &str, port: u16) -> bool {
        self.host == host && self.port.is_none_or(|named| named == port)
    }

    /// True where the operator named the port as well.
    pub(super) fn names_port(&self) -> bool {
        self.port.is_some()
    }
}

/// Ports of other protocols: a request sent there can act on a service that does not speak HTTP.
pub(super) fn is_foreign_port(port: u16) -> bool {
    matches!(
        port,
        0 | 1 | 7 | 9 | 11 | 13 | 15 | 17 | 19..=23 | 25 | 37 | 42 | 43 | 53 | 69 | 77 | 79 | 87 | 95
            | 101..=104 | 109..=111 | 113 | 115 | 117 | 119 | 123 | 135 | 137 | 139 | 143 | 161 | 179
            | 389 | 427 | 445 | 465 | 512..=515 | 526 | 530..=532 | 540 | 548 | 554 | 556 | 563 | 587
            | 601 | 636 | 989 | 990 | 993 | 995 | 1433 | 1719 | 1720 | 1723 | 2049 | 2375 | 2379
            | 3306 | 3389 | 3659 | 4045 | 4190 | 5060 | 5061 | 5432 | 5900 | 6000 | 6379 | 6566
            | 6665..=6669 | 6679 | 6697 | 9200 | 10080 | 11211 | 27017
    )
}

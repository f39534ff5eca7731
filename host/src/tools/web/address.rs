//! Which addresses may be fetched: one parser, no credentials, public addresses only. Must not connect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::tools::ToolError;
use crate::tools::web::page::shown;

/// Reads an address and refuses what could be read in two ways.
pub(super) fn parse(text: &str) -> Result<Url, ToolError> {
    let refused = |why: &str| ToolError::InvalidArguments(format!("`{}` is not fetched: {why}", shown(text)));
    if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(refused("an address holds no white space, control character or backslash"));
    }
    let url: Url =
        text.parse().map_err(|_| refused("expected an address such as https://example.org/page"))?;
    check(&url)?;
    Ok(url)
}

/// Refuses what no address of a page looks like.
pub(super) fn check(url: &Url) -> Result<(), ToolError> {
    let refused = |why: &str| {
        Err(ToolError::InvalidArguments(format!("`{}` is not fetched: {why}", super::page::shown_url(url))))
    };
    if !matches!(url.scheme(), "http" | "https") {
        return refused("expected http or https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("an address with a user name or password is ambiguous");
    }
    match url.host() {
        None => refused("it names no host"),
        Some(Host::Domain(name)) if is_local_name(name) => refused("it names this machine or its network"),
        Some(Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_)) => Ok(()),
    }
}

/// Names that stand for this machine whatever a resolver says.
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_lowercase();
    let ends = |suffix: &str| name == suffix || name.ends_with(&format!(".{suffix}"));
    ["localhost", "local", "internal", "localdomain", "home.arpa"].iter().any(|suffix| ends(suffix))
}

/// True for addresses of the public internet: not this machine, its network, a carrier's, a test range, or a
/// form that carries such an address inside.
#[must_use]
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let reserved = ip.is_unspecified()
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_multicast()
        || ip.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !reserved
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    // Global unicast is 2000::/3; everything else is local, reserved or carries something else.
    let global = (0x2000..0x4000).contains(&first);
    let special = match first {
        // Teredo, benchmarking and ORCHID; documentation.
        0x2001 => second < 0x0200 || second == 0x0db8,
        // 6to4 carries an IPv4 address.
        0x2002 => true,
        // Documentation.
        0x3fff => second < 0x1000,
        _ => false,
    };
    global && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_local_address_is_refused_before_any_connection() {
        for text in [
            "http://127.1/",
            "http://0x7f.1",
            "http://2130706433",
            "http://0177.0.0.1",
            "http://127.0.0.1:8080/x",
            "http://[::]",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]",
            "http://[::ffff:7f00:1]",
            "http://[64:ff9b::7f00:1]",
            "http://[2002:7f00:1::]",
            "http://0.0.0.0",
            "http://0",
            "http://169.254.169.254/latest",
            "http://[fd00::1]",
            "http://[fe80::1]",
            "http://100.64.0.1",
            "http://100.127.255.255",
            "http://10.1.2.3",
            "http://172.16.0.1",
            "http://172.31.255.255",
            "http://192.168.0.1",
            "http://192.0.0.1",
            "http://198.18.0.1",
            "http://224.0.0.1",
            "http://255.255.255.255",
            "http://240.0.0.1",
            "http://127。0。0。1",
            "http://１２７.0.0.1",
            "http://localhost.",
            "http://LOCALHOST",
            "http://a.localhost",
            "http://printer.local",
            "http://metadata.google.internal",
            "http://good@127.0.0.1/",
            "http://a:b@example.org/",
            "http://example.org\\@evil/",
            "http://exam ple.org",
            "http://example.org/\r\nHost: x",
            "ftp://example.org",
            "file:///etc/passwd",
            "gopher://x",
            "http://",
            "example.org",
            "http://[fe80::1%25eth0]/",
            "http://[2001:db8::1]/",
            "http://[2001::1]/",
            "http://0x7f000001/",
            "http://017700000001/",
        ] {
            let refused = match parse(text) {
                Err(_) => true,
                Ok(url) => match url.host() {
                    Some(Host::Ipv4(ip)) => !is_public(ip.into()),
                    Some(Host::Ipv6(ip)) => !is_public(ip.into()),
                    _ => false,
                },
            };
            assert!(refused, "{text}");
        }
    }

    #[test]
    fn public_addresses_are_not() {
        for text in [
            "https://example.org/a?b=c#d",
            "http://93.184.215.14/",
            "http://[2606:4700::1111]/",
            "http://172.32.0.1",
            "http://100.128.0.1",
        ] {
            let url = parse(text).unwrap();
            let public = match url.host() {
                Some(Host::Ipv4(ip)) => is_public(ip.into()),
                Some(Host::Ipv6(ip)) => is_public(ip.into()),
                _ => true,
            };
            assert!(public, "{text}");
        }
    }
}

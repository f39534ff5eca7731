//! Which addresses belong to the public internet. Must not resolve names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// IPv4 blocks that are not the public internet, each with what it is.
const NOT_PUBLIC_V4: [(Ipv4Net, &str); 19] = [
    (v4(0, 0, 0, 0, 8), "unspecified"),
    (v4(10, 0, 0, 0, 8), "private"),
    (v4(100, 64, 0, 0, 10), "shared by a carrier"),
    (v4(127, 0, 0, 0, 8), "loopback"),
    // The host agent of one cloud answers on an address from a public block.
    (v4(168, 63, 129, 16, 32), "cloud metadata"),
    (v4(169, 254, 0, 0, 16), "link-local"),
    (v4(172, 16, 0, 0, 12), "private"),
    (v4(192, 0, 0, 0, 24), "reserved"),
    (v4(192, 0, 2, 0, 24), "for documentation"),
    (v4(192, 31, 196, 0, 24), "reserved"),
    (v4(192, 52, 193, 0, 24), "reserved"),
    (v4(192, 88, 99, 0, 24), "a relay"),
    (v4(192, 168, 0, 0, 16), "private"),
    (v4(192, 175, 48, 0, 24), "reserved"),
    (v4(198, 18, 0, 0, 15), "for benchmarks"),
    (v4(198, 51, 100, 0, 24), "for documentation"),
    (v4(203, 0, 113, 0, 24), "for documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    (v4(240, 0, 0, 0, 4), "reserved"),
];

/// What is public of IPv6 is inside this block.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// IPv6 blocks inside [`GLOBAL_V6`] that are not the public internet.
const NOT_PUBLIC_V6: [(Ipv6Net, &str); 5] = [
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "reserved or a tunnel"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "for documentation"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "a 6to4 tunnel"),
    (v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), "reserved"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "for documentation"),
];

/// Blocks whose last 32 bits are an IPv4 address, which is what decides.
const CARRIES_V4: [Ipv6Net; 2] =
    [v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96)];

/// `None` where `address` is on the public internet, else what it is.
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    NOT_PUBLIC_V4.iter().find(|(block, _)| block.contains(&address)).map(|(_, kind)| *kind)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let [.., high, low] = address.segments();
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    let carried = Ipv4Addr::new(a, b, c, d);
    if CARRIES_V4.iter().any(|block| block.contains(&address)) {
        return not_public_v4(carried);
    }
    if !GLOBAL_V6.contains(&address) {
        return Some(kind_outside(address));
    }
    let block = NOT_PUBLIC_V6.iter().find(|(block, _)| block.contains(&address)).map(|(_, kind)| *kind);
    block.or_else(|| is_isatap(address).then(|| not_public_v4(carried)).flatten())
}

/// What an address outside the global block is.
fn kind_outside(address: Ipv6Addr) -> &'static str {
    if address.is_loopback() {
        "loopback"
    } else if address.is_multicast() {
        "multicast"
    } else if address.is_unicast_link_local() {
        "link-local"
    } else if address.is_unique_local() {
        "private"
    } else {
        "reserved"
    }
}

/// True where the lower half is `(0|200):5efe:` and an IPv4 address to tunnel to.
fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _])
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

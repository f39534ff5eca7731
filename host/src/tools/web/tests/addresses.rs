//! No spelling of a place that is not public leads to a connection: directly, by redirect, by a name, by a name
//! that changes its mind, or by a name with good and bad addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::support::{Bench, LOOPBACK, Reply, Script, Server};
use crate::tools::web::fault::WebFault;
use crate::tools::web::limits::WebLimits;
use crate::tools::web::target::UrlRefusal;

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14));

/// Addresses from every block that is not public, its first and last where neighbours are.
const NOT_PUBLIC: &[&str] = &[
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.1.2.3",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.77",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "192.175.48.6",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.9",
    "203.0.113.200",
    "224.0.0.251",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::2",
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "100::1",
    "64:ff9b:1::a00:1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "feff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fdff::1",
    "ff02::1",
    "ff0e::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:808:808::1",
    "2620:4f:8000::1",
    "3fff::1",
    "5f00::1",
    "4000::1",
    "2600::5efe:a00:1",
    "2600::200:5efe:7f00:1",
];

/// Hosts whose spelling hides where they lead, or that mean this machine.
const SPELLINGS: &[&str] = &[
    "127.1",
    "127.0.1",
    "0x7f.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "0X7F000001",
    "0x7F.0x0.0x0.0x1",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0177.1",
    "00000177.0.0.1",
    "127.0.0.01",
    "127.0.0.1.",
    "127.1.",
    "0x7f.1.",
    "127.0.0.0x1",
    "0",
    "0x0",
    "00",
    "0.",
    "1",
    "127",
    "10.1",
    "0xa.1",
    "012.0.0.1",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "0xc0.0xa8.0.1",
    "3232235521",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "１２７.0.0.1",
    "①②⑦.0.0.1",
    "127.0.0.1%00",
    "127.0.0.%31",
    "%31%32%37.0.0.1",
    "%6c%6f%63alhost",
    "ｌocalhost",
    "ⓛocalhost",
    "loca\u{ad}lhost",
    "local\u{200b}host",
    "localhost",
    "LOCALHOST",
    "LocalHost",
    "localhost.",
    "LOCALHOST.",
    "a.localhost",
    "b.A.LocalHost",
    "localhost.localdomain",
    "ip6-localhost",
    "IP6-LOOPBACK",
    "local_host.localhost",
    "localhost..",
    ".localhost",
    "127.0.0.1.localhost",
    "[::1%eth0]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1%1]",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7F00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::169.254.169.254]",
    "[64:FF9B::A00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2002:a9fe:a9fe::1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[0::1]",
    "[::0.0.0.1]",
    "[FD00::1]",
    "[fe80::1].",
    "[::1]x",
    "[::1",
    "::1]",
    "[[::1]]",
    "[]",
    "[127.0.0.1]",
    "[2001:0:7f00:1::]",
    "::1",
    "1:2:3",
    "0x7f.0x1",
    "127.0x1",
    "0x7f.0.1",
    "0300.0250.1",
    "127.0.0.1\u{3002}",
    "user@127.0.0.1",
    "a:b@127.0.0.1",
    "8.8.8.8@127.0.0.1",
    "example.org:80@10.0.0.1",
    "example.org\\@127.0.0.1",
    "127.0.0.1\\.example.org",
    "example.org#@127.0.0.1",
    "example.org?@127.0.0.1",
    "example.org\t@127.0.0.1",
    "127.0.0.1\r\nHost: x",
    " 127.0.0.1",
    "127.0.0.1 ",
    "127.0.0.1\u{0}",
    "127.0.0.1:080",
    "127.0.0.1:+80",
    "127.0.0.1:",
    "127.0.0.1:65616",
    "127.0.0.1:0",
    "127.0.0.1:80:80",
    "256.0.0.1",
    "1.2.3.4.5",
    "0x100000000",
    "127.0.0.1;example.org",
    "127.0.0.1,example.org",
    "example..org",
    "a b",
    "",
    "@",
    ":80",
];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn as_host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Other spellings of an IPv4 address, for every address of the table.
fn spellings_of(address: Ipv4Addr) -> Vec<String> {
    let number = u32::from(address);
    let [a, b, c, d] = address.octets();
    let (high, low) = (number >> 16, number & 0xffff);
    vec![
        format!("{address}"),
        format!("{address}."),
        format!("{number}"),
        format!("{number:#x}"),
        format!("{number:#o}").replace('o', ""),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{b}.{low}"),
        format!("{a}。{b}。{c}。{d}"),
        format!("[::ffff:{address}]"),
        format!("[64:ff9b::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("user@{address}"),
    ]
}

fn every_spelling() -> Vec<String> {
    let mut all: Vec<String> = SPELLINGS.iter().map(|&host| host.to_owned()).collect();
    for text in NOT_PUBLIC {
        match address(text) {
            IpAddr::V4(address) => all.extend(spellings_of(address)),
            IpAddr::V6(address) => all.push(format!("[{address}]")),
        }
    }
    all
}

/// A refusal that came before anything was sent or looked up.
fn is_refusal(fault: &WebFault) -> bool {
    match fault {
        WebFault::Url(_) | WebFault::NotPublic { .. } | WebFault::LocalName { .. } => true,
        WebFault::Redirect { hop: 1, fault } => is_refusal(fault),
        _ => false,
    }
}

#[tokio::test]
async fn no_spelling_is_connected_to_or_looked_up_when_it_is_asked_for() {
    let bench = Bench::new(WebLimits::default(), Script::default(), None);
    let hosts = every_spelling();
    assert!(hosts.len() > 500, "{} spellings", hosts.len());
    for host in hosts {
        for scheme in ["http", "https"] {
            let fault = bench.read(&format!("{scheme}://{host}/path")).await.unwrap_err();
            assert!(is_refusal(&fault), "{host:?}: {fault}");
        }
    }
    assert_eq!(bench.recorder.attempts(), []);
    assert_eq!(bench.script.asked(), [""; 0]);
}

#[tokio::test]
async fn no_spelling_is_connected_to_when_a_redirect_leads_there() {
    let hosts = every_spelling();
    let listed = hosts.clone();
    let server = Server::start(move |path| {
        let index: usize = path.trim_start_matches('/').parse().unwrap();
        Reply::redirect(&format!("http://{}/path", listed[index]))
    })
    .await;
    let bench = Bench::with_page(&server, WebLimits::default());
    for (index, host) in hosts.iter().enumerate() {
        let fault = bench.read(&server.url(&format!("/{index}"))).await.unwrap_err();
        // A line break or NUL splits the header or breaks the answer off: nothing is followed then either.
        let is_split = host.contains(['\r', '\n', '\0']);
        let ended = is_split && matches!(fault, WebFault::NoAnswer { .. } | WebFault::Redirect { .. });
        assert!(is_refusal(&fault) || ended, "{host:?}: {fault}");
    }
    // One attempt a case, each to the server that redirects.
    assert_eq!(bench.recorder.attempts(), vec![server.address; hosts.len()]);
    assert!(bench.script.asked().iter().all(|name| name == "page.test"));
}

#[tokio::test]
async fn a_name_that_leads_to_a_place_that_is_not_public_is_refused() {
    for text in NOT_PUBLIC {
        let bad = address(text);
        for answer in [&[bad][..], &[PUBLIC, bad], &[bad, PUBLIC], &[PUBLIC, PUBLIC, bad]] {
            let bench =
                Bench::new(WebLimits::default(), Script::default().with("name.test", &[answer]), None);
            let fault = bench.read("http://name.test/").await.unwrap_err();
            assert!(
                matches!(&fault, WebFault::NotPublic { address, .. } if *address == bad),
                "{text}: {fault}"
            );
            assert_eq!(bench.recorder.attempts(), []);
        }
    }
}

#[tokio::test]
async fn carried_addresses_decide_for_what_carries_them() {
    for text in NOT_PUBLIC {
        let IpAddr::V4(carried) = address(text) else { continue };
        let [a, b, c, d] = carried.octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        let forms = [
            carried.to_ipv6_mapped(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2600, 1, 2, 3, 0, 0x5efe, high, low),
        ];
        for form in forms {
            let script = Script::default().with("name.test", &[&[IpAddr::V6(form)]]);
            let bench = Bench::new(WebLimits::default(), script, None);
            let fault = bench.read("http://name.test/").await.unwrap_err();
            assert!(matches!(fault, WebFault::NotPublic { .. }), "{form}: {fault}");
            assert_eq!(bench.recorder.attempts(), []);
        }
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_connected_to_at_the_checked_address_only() {
    for text in NOT_PUBLIC {
        let script = Script::default().with("name.test", &[&[PUBLIC], &[address(text)]]);
        let bench = Bench::new(WebLimits::default(), script, None);
        let first = bench.read("http://name.test/").await.unwrap_err();
        assert!(matches!(first, WebFault::NoAnswer { .. }), "{first}");
        assert_eq!(bench.script.asked(), ["name.test"], "one look-up a request");
        let second = bench.read("http://name.test/").await.unwrap_err();
        assert!(matches!(second, WebFault::NotPublic { .. }), "{text}: {second}");
        assert_eq!(bench.recorder.attempts(), [SocketAddr::new(PUBLIC, 80)]);
    }
}

#[tokio::test]
async fn a_redirect_to_the_same_name_is_checked_again() {
    let server = Server::start(|_| Reply::redirect("/again")).await;
    for text in NOT_PUBLIC {
        let script = Script::default().with("name.test", &[&[PUBLIC], &[address(text)]]);
        let bench = Bench::new(WebLimits::default(), script, Some(server.address));
        let port = server.address.port();
        let fault = bench.read(&format!("http://name.test:{port}/")).await.unwrap_err();
        assert!(is_refusal(&fault), "{text}: {fault}");
        assert_eq!(bench.recorder.attempts(), [SocketAddr::new(PUBLIC, port)]);
    }
}

#[tokio::test]
async fn public_addresses_are_connected_to_exactly() {
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.1",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2001:4860:4860::8888",
        "2a00:1450::1",
        "3ffe::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ];
    for text in public {
        let address = address(text);
        let script = Script::default().with("name.test", &[&[address, PUBLIC]]);
        let bench = Bench::new(WebLimits::default(), script, None);
        bench.read(&format!("https://{}/", as_host(address))).await.unwrap_err();
        assert_eq!(bench.recorder.attempts(), [SocketAddr::new(address, 443)], "{text}");
        bench.read("http://name.test/").await.unwrap_err();
        let by_name = [SocketAddr::new(address, 80), SocketAddr::new(PUBLIC, 80)];
        assert_eq!(bench.recorder.attempts()[1..], by_name, "{text}");
    }
}

#[tokio::test]
async fn the_operator_alone_names_private_places_and_each_name_is_exact() {
    let server = Server::start(|_| Reply::page("text/plain", "inside")).await;
    let port = server.address.port();
    let limits = WebLimits {
        allow_private: vec![
            format!("Intern.test:{port}"),
            format!("127.0.0.1:{port}"),
            "localhost".to_owned(),
        ],
        ..WebLimits::default()
    };
    let script = ["intern.test", "a.intern.test", "xintern.test", "localhost"]
        .iter()
        .fold(Script::default(), |script, name| script.with(name, &[&[LOOPBACK]]));
    let bench = Bench::new(limits, script, None);
    for host in ["intern.test", "INTERN.TEST", "127.0.0.1", "localhost"] {
        assert_eq!(bench.read(&format!("http://{host}:{port}/")).await.unwrap().text, "inside");
    }
    let reached = bench.recorder.attempts().len();
    for place in ["intern.test", "a.intern.test", "xintern.test", "127.0.0.1", "127.0.0.2"] {
        let other = if place == "intern.test" || place == "127.0.0.1" { port ^ 1 } else { port };
        let fault = bench.read(&format!("http://{place}:{other}/")).await.unwrap_err();
        assert!(matches!(fault, WebFault::NotPublic { .. }), "{place}: {fault}");
    }
    assert_eq!(bench.recorder.attempts().len(), reached);
}

#[tokio::test]
async fn ports_of_other_protocols_are_refused_and_the_operator_can_name_the_only_ones() {
    let script = || Script::default().with("name.test", &[&[PUBLIC]]);
    let open = Bench::new(WebLimits::default(), script(), None);
    for port in [1, 22, 23, 25, 53, 110, 143, 445, 587, 993, 2375, 3306, 5432, 6379, 6667, 11211] {
        let fault = open.read(&format!("http://name.test:{port}/")).await.unwrap_err();
        assert_eq!(fault, WebFault::Port { port });
    }
    assert_eq!(open.recorder.attempts(), []);
    open.read("http://name.test:8443/").await.unwrap_err();
    assert_eq!(open.recorder.attempts(), [SocketAddr::new(PUBLIC, 8443)]);

    let limits = WebLimits { ports: Some(vec![443]), ..WebLimits::default() };
    let narrow = Bench::new(limits, script(), None);
    assert_eq!(narrow.read("http://name.test/").await.unwrap_err(), WebFault::Port { port: 80 });
    narrow.read("https://name.test/").await.unwrap_err();
    assert_eq!(narrow.recorder.attempts(), [SocketAddr::new(PUBLIC, 443)]);
}

#[test]
fn the_table_has_no_spelling_twice() {
    let mut sorted = SPELLINGS.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), SPELLINGS.len());
    assert!(matches!(
        crate::tools::web::target::Target::parse("http://0x08080808/"),
        Err(UrlRefusal::Ambiguous { .. })
    ));
}

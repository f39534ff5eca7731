//! What is sent and how much of an answer is taken, against a server on loopback.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::support::{Bench, LOOPBACK, Reply, Script, Server};
use crate::tools::web::fault::WebFault;
use crate::tools::web::limits::WebLimits;

/// Long for a loopback exchange, short for a test that runs into it.
const SHORT: Duration = Duration::from_millis(300);

fn quick() -> WebLimits {
    WebLimits { total_time: SHORT, ..WebLimits::default() }
}

#[tokio::test]
async fn a_request_holds_what_is_needed_and_nothing_of_ours() {
    let server =
        Server::start(|_| Reply::with_headers("Content-Type: text/plain\r\nSet-Cookie: a=b\r\n", "x")).await;
    let bench = Bench::with_page(&server, WebLimits::default());
    for _ in 0..2 {
        bench.read(&server.url("/a%20b?q=1#part")).await.unwrap();
    }
    let port = server.address.port();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "GET /a%20b?q=1 HTTP/1.1\r\nuser-agent: deputy/{version}\r\naccept: text/html, text/*;q=0.9, */*;q=0.5\r\n\
         accept-encoding: identity\r\nhost: page.test:{port}\r\n\r\n"
    );
    for request in server.requests() {
        let mut sent: Vec<&str> = request.trim_end().split("\r\n").collect();
        let mut expected: Vec<&str> = expected.trim_end().split("\r\n").collect();
        sent.sort_unstable();
        expected.sort_unstable();
        assert_eq!(sent, expected);
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn redirects_are_followed_to_the_page_and_each_name_is_looked_up() {
    let server = Server::start(|path| match path {
        "/1" => Reply::redirect("/2?x=y"),
        "/2?x=y" => Reply::with_headers("Set-Cookie: session=1\r\nContent-Type: text/plain\r\n", "end"),
        _ => Reply::redirect("1"),
    })
    .await;
    let bench = Bench::with_page(&server, WebLimits::default());
    let page = bench.read(&server.url("/0")).await.unwrap();
    assert_eq!((page.text.as_str(), page.url, page.status), ("end", server.url("/2?x=y"), 200));
    assert_eq!(bench.script.asked().len(), 3);
    assert!(
        server.requests().iter().all(|request| !request.contains("cookie") && !request.contains("referer"))
    );
}

#[tokio::test]
async fn redirects_end_at_the_limit() {
    let server = Server::start(|path| Reply::redirect(&format!("{path}x?token=hunter2"))).await;
    let bench = Bench::with_page(&server, WebLimits { redirects: 3, ..WebLimits::default() });
    let fault = bench.read(&server.url("/")).await.unwrap_err();
    assert!(matches!(fault, WebFault::Redirects { limit: 3, .. }), "{fault}");
    assert!(!fault.to_string().contains("hunter2"), "{fault}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_redirect_without_one_usable_location_is_named() {
    for headers in ["", "Location: /a\r\nLocation: /b\r\n", "Location: /\u{ff}\r\n"] {
        let mut bytes = format!("HTTP/1.1 301 X\r\n{headers}Content-Length: 0\r\n\r\n").into_bytes();
        if let Some(at) = bytes.iter().position(|byte| *byte == 0xc3) {
            bytes.remove(at);
        }
        let server = Server::start(move |_| Reply::Bytes(bytes.clone())).await;
        let fault = Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap_err();
        let WebFault::Redirect { fault, .. } = fault else { panic!("{fault}") };
        assert!(matches!(*fault, WebFault::Location { status: 301, .. }), "{fault}");
    }
}

#[tokio::test]
async fn a_page_that_is_an_error_is_still_a_page() {
    let server = Server::start(|_| {
        Reply::Bytes(b"HTTP/1.1 404 No\r\nContent-Type: text/plain\r\n\r\nnot here".to_vec())
    })
    .await;
    let page = Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap();
    assert_eq!((page.status, page.text.as_str()), (404, "not here"));
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_cap() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n".to_vec();
    let server = Server::start(move |_| Reply::Endless(head.clone(), vec![b'a'; 5000], Duration::ZERO)).await;
    let bench = Bench::with_page(&server, WebLimits { body_bytes: 12_345, ..WebLimits::default() });
    let page = bench.read(&server.url("/")).await.unwrap();
    assert_eq!((page.text.len(), page.cut), (12_345, true));
}

#[tokio::test]
async fn a_body_of_exactly_the_cap_is_not_cut() {
    let server = Server::start(|_| Reply::page("text/plain", "12345")).await;
    for (body_bytes, text, cut) in
        [(4, "1234", true), (5, "12345", false), (6, "12345", false), (0, "", true)]
    {
        let bench = Bench::with_page(&server, WebLimits { body_bytes, ..WebLimits::default() });
        let page = bench.read(&server.url("/")).await.unwrap();
        assert_eq!((page.text.as_str(), page.cut), (text, cut));
    }
}

#[tokio::test]
async fn the_deadline_ends_whatever_goes_on_and_on() {
    let head = |rest: &str| format!("HTTP/1.1 200 OK\r\n{rest}").into_bytes();
    let often = Duration::from_millis(5);
    let replies = [
        ("drip of the body", Reply::Endless(head("Content-Type: text/plain\r\n\r\n"), b"a".to_vec(), often)),
        (
            "silence after the head",
            Reply::Silent(head("Content-Type: text/plain\r\nContent-Length: 9\r\n\r\n")),
        ),
        ("silence in the head", Reply::Silent(head("Content-Ty"))),
        ("silence", Reply::Silent(Vec::new())),
        ("drip of the head", Reply::Endless(head("X: "), b"a".to_vec(), often)),
        (
            "interim answers",
            Reply::Endless(Vec::new(), b"HTTP/1.1 103 Wait\r\n\r\n".to_vec(), Duration::ZERO),
        ),
    ];
    for (what, reply) in replies {
        let server = Server::start(move |_| reply.clone()).await;
        let fault = Bench::with_page(&server, quick()).read(&server.url("/?k=hunter2")).await.unwrap_err();
        assert!(matches!(fault, WebFault::Deadline { limit: SHORT, .. }), "{what}: {fault}");
        assert!(!fault.to_string().contains("hunter2"));
    }
}

#[tokio::test]
async fn headers_without_end_are_refused() {
    let lines = b"X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(50);
    let one = vec![b'a'; 64 * 1024];
    for filler in [lines, one] {
        let start = b"HTTP/1.1 200 OK\r\nX: a".to_vec();
        let server =
            Server::start(move |_| Reply::Endless(start.clone(), filler.clone(), Duration::ZERO)).await;
        let bench = Bench::with_page(&server, WebLimits::default());
        let fault = bench.read(&server.url("/")).await.unwrap_err();
        assert!(matches!(fault, WebFault::NoAnswer { .. }), "{fault}");
    }
}

#[tokio::test]
async fn cancelling_ends_a_call_at_once() {
    let server = Server::start(|_| Reply::Silent(Vec::new())).await;
    let bench = Bench::with_page(
        &server,
        WebLimits { total_time: Duration::from_secs(3600), ..WebLimits::default() },
    );
    let cancel = CancellationToken::new();
    let url = server.url("/");
    let reading = bench.client.read(&url, 1000, &cancel);
    let stop = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    assert_eq!(tokio::join!(reading, stop).0, Err(WebFault::Cancelled));
    assert_eq!(bench.client.read(&url, 1000, &cancel).await, Err(WebFault::Cancelled));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn encodings_that_nobody_asked_for_are_refused_by_name() {
    for headers in [
        "Content-Encoding: gzip",
        "Content-Encoding: br",
        "Content-Encoding: identity, gzip",
        "Content-Encoding: gzip, gzip",
        "Content-Encoding: identity\r\nContent-Encoding: zstd",
        "content-encoding:DEFLATE",
        "Content-Encoding: x-unknown",
    ] {
        let all = format!("Content-Type: text/plain\r\n{headers}\r\n");
        let server = Server::start(move |_| Reply::with_headers(&all, b"\x1f\x8b\x08\0bomb")).await;
        let fault = Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap_err();
        assert!(matches!(fault, WebFault::Encoding { .. }), "{headers}: {fault}");
    }
    let server = Server::start(|_| {
        Reply::with_headers("Content-Type: text/plain\r\nContent-Encoding: Identity\r\n", "x")
    })
    .await;
    assert_eq!(Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap().text, "x");
}

#[tokio::test]
async fn what_is_not_text_is_refused_with_type_and_size() {
    for content_type in [
        "image/png",
        "application/pdf",
        "application/octet-stream",
        "application/zip",
        "video/mp4",
        "font/woff2",
        "multipart/form-data",
        "text",
        "text/",
        "/html",
        "nonsense",
        "text/html\r\nContent-Type: text/plain",
    ] {
        let server = Server::start(move |_| Reply::page(content_type, [0; 17])).await;
        let fault = Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap_err();
        assert!(
            matches!(&fault, WebFault::NotText { size, .. } if size == "17 bytes"),
            "{content_type}: {fault}"
        );
    }
    let server = Server::start(|_| Reply::with_headers("", b"PK\0\0")).await;
    let fault = Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap_err();
    assert!(matches!(fault, WebFault::NotText { .. }), "{fault}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_page() {
    let short = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nhalf".to_vec();
    let server = Server::start(move |_| Reply::Bytes(short.clone())).await;
    let fault = Bench::with_page(&server, quick()).read(&server.url("/")).await.unwrap_err();
    assert!(matches!(fault, WebFault::BrokeOff { bytes: 4, .. }), "{fault}");

    for garbage in
        ["SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nBad Header\r\n\r\n", "\u{1b}[2J", "HTTP/9.9 200 OK\r\n\r\n", ""]
    {
        let server = Server::start(move |_| Reply::Bytes(garbage.into())).await;
        let fault = Bench::with_page(&server, quick()).read(&server.url("/?k=hunter2")).await.unwrap_err();
        assert!(matches!(fault, WebFault::NoAnswer { .. }), "{garbage:?}: {fault}");
        assert!(!fault.to_string().contains("hunter2") && !fault.to_string().contains('\u{1b}'), "{fault}");
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_an_error_without_the_query() {
    let server = Server::start(|_| Reply::Silent(Vec::new())).await;
    let free = std::net::TcpListener::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap();
    let limits = WebLimits { allow_private: vec!["gone.test".to_owned()], ..WebLimits::default() };
    let bench = Bench::new(limits, Script::default().with("gone.test", &[&[LOOPBACK]]), Some(server.address));
    let fault = bench.read(&format!("http://gone.test:{}/?k=hunter2", free.port())).await.unwrap_err();
    assert!(matches!(fault, WebFault::NoAnswer { .. }), "{fault}");
    assert!(!fault.to_string().contains("hunter2"), "{fault}");
}

#[tokio::test]
async fn a_name_without_addresses_is_named() {
    let bench = Bench::new(WebLimits::default(), Script::default().with("empty.test", &[&[]]), None);
    for name in ["empty.test", "unknown.test"] {
        let fault = bench.read(&format!("http://{name}/")).await.unwrap_err();
        assert!(matches!(fault, WebFault::NoAddress { .. }), "{fault}");
    }
}

#[test]
fn a_proxy_named_in_the_environment_is_not_used() {
    // The environment belongs to the whole process, so another one makes the requests.
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, "http://127.0.0.1:1");
    }
    let inner = concat!(module_path!(), "::a_request_holds_what_is_needed_and_nothing_of_ours");
    let inner = inner.split_once("::").unwrap().1;
    let output =
        child.env_remove("NO_PROXY").env_remove("no_proxy").args([inner, "--exact"]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
}

use std::io::{Read, Write};
use std::net::TcpListener;

use super::*;

/// A server on loopback that answers every request with `answer`, and its `HOST:PORT`.
fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            let _ = stream.write_all(&answer(&String::from_utf8_lossy(&request[..read])));
        }
    });
    host
}

fn page(kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn limits(host: &str) -> WebLimits {
    WebLimits { allow_private: vec![host.to_owned()], ..WebLimits::default() }
}

async fn fetch(limits: WebLimits, address: &str) -> Result<Document, ToolError> {
    WebClient::new(limits).unwrap().fetch(address, 48 * 1024, &CancellationToken::new()).await
}

#[tokio::test]
async fn a_page_comes_as_text() {
    let host = serve(|request| {
        assert!(request.to_lowercase().contains("accept-encoding: identity"));
        page(
            "text/html; charset=iso-8859-1",
            b"<html><body><h1>Tides</h1><p>high at no\xf6n</p></body></html>",
        )
    });
    let document = fetch(limits(&host), &format!("http://{host}/a?key=secret")).await.unwrap();
    assert!(document.text.contains("Tides") && document.text.contains("high at noön"), "{}", document.text);
    assert!(!document.url.contains("secret"), "{}", document.url);
}

#[tokio::test]
async fn a_private_address_gets_no_connection_unless_the_operator_named_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0"] {
        assert!(fetch(WebLimits::default(), &format!("http://{host}:{port}/")).await.is_err(), "{host}");
    }
    assert!(listener.accept().is_err(), "no connection was tried");
}

#[tokio::test]
async fn every_hop_is_checked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for target in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("//127.1:{port}/"),
        "file:///etc/passwd".to_owned(),
        "http://a:b@example.org/".to_owned(),
    ] {
        let location = target.clone();
        let host = serve(move |_| {
            format!(
                "HTTP/1.1 302 X\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            .into_bytes()
        });
        assert!(fetch(limits(&host), &format!("http://{host}/")).await.is_err(), "{target}");
    }
    assert!(listener.accept().is_err(), "no connection was tried");
    let host = serve(|_| {
        b"HTTP/1.1 302 X\r\nlocation: /again\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec()
    });
    let error = fetch(limits(&host), &format!("http://{host}/")).await.unwrap_err();
    assert!(error.to_string().contains("redirects"), "{error}");
}

#[tokio::test]
async fn what_is_no_text_or_compressed_is_refused() {
    let host = serve(|_| page("image/png", b"\x89PNG"));
    assert!(
        fetch(limits(&host), &format!("http://{host}/")).await.unwrap_err().to_string().contains("image/png")
    );
    let host = serve(|_| {
        b"HTTP/1.1 200 X\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx".to_vec()
    });
    assert!(fetch(limits(&host), &format!("http://{host}/")).await.unwrap_err().to_string().contains("gzip"));
}

#[tokio::test]
async fn an_endless_body_and_a_deep_page_are_bounded() {
    let host = serve(|_| {
        [
            b"HTTP/1.1 200 X\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n".to_vec(),
            vec![b'x'; 300_000],
        ]
        .concat()
    });
    let small = WebLimits { body_bytes: 1000, ..limits(&host) };
    let document = fetch(small, &format!("http://{host}/")).await.unwrap();
    assert!(document.cut && document.text.len() == 1000);
    for tag in ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<p>", "<li>", "<td>"] {
        let deep = tag.repeat(100_000);
        let host = serve(move |_| page("text/html", deep.as_bytes()));
        assert!(
            fetch(limits(&host), &format!("http://{host}/")).await.unwrap().text.len() <= 50_000,
            "{tag}"
        );
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left_at_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let short = WebLimits { total: Duration::from_millis(50), ..limits(&host) };
    assert!(matches!(fetch(short, &format!("http://{host}/")).await, Err(ToolError::TimedOut(_))));
}

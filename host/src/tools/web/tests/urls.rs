//! How URLs and `Location` values are read: one way or not at all.

use crate::tools::web::limits::PrivatePlace;
use crate::tools::web::target::{Target, UrlRefusal};

fn read(raw: &str) -> Result<String, UrlRefusal> {
    Target::parse(raw).map(|target| target.url().to_string())
}

#[test]
fn plain_urls_are_read_and_lose_their_fragment() {
    for (raw, expected) in [
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.ORG/A/b?q=1&r=a@b#part", "https://example.org/A/b?q=1&r=a@b"),
        ("http://example.org:8080/@name", "http://example.org:8080/@name"),
        ("http://example.org:80/", "http://example.org/"),
        ("http://xn--mnchen-3ya.de/straße", "http://xn--mnchen-3ya.de/stra%C3%9Fe"),
        ("http://a-b.c_d.example/", "http://a-b.c_d.example/"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("https://example.org/%0d%0ax", "https://example.org/%0d%0ax"),
        ("http://example.org/#@other", "http://example.org/"),
    ] {
        assert_eq!(read(raw).unwrap(), expected, "{raw}");
    }
}

#[test]
fn only_http_and_https_with_two_slashes_are_read() {
    for raw in [
        "ftp://example.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/plain,x",
        "example.org",
        "//example.org/",
        "http:/example.org",
        "http:example.org",
        "gopher://example.org/",
        "",
        "ht",
        "https:",
        "unix:///run/x",
        "view-source:http://example.org/",
        "ws://example.org/",
        "é://example.org",
    ] {
        assert_eq!(read(raw), Err(UrlRefusal::Scheme), "{raw}");
    }
}

#[test]
fn what_two_readers_would_read_differently_is_refused() {
    for raw in [
        "http://good@evil.test/",
        "http://good:x@evil.test/",
        "http://@evil.test/",
        "http://good%40evil.test/",
        "http://good#@evil.test/",
        "http://good?@evil.test/",
        "http://good\\@evil.test/",
        "http://good/\\evil",
        "http://good.test\t/",
        "http://good.test/a\r\nHost: evil",
        "http://good.test/a b",
        "\nhttp://good.test/",
        "http://good.test/\u{202e}x",
        "http://good.test/\u{a0}",
        "http://münchen.de/",
        "http://good。test/",
        "http:///good.test/",
        "http://good.test./",
        "http://good.test:/",
        "http://good.test:080/",
        "http://good.test:99999/",
        "http://good.test:-1/",
        "http://go!od.test/",
        "http://*.test/",
        "http://[::1]evil.test/",
        "http://[v1.x]/",
        "http://good.test:80:90/",
        "http://good..test/",
    ] {
        assert!(read(raw).is_err(), "{raw:?}");
    }
}

#[test]
fn a_refusal_shows_neither_credentials_nor_query() {
    for raw in [
        "http://name:hunter2@good.test/",
        "http://hunter2@good.test/",
        "http://good.test:x/?key=hunter2",
        "http://0x7f.1/?key=hunter2",
        "http://good.test/a b?key=hunter2",
        "http://good.test./?hunter2",
        "http://good?@hunter2",
        "http://1.2.3.4.5/?hunter2",
    ] {
        let message = read(raw).unwrap_err().to_string();
        assert!(!message.contains("hunter2"), "{message}");
    }
    let target = Target::parse("http://good.test/path?key=hunter2").unwrap();
    assert_eq!(target.to_string(), "http://good.test/path?…");
    let long = Target::parse(&format!("http://good.test/{}", "a".repeat(3000))).unwrap();
    assert!(long.to_string().len() < 300);
    assert!(matches!(read(&format!("http://a.test/{}", "a".repeat(5000))), Err(UrlRefusal::TooLong { .. })));
}

#[test]
fn a_host_in_letters_beyond_ascii_is_refused_with_the_form_to_use() {
    let message = read("http://münchen.de/").unwrap_err().to_string();
    assert!(message.contains("`xn--mnchen-3ya.de`"), "{message}");
}

#[test]
fn locations_are_read_by_the_same_rules() {
    let base = Target::parse("https://example.org:8443/a/b?q=1").unwrap();
    let follow = |location: &str| base.redirected(location).map(|target| target.url().to_string());
    for (location, expected) in [
        ("c", "https://example.org:8443/a/c"),
        ("/c?x=1#y", "https://example.org:8443/c?x=1"),
        ("?x=http://other.test/", "https://example.org:8443/a/b?x=http://other.test/"),
        ("//other.test/x", "https://other.test/x"),
        ("http://other.test/", "http://other.test/"),
        ("./a:b", "https://example.org:8443/a/a:b"),
    ] {
        assert_eq!(follow(location).unwrap(), expected, "{location}");
    }
    for location in [
        "\\\\evil.test/",
        "/\\evil.test/",
        "///evil.test/",
        "////evil.test",
        "//user@evil.test/",
        "https:evil.test",
        "https:/evil.test",
        "javascript:x",
        "file:///etc/passwd",
        "http://evil.test./",
        "/a\u{0}b",
        "/a b",
        "//0x7f.1/",
        "data:text/html,x",
    ] {
        assert!(follow(location).is_err(), "{location:?}");
    }
}

#[test]
fn private_places_are_exact() {
    let place = |text: &str| PrivatePlace::parse(text).unwrap();
    assert!(place("Intern.Test").is("intern.test", 80) && place("intern.test").is("intern.test", 81));
    assert!(place("a.test:81").is("a.test", 81) && !place("a.test:81").is("a.test", 80));
    assert!(place("[0:0::1]:81").is("[::1]", 81) && place("[::1]").is("[::1]", 5));
    for text in
        ["", ":80", "a.test:", "a.test:x", "*.test", "http://a.test", "a.test/", "::1", "[::1", "[x]", "a b"]
    {
        assert_eq!(PrivatePlace::parse(text), None, "{text:?}");
    }
}

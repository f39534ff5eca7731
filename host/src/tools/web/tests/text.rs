//! How bytes become text.

use url::Url;

use crate::tools::web::media::{Media, PageText, text_of};
use crate::tools::web::shown::shown;

fn convert(content_type: &str, bytes: &[u8]) -> PageText {
    let base = Url::parse("https://example.org/dir/page").unwrap();
    text_of(bytes, false, &Media::parse(content_type).unwrap(), &base, 1 << 20)
}

fn html(text: &str) -> String {
    convert("text/html", text.as_bytes()).text
}

#[test]
fn a_page_reads_as_a_reader_would_see_it() {
    let page = "<!DOCTYPE html><html><head><title>A &amp; B</title><style>p{}</style><script>var a='<p>no</p>'</script>\
        </head><body><h1>Top</h1>\n<p>One <b>two</b>\n three&nbsp;&lt;4&gt;.</p><ul><li>x</li><li><a href='../y?z'>y</a>\
        <ol><li>in</li></ol></li></ul><pre>a\n  b</pre><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>\
        line<br>next <img alt='a cat' src=c><svg><text>no</text></svg><template>no</template></body></html>";
    assert_eq!(
        html(page),
        "# A & B\n\n# Top\n\nOne two three <4>.\n\n- x\n- y <https://example.org/y?z>\n\n  - in\n\na\n  b\n\n\
         1 | 2\n3\n\nline\nnext [image: a cat]"
    );
}

#[test]
fn links_that_lead_to_no_page_show_their_text_alone() {
    for href in
        ["#part", "javascript:alert(1)", "mailto:a@b", "data:text/plain,x", "", "http://[", &"a".repeat(600)]
    {
        assert_eq!(html(&format!("<a href=\"{href}\">text</a>")), "text", "{href}");
    }
}

#[test]
fn tag_soup_is_read_without_loss() {
    for (soup, text) in [
        ("a<b>c", "ac"),
        ("a</p>b", "a\n\nb"),
        ("<li>a", "- a"),
        ("</svg>a", "a"),
        ("<p a='<b>'>x", "x"),
        ("a < b > c", "a < b > c"),
        ("<!-- > --> a", "a"),
        ("<svg/>a", "a"),
        ("a<", "a<"),
        ("", ""),
        ("<svg><svg></svg>no</svg>yes", "yes"),
        ("&#x26;&#38;&amp;&unknown;", "&&&&unknown;"),
    ] {
        assert_eq!(html(soup), text, "{soup}");
    }
}

#[test]
fn nesting_of_any_depth_costs_neither_the_stack_nor_much_time() {
    let deep = 150_000;
    for (open, close) in [("<div>", "</div>"), ("<ul><li>", "</ul>"), ("<svg>", "</svg>"), ("<b><p>", "</b>")]
    {
        let page = format!("{}core{}", open.repeat(deep), close.repeat(deep));
        let text = html(&page);
        assert_eq!(text.contains("core"), open != "<svg>", "{open}");
    }
    for piece in ["<", "<!--", "<a href=", "<x ", "&", "&#", "</", "<p a=b ", "<![CDATA["] {
        html(&piece.repeat(deep));
    }
    html(&format!("<p {}>", (0..deep).map(|index| format!("a{index}=b ")).collect::<String>()));
}

#[test]
fn encodings_come_from_the_mark_the_header_or_the_page_in_this_order() {
    for (content_type, bytes, text) in [
        ("text/plain; charset=iso-8859-1", &b"caf\xe9"[..], "café"),
        ("text/plain; Charset=\"Windows-1251\"", b"\xcf\xf0\xe8", "При"),
        ("text/plain;charset=shift_jis", b"\x93\xfa\x96{", "日本"),
        ("text/plain; charset=utf-16le", b"h\0i\0", "hi"),
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbfcaf\xc3\xa9", "café"),
        ("text/plain", b"\xff\xfeh\0i\0", "hi"),
        ("text/plain; charset=unknown", b"caf\xc3\xa9", "café"),
        ("text/html", b"<meta charset=latin1>caf\xe9", "café"),
        ("text/html", b"<META http-equiv=content-type content='text/html; charset = koi8-r'>\xf0", "П"),
        ("text/html; charset=utf-8", b"<meta charset=latin1>caf\xc3\xa9", "café"),
        ("text/html", b"<meta charset=utf-16>caf\xc3\xa9", "café"),
        (
            "application/xml",
            b"<?xml version='1.0' encoding='ISO-8859-1'?>\xe9",
            "<?xml version='1.0' encoding='ISO-8859-1'?>é",
        ),
    ] {
        let page = convert(content_type, bytes);
        assert_eq!((page.text.as_str(), page.lossy), (text, false), "{content_type}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_that_is_said() {
    for (content_type, bytes, text) in [
        ("text/plain", &b"a\xffb"[..], "a\u{fffd}b"),
        ("text/plain; charset=utf-8", b"caf\xe9", "caf\u{fffd}"),
        ("application/json", b"{\"a\":\"\x1b[2J\0\"}", "{\"a\":\"\u{fffd}[2J\u{fffd}\"}"),
        ("text/plain; charset=utf-16le", b"h\0i", "h\u{fffd}"),
        ("text/html", b"<p>a\xc3(</p>", "a\u{fffd}("),
    ] {
        let page = convert(content_type, bytes);
        assert_eq!((page.text.as_str(), page.lossy), (text, true), "{content_type}");
    }
}

#[test]
fn a_character_that_the_cap_split_is_dropped_not_replaced() {
    let base = Url::parse("https://example.org/").unwrap();
    let page =
        text_of("aé".as_bytes().get(..2).unwrap(), true, &Media::parse("text/plain").unwrap(), &base, 100);
    assert_eq!(page, PageText { text: "a".to_owned(), lossy: false, cut: false });
}

#[test]
fn text_is_cut_on_a_character_at_the_limit() {
    let base = Url::parse("https://example.org/").unwrap();
    for content_type in ["text/plain", "text/html"] {
        let media = Media::parse(content_type).unwrap();
        let page = text_of("ééé".as_bytes(), false, &media, &base, 5);
        assert_eq!(page, PageText { text: "éé".to_owned(), lossy: false, cut: true }, "{content_type}");
        let page = text_of("ééé".as_bytes(), false, &media, &base, 6);
        assert_eq!(page, PageText { text: "ééé".to_owned(), lossy: false, cut: false }, "{content_type}");
    }
}

#[test]
fn text_types_are_told_from_others() {
    for (content_type, is_text) in [
        ("text/markdown", true),
        ("TEXT/HTML", true),
        ("application/ld+json", true),
        ("image/svg+xml", true),
        ("application/rss+xml; charset=utf-8", true),
        ("application/json;", true),
        ("application/x-ndjson", true),
        ("", true),
        ("application/wasm", false),
        ("image/png", false),
        ("audio/x+zip", false),
        ("html", false),
    ] {
        assert_eq!(Media::parse(content_type).is_some(), is_text, "{content_type}");
    }
    assert_eq!(convert("", b" <!DOCTYPE HTML><p>a</p>").text, "a");
    assert_eq!(convert("", b"<p>a</p>").text, "<p>a</p>");
    assert_eq!(convert("application/json", b"{\"a\": 1}\n").text, "{\"a\": 1}\n");
}

#[test]
fn text_of_others_is_shown_on_one_line_and_short() {
    assert_eq!(shown("a\u{1b}[0m\r\nb\u{202e}", 100), "a\\u{1b}[0m\\u{d}\\u{a}b\\u{202e}");
    assert_eq!(shown(&"é".repeat(50), 3), "ééé…");
}

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::history::History;

fn session(messages: Vec<Message>) -> StoredSession {
    StoredSession {
        id: "0192-s".into(),
        key: SessionKey { tool: "researcher".into(), user: "ada \"\u{202e}\n".into() },
        depth: 2,
        tools: ["read_file", "grep_files"].map(ToolName::from).into(),
        history: messages.into_iter().collect(),
    }
}

fn shape(history: &History) -> Vec<String> {
    history.entries().iter().map(|entry| format!("{:?}", entry.message())).collect()
}

fn assert_comes_back(stored: &StoredSession) {
    let bytes = to_bytes(stored).unwrap();
    let loaded = from_bytes(&bytes).unwrap();
    assert_eq!(loaded.id, stored.id);
    assert_eq!(loaded.key, stored.key);
    assert_eq!(loaded.depth, stored.depth);
    assert_eq!(loaded.tools, stored.tools);
    assert_eq!(shape(&loaded.history), shape(&stored.history));
    assert_eq!(to_bytes(&loaded).unwrap(), bytes, "storing again changes nothing");
}

fn opaque(json: &str) -> Part {
    let json = RawValue::from_string(json.to_owned()).unwrap();
    Part::Opaque { format: WireFormat::AnthropicMessages, json }
}

#[test]
fn a_document_is_written_as_it_is_described() {
    let stored = session(vec![
        Message::user("why?"),
        Message::Assistant(AssistantMessage {
            parts: vec![
                opaque("{\"type\":\"thinking\", \"n\":1.0}"),
                Part::Text("Let me see.".into()),
                Part::Call(ToolCall {
                    id: "a1".into(),
                    name: "read_file".into(),
                    arguments: "{\"path\":".into(),
                }),
            ],
        }),
        Message::Tool(ToolResult::error("a1".into(), "read_file".into(), "no such file".into())),
    ]);
    let bytes = to_bytes(&stored).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let expected = json!({
        "version": 1, "id": "0192-s", "tool": "researcher", "user": "ada \"\u{202e}\n", "depth": 2,
        "tools": ["grep_files", "read_file"],
        "messages": [
            {"user": {"text": "why?"}},
            {"assistant": {"parts": [
                {"opaque": {"format": "anthropic_messages", "json": {"type": "thinking", "n": 1.0}}},
                {"text": "Let me see."},
                {"call": {"id": "a1", "name": "read_file", "arguments": "{\"path\":"}},
            ]}},
            {"tool": {"call_id": "a1", "tool": "read_file", "text": "no such file", "is_error": true}},
        ],
    });
    assert_eq!(value, expected);
}

#[test]
fn opaque_blocks_come_back_byte_for_byte() {
    for block in [
        "{ \"b\" : 1, \"a\":\t[1.0,1e2, 1E400],\n \"a\":2 }",
        "\"\\ud800 \\u00e9 é \\/\"",
        "123456789012345678901234567890.10",
        "null",
    ] {
        let stored = session(vec![Message::Assistant(AssistantMessage { parts: vec![opaque(block)] })]);
        let loaded = from_bytes(&to_bytes(&stored).unwrap()).unwrap();
        let Message::Assistant(turn) = loaded.history.entries()[0].message() else { panic!("a turn") };
        assert!(matches!(&turn.parts[..], [Part::Opaque { json, format: WireFormat::AnthropicMessages }]
            if json.get() == block));
    }
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert_comes_back(&session(vec![Message::Assistant(AssistantMessage { parts: vec![opaque(&deep)] })]));
}

#[test]
fn results_that_were_cut_or_are_empty_come_back_as_they_are() {
    let result = |text: String| {
        Message::Tool(ToolResult { call_id: "c".into(), tool: "t".into(), text, is_error: false })
    };
    let stored = session(vec![result("é".repeat(200_000)), result(String::new())]);
    assert!(stored.history.bytes() < 100_000, "the cap holds");
    assert_comes_back(&stored);
}

#[test]
fn a_stored_result_that_is_too_long_is_cut_like_any_other() {
    let mut bytes = String::from_utf8(to_bytes(&session(vec![Message::user("MARK")])).unwrap()).unwrap();
    let long = format!(
        "{{\"tool\":{{\"call_id\":\"c\",\"tool\":\"t\",\"text\":\"{}\",\"is_error\":false}}}}",
        "x".repeat(1_000_000)
    );
    bytes = bytes.replace("{\"user\":{\"text\":\"MARK\"}}", &long);
    assert!(from_bytes(bytes.as_bytes()).unwrap().history.bytes() <= 64 * 1024);
}

#[test]
fn a_call_that_was_left_open_can_be_closed() {
    let call =
        |id: &str| Part::Call(ToolCall { id: id.into(), name: "read_file".into(), arguments: "{}".into() });
    let stored = session(vec![
        Message::user("list the logs"),
        Message::Assistant(AssistantMessage { parts: vec![call("a1"), call("a2")] }),
        Message::Tool(ToolResult::ok("a1".into(), "read_file".into(), "text".into())),
        Message::user("go on"),
    ]);
    assert_comes_back(&stored);
    let mut history = from_bytes(&to_bytes(&stored).unwrap()).unwrap().history;
    history.close_open_calls();
    assert_eq!(history.entries().len(), 5);
    assert!(matches!(history.entries()[3].message(), Message::Tool(result)
        if result.call_id.as_str() == "a2" && result.is_error));
}

#[test]
fn unknown_fields_are_ignored_and_newer_versions_refused() {
    let plain = String::from_utf8(to_bytes(&session(vec![Message::user("hi")])).unwrap()).unwrap();
    let more = plain
        .replace("{\"version\":1", "{\"more\":{\"x\":[1]},\"version\":1")
        .replace("{\"text\":\"hi\"}", "{\"text\":\"hi\",\"at\":7}");
    assert_ne!(more, plain);
    assert_eq!(to_bytes(&from_bytes(more.as_bytes()).unwrap()).unwrap(), plain.as_bytes());
    for newer in ["{\"version\":2}", "{\"version\":2,\"messages\":{\"other\":\"shape\"}}"] {
        assert_eq!(from_bytes(newer.as_bytes()).unwrap_err(), Unreadable::Newer { found: 2 });
    }
    let older = from_bytes(b"{\"version\":0}").unwrap_err();
    assert!(matches!(older, Unreadable::Damaged { message, .. } if message.contains("found version 0")));
}

#[test]
fn what_is_not_one_whole_document_is_damaged_and_says_where() {
    let whole =
        to_bytes(&session(vec![Message::user("hi"), Message::Assistant(AssistantMessage::text_only("é"))]))
            .unwrap();
    let place = |bytes: &[u8]| match from_bytes(bytes) {
        Err(Unreadable::Damaged { byte, .. }) => usize::try_from(byte).unwrap(),
        other => panic!("expected damage, found {other:?}"),
    };
    // The last byte is the end of the line, without which the document is whole.
    for end in 0..whole.len() - 1 {
        assert_eq!(place(&whole[..end]), end, "cut at {end}");
    }
    for tail in ["x", "\0", "{}", "\n\n}"] {
        let at = place(&[&whole[..], tail.as_bytes()].concat());
        assert!((whole.len()..=whole.len() + tail.len()).contains(&at), "{tail:?} at {at}");
    }
    let twice = [&whole[..], &whole[..]].concat();
    assert!(place(&twice) >= whole.len());
    let text = String::from_utf8(whole).unwrap();
    for (from, to) in [
        ("\"depth\":2", "\"depth\":-2"),
        ("\"depth\":2", "\"depth\":2,\"depth\":3"),
        ("{\"user\":{", "{\"shouts\":{"),
        ("\"version\":1", "\"version\":\"1\""),
        ("\"tools\":", "\"tolls\":"),
        ("\"id\":", "\"id\""),
    ] {
        let bad = text.replacen(from, to, 1);
        assert_ne!(bad, text);
        place(bad.as_bytes());
    }
    place(b"\xff\xfe");
    place(text.replacen("hi", "\u{1}", 1).as_bytes());
    place(b"[]");
}

#[test]
fn the_id_is_found_in_what_is_whole_up_to_it() {
    let whole = to_bytes(&session(vec![Message::user("hi")])).unwrap();
    assert_eq!(id_in(&whole[..40]), Some("0192-s".into()));
    assert_eq!(id_in(&[&whole[..], b"x"].concat()), Some("0192-s".into()));
    assert_eq!(id_in(b"{\"version\":9,\"more\":[{}],\"id\":\"n\"}"), Some("n".into()));
    for none in ["", "{", "[1]", "{\"id\":7}", "{\"id\":\"cut", "{\"messages\":{\"id\":\"inner\"}}"] {
        assert_eq!(id_in(none.as_bytes()), None, "{none}");
    }
}

fn any_json() -> impl Strategy<Value = Box<RawValue>> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<f64>().prop_filter("JSON knows no infinity", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        any::<u64>().prop_map(|n| format!("{n}00000000000000000000")),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|all| format!("[ {}\n]", all.join(" ,"))),
            (any::<String>(), inner).prop_map(|(name, value)| {
                let name = serde_json::to_string(&name).unwrap();
                format!("{{{name}: {value},\t{name}:{value}}}")
            }),
        ]
    });
    nested.prop_map(|text| RawValue::from_string(text).unwrap())
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        any::<String>().prop_map(Part::Text),
        (any::<String>(), any::<String>(), any::<String>()).prop_map(|(id, name, arguments)| {
            Part::Call(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() })
        }),
        (any::<bool>(), any_json()).prop_map(|(chat, json)| {
            let format = if chat { WireFormat::ChatCompletions } else { WireFormat::AnthropicMessages };
            Part::Opaque { format, json }
        }),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    prop_oneof![
        any::<String>().prop_map(Message::user),
        proptest::collection::vec(any_part(), 0..5)
            .prop_map(|parts| Message::Assistant(AssistantMessage { parts })),
        (any::<String>(), any::<String>(), any::<String>(), any::<bool>()).prop_map(
            |(call_id, tool, text, is_error)| {
                Message::Tool(ToolResult { call_id: call_id.into(), tool: tool.into(), text, is_error })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn every_session_comes_back_as_it_was(
        messages in proptest::collection::vec(any_message(), 0..8),
        (id, tool, user) in any::<(String, String, String)>(),
        depth in any::<u32>(),
        tools in proptest::collection::btree_set(any::<String>(), 0..4),
    ) {
        assert_comes_back(&StoredSession {
            id: id.into(),
            key: SessionKey { tool: tool.into(), user: user.into() },
            depth,
            tools: tools.into_iter().map(ToolName::from).collect(),
            history: messages.into_iter().collect(),
        });
    }

    #[test]
    fn bytes_that_anybody_wrote_never_bring_it_down(bytes in any::<Vec<u8>>(), cut in any::<proptest::sample::Index>()) {
        let _ = (from_bytes(&bytes), id_in(&bytes));
        let mut whole = to_bytes(&session(vec![Message::user("hi")])).unwrap();
        let at = cut.index(whole.len());
        whole.splice(at..at, bytes);
        let _ = (from_bytes(&whole), id_in(&whole));
    }
}

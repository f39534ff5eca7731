use std::fmt::Write as _;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::history::Part;
use crate::model::StopReason;
use crate::model::sse::SseParser;

const CAP: usize = 1024 * 1024;

struct Case {
    name: String,
    stream: Vec<u8>,
    expected: Value,
}

/// Every `NAME.sse` in `tests/cases/sse`, with what `NAME.json` expects of it.
fn cases() -> Vec<Case> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/sse"));
    let mut cases: Vec<Case> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .map(|path| Case {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            stream: std::fs::read(&path).unwrap(),
            expected: serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap(),
        })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(cases.len() > 70, "only {} cases in {}", cases.len(), folder.display());
    cases
}

fn assembler(name: &str, cap: usize) -> Box<dyn Assembler> {
    match name.split('_').next() {
        Some("openai") => Box::new(OpenAiAssembler::new(cap)),
        Some("anthropic") => Box::new(AnthropicAssembler::new(cap)),
        _ => panic!("`{name}` names no wire format"),
    }
}

/// The turn that the chunks give, and the text that a reader saw on the way.
fn assembled<'a>(
    name: &str,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    seen: &mut String,
) -> Result<Turn, ModelError> {
    let mut assembler = assembler(name, CAP);
    let mut parser = SseParser::new(CAP);
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut events).unwrap();
        for event in events.drain(..) {
            if let Step::Text(text) = assembler.take(&event)? {
                seen.push_str(&text);
            }
        }
    }
    if let Some(event) = parser.finish()
        && let Step::Text(text) = assembler.take(&event)?
    {
        seen.push_str(&text);
    }
    assembler.finish(40)
}

/// A result in the form of the expectations. Ids that we made up become `*`.
fn described(result: &Result<Turn, ModelError>) -> Value {
    let turn = match result {
        Ok(turn) => turn,
        Err(error) => {
            let (kind, says) = match error {
                ModelError::Reported { message, .. } => ("reported", message),
                ModelError::Incomplete { reason } => ("incomplete", reason),
                ModelError::Protocol { reason } => ("protocol", reason),
                ModelError::ContextFull { message } => ("context_full", message),
                other => panic!("no assembler gives {other:?}"),
            };
            return json!({"error": {"kind": kind, "says": says, "transient": error.is_transient()}});
        }
    };
    let made_up = |id: &str| id.len() == 37 && id.starts_with("call_");
    let calls: Vec<Value> = turn
        .message
        .calls()
        .map(|call| {
            let id = if made_up(call.id.as_str()) { "*" } else { call.id.as_str() };
            json!({"id": id, "name": call.name, "arguments": call.arguments})
        })
        .collect();
    let opaque: Vec<&str> = turn
        .message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Opaque { json, .. } => Some(json.get()),
            Part::Text(_) | Part::Call(_) => None,
        })
        .collect();
    let order: Vec<&str> = turn
        .message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(_) => "text",
            Part::Call(_) => "call",
            Part::Opaque { .. } => "opaque",
        })
        .collect();
    json!({
        "text": turn.message.text(),
        "calls": calls,
        "opaque": opaque,
        "order": order,
        "stop": turn.stop,
        "usage": turn.usage,
    })
}

/// What a case leaves out is empty, but for usage and order, which are then not looked at.
fn assert_expected(case: &Case, result: &Result<Turn, ModelError>) {
    let name = &case.name;
    let expected = &case.expected;
    let described = described(result);
    if let Some(error) = expected.get("error") {
        let came = &described["error"];
        assert_eq!(came["kind"], error["kind"], "{name}: {described}");
        assert_eq!(came["transient"], error["transient"], "{name}: {described}");
        let says = error["says"].as_str().unwrap();
        assert!(came["says"].as_str().unwrap().contains(says), "{name}: {described}");
        return;
    }
    let or_empty = |field: &str, empty: Value| expected.get(field).cloned().unwrap_or(empty);
    assert_eq!(described["text"], or_empty("text", json!("")), "{name}: {described}");
    assert_eq!(described["calls"], or_empty("calls", json!([])), "{name}: {described}");
    assert_eq!(described["opaque"], or_empty("opaque", json!([])), "{name}: {described}");
    assert_eq!(described["stop"], expected["stop"], "{name}: {described}");
    if let Some(order) = expected.get("order") {
        assert_eq!(&described["order"], order, "{name}");
    }
    if let Some(usage) = expected.get("usage") {
        let mut all = json!({
            "input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0,
            "estimated": false,
        });
        all.as_object_mut().unwrap().extend(usage.as_object().unwrap().clone());
        assert_eq!(described["usage"], all, "{name}");
    }
}

#[test]
fn every_stream_gives_its_turn_or_error() {
    for case in cases() {
        let mut seen = String::new();
        let result = assembled(&case.name, [case.stream.as_slice()], &mut seen);
        assert_expected(&case, &result);
        if let Ok(turn) = &result {
            assert_eq!(seen, turn.message.text(), "{}: readers see the text of the turn", case.name);
        }
    }
}

#[test]
fn streams_cut_at_every_byte_and_byte_by_byte_give_the_same() {
    for case in cases() {
        let mut uncut_seen = String::new();
        let uncut = described(&assembled(&case.name, [case.stream.as_slice()], &mut uncut_seen));
        for at in 0..=case.stream.len() {
            let (left, right) = case.stream.split_at(at);
            let mut seen = String::new();
            let cut = assembled(&case.name, [left, right], &mut seen);
            assert_eq!(described(&cut), uncut, "{} cut at {at}", case.name);
            assert_eq!(seen, uncut_seen, "{} cut at {at}", case.name);
        }
        let mut seen = String::new();
        let bytewise = assembled(&case.name, case.stream.chunks(1), &mut seen);
        assert_eq!(described(&bytewise), uncut, "{} byte by byte", case.name);
        assert_eq!(seen, uncut_seen, "{} byte by byte", case.name);
    }
}

#[test]
fn a_stream_that_ends_early_gives_the_whole_turn_or_a_transient_error() {
    for case in cases() {
        let Ok(whole) = assembled(&case.name, [case.stream.as_slice()], &mut String::new()) else { continue };
        let whole = described(&Ok(whole));
        for at in 0..case.stream.len() {
            match assembled(&case.name, [&case.stream[..at]], &mut String::new()) {
                Err(error) => assert!(error.is_transient(), "{} ended at {at}: {error}", case.name),
                Ok(turn) => {
                    let turn = described(&Ok(turn));
                    for field in ["text", "calls", "opaque", "order", "stop"] {
                        assert_eq!(turn[field], whole[field], "{} ended at {at}: `{field}`", case.name);
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn streams_cut_in_many_places_give_the_same(
        which in any::<proptest::sample::Index>(),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 2..20),
    ) {
        let cases = cases();
        let case = which.get(&cases);
        let uncut = described(&assembled(&case.name, [case.stream.as_slice()], &mut String::new()));
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(case.stream.len() + 1)).collect();
        at.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for to in at {
            chunks.push(&case.stream[from..to]);
            from = to;
        }
        chunks.push(&case.stream[from..]);
        let cut = assembled(&case.name, chunks, &mut String::new());
        prop_assert_eq!(described(&cut), uncut, "{}", case.name);
    }
}

#[test]
fn what_a_server_does_not_count_is_estimated() {
    let stream =
        b"data: {\"choices\":[{\"delta\":{\"content\":\"12345678\"},\"finish_reason\":\"stop\"}]}\n\n";
    let turn = assembled("openai", [stream.as_slice()], &mut String::new()).unwrap();
    assert_eq!(turn.usage, crate::usage::Usage::estimate(40, 8));
    assert!(turn.usage.estimated);
}

/// Feeds one event at a time until the assembler refuses.
fn refused(name: &str, cap: usize, first: &[Value], event: &Value) -> ModelError {
    let mut assembler = assembler(name, cap);
    for event in first {
        let event = SseEvent { event: None, data: event.to_string(), whole: true };
        assembler.take(&event).unwrap();
    }
    let event = SseEvent { event: None, data: event.to_string(), whole: true };
    (0..100_000).find_map(|_| assembler.take(&event).err()).expect("a turn without end")
}

#[test]
fn turns_are_bounded_whatever_they_are_made_of() {
    let started =
        |block: Value| vec![json!({"type": "content_block_start", "index": 0, "content_block": block})];
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let piece = "x".repeat(100);
    let cases = [
        ("openai", vec![], json!({"choices": [{"delta": {"content": piece}}]})),
        ("openai", vec![], json!({"choices": [{"delta": {"refusal": piece}}]})),
        (
            "openai",
            vec![],
            json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}}]}),
        ),
        (
            "openai",
            vec![],
            json!({"choices": [{"delta": {"tool_calls": [{"function": {"name": "t", "arguments": "{}"}}]}}]}),
        ),
        (
            "anthropic",
            started(json!({"type": "text", "text": ""})),
            delta(json!({"type": "text_delta", "text": piece})),
        ),
        (
            "anthropic",
            started(json!({"type": "tool_use", "id": "t", "name": "t", "input": {}})),
            delta(json!({"type": "input_json_delta", "partial_json": piece})),
        ),
        (
            "anthropic",
            started(json!({"type": "thinking", "thinking": ""})),
            delta(json!({"type": "signature_delta", "signature": piece})),
        ),
        ("anthropic", vec![], started(json!({"type": "text", "text": ""}))[0].clone()),
    ];
    for (format, first, event) in cases {
        let error = refused(format, 20_000, &first, &event);
        assert!(
            matches!(&error, ModelError::Protocol { reason } if reason.contains("20000 bytes")),
            "{event}: {error}"
        );
        assert!(!error.is_transient(), "the same answer would come again");
    }
}

#[test]
fn arguments_nested_without_end_are_kept_as_text() {
    let deep = "[".repeat(1_000_000);
    let stream = format!(
        "data: {}\n\n",
        json!({"choices": [{
            "delta": {"tool_calls": [{"id": "call_a", "function": {"name": "t", "arguments": deep}}]},
            "finish_reason": "tool_calls",
        }]})
    );
    let mut assembler = OpenAiAssembler::new(8 * CAP);
    let mut events = Vec::new();
    SseParser::new(8 * CAP).push(stream.as_bytes(), &mut events).unwrap();
    for event in &events {
        assembler.take(event).unwrap();
    }
    let turn = Box::new(assembler).finish(0).unwrap();
    let call = turn.message.calls().next().unwrap().clone();
    assert_eq!(call.arguments.as_str().len(), deep.len());
    assert!(call.arguments.object().is_err());
}

#[test]
fn two_hundred_calls_of_one_turn_all_come() {
    let mut stream = String::new();
    for at in 0..200 {
        let call =
            json!({"index": at, "id": format!("call_{at}"), "function": {"name": "t", "arguments": "{"}});
        writeln!(stream, "data: {}\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]})).unwrap();
    }
    for at in (0..200).rev() {
        let call = json!({"index": at, "function": {"arguments": format!("\"n\":{at}}}")}});
        writeln!(stream, "data: {}\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]})).unwrap();
    }
    stream.push_str("data: [DONE]\n\n");
    let turn = assembled("openai", [stream.as_bytes()], &mut String::new()).unwrap();
    for (at, call) in turn.message.calls().enumerate() {
        assert_eq!(call.id.as_str(), format!("call_{at}"));
        assert_eq!(call.arguments.as_str(), format!("{{\"n\":{at}}}"));
    }
    assert_eq!(turn.message.calls().count(), 200);
}

#[test]
fn a_chat_completion_that_comes_whole_is_read() {
    let body = json!({
        "id": "c-1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": ""}, {"type": "text", "text": "Reading."}],
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "t", "arguments": "{\"a\":1}"}},
                {"type": "function", "function": {"name": "t", "arguments": {"a": 2}}},
            ],
        }}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": null},
    });
    let turn = described(&openai_body(&body.to_string(), CAP, 0));
    assert_eq!(turn["text"], "Reading.");
    assert_eq!(
        turn["calls"],
        json!([
            {"id": "call_a", "name": "t", "arguments": "{\"a\":1}"},
            {"id": "*", "name": "t", "arguments": "{\"a\":2}"},
        ])
    );
    assert_eq!(turn["stop"], "tool_calls");
    assert_eq!(turn["usage"]["input_tokens"], 12);
}

#[test]
fn a_message_that_comes_whole_keeps_its_blocks_byte_for_byte() {
    let thinking = r#"{"type":"thinking", "thinking":"","signature":"a\/b\u00e9", "more" : [1.0]}"#;
    let body = format!(
        r#"{{"type":"message","content":[{thinking},{{"type":"tool_use","id":"tu_1","name":"t","input":{{"n":1e2}}}}],
        "stop_reason":"tool_use","usage":{{"input_tokens":5,"output_tokens":6}}}}"#
    );
    let turn = described(&anthropic_body(&body, CAP, 0));
    assert_eq!(turn["opaque"], json!([thinking]));
    assert_eq!(turn["order"], json!(["opaque", "call"]));
    assert_eq!(turn["calls"], json!([{"id": "tu_1", "name": "t", "arguments": "{\"n\":1e2}"}]));
    assert_eq!(turn["stop"], "tool_calls");
}

#[test]
fn an_empty_first_part_does_not_hide_the_text_after_it() {
    let path = "/../tests/cases/toolcalls/final_message_empty_first_part.json";
    let body = std::fs::read_to_string(format!("{}{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let turn = anthropic_body(&body, CAP, 0).unwrap();
    assert_eq!(turn.message.text(), "Summary: 3 files counted.");
    assert_eq!(turn.stop, StopReason::End);
}

#[test]
fn whole_bodies_that_are_no_turn_are_errors() {
    type Read = fn(&str, usize, usize) -> Result<Turn, ModelError>;
    let (openai, anthropic): (Read, Read) = (openai_body, anthropic_body);
    let cases: [(Read, &str, &str); 8] = [
        (openai, r#"{"error":{"message":"busy","code":503}}"#, "reported"),
        (openai, r#"{"choices":[]}"#, "incomplete"),
        (openai, r#"{"ok":true}"#, "incomplete"),
        (openai, r#"{"choices":[{"mess"#, "protocol"),
        (openai, r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{}}]}}]}"#, "incomplete"),
        (anthropic, r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#, "reported"),
        (anthropic, r#"{"ok":true}"#, "incomplete"),
        (anthropic, r#"{"content":["#, "protocol"),
    ];
    for (read, body, kind) in cases {
        assert_eq!(described(&read(body, CAP, 0))["error"]["kind"], kind, "{body}");
    }
}

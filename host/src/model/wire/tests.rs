use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::history::{AssistantMessage, History, Message, Part, ToolCall, ToolResult, WireFormat};
use crate::model::anthropic::Anthropic;
use crate::model::openai::OpenAi;
use crate::model::transport::Protocol;
use crate::model::{NoObserver, TurnRequest};

fn tool() -> ToolDescription {
    ToolDescription {
        name: "read_file".to_owned(),
        description: "Reads \"a\" file.".to_owned(),
        parameters: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.to_owned(),
    }
}

fn call(id: &str, arguments: &str) -> Part {
    Part::Call(ToolCall { id: id.into(), name: "read_file".into(), arguments: arguments.into() })
}

fn turn(parts: Vec<Part>) -> Message {
    Message::Assistant(AssistantMessage { parts })
}

fn good(id: &str, text: &str) -> Message {
    Message::Tool(ToolResult::ok(id.into(), "read_file".into(), text.to_owned()))
}

fn bad(id: &str, text: &str) -> Message {
    Message::Tool(ToolResult::error(id.into(), "read_file".into(), text.to_owned()))
}

fn history(messages: Vec<Message>) -> History {
    let mut history = History::new();
    for message in messages {
        history.push(message);
    }
    history
}

fn openai() -> OpenAi {
    OpenAi { model: "gpt".to_owned(), stream: true, max_tokens: None }
}

fn anthropic() -> Anthropic {
    Anthropic { model: "claude".to_owned(), stream: true, max_tokens: 8192 }
}

fn text_of(protocol: &dyn Protocol, history: &History, tools: &[ToolDescription]) -> String {
    let request = TurnRequest {
        speaker: "parent",
        system: "Be brief.",
        history,
        tools,
        parallel_tool_calls: false,
        cancel: &CancellationToken::new(),
        observer: &NoObserver,
    };
    protocol.body(&request).unwrap()
}

fn body(protocol: &dyn Protocol, history: &History, tools: &[ToolDescription]) -> Value {
    serde_json::from_str(&text_of(protocol, history, tools)).unwrap()
}

/// A conversation with everything in it.
fn conversation() -> History {
    history(vec![
        Message::user("list \"the\" logs"),
        turn(vec![Part::Text("Looking.".to_owned()), call("call:1", r#"{"path":"a"}"#), call("c2", "{}")]),
        good("call:1", "today.txt"),
        bad("c2", "no such file"),
        Message::user("go on"),
        turn(vec![call("c3", "")]),
        good("c3", "fine"),
    ])
}

#[test]
fn a_chat_completion_request_is_as_the_protocol_has_it() {
    let parameters: Value = serde_json::from_str(&tool().parameters).unwrap();
    assert_eq!(
        body(&openai(), &conversation(), &[tool()]),
        json!({
            "model": "gpt",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "list \"the\" logs"},
                {"role": "assistant", "content": "Looking.", "tool_calls": [
                    {"id": "call:1", "type": "function",
                     "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}},
                    {"id": "c2", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "call:1", "content": "today.txt"},
                {"role": "tool", "tool_call_id": "c2", "content": "error: no such file"},
                {"role": "user", "content": "go on"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "c3", "type": "function", "function": {"name": "read_file", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "c3", "content": "fine"},
            ],
            "tools": [{"type": "function", "function": {
                "name": "read_file", "description": "Reads \"a\" file.", "parameters": parameters,
            }}],
            "parallel_tool_calls": false,
            "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn a_messages_request_is_as_the_protocol_has_it() {
    let schema: Value = serde_json::from_str(&tool().parameters).unwrap();
    let breakpoint = json!({"type": "ephemeral"});
    assert_eq!(
        body(&anthropic(), &conversation(), &[tool()]),
        json!({
            "model": "claude",
            "max_tokens": 8192,
            "system": [{"type": "text", "text": "Be brief.", "cache_control": breakpoint}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "list \"the\" logs"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "Looking."},
                    {"type": "tool_use", "id": "call_3a_1", "name": "read_file", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "c2", "name": "read_file", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_3a_1", "content": "today.txt"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "no such file", "is_error": true},
                    {"type": "text", "text": "go on"},
                ]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c3", "name": "read_file", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c3", "content": "fine", "cache_control": breakpoint},
                ]},
            ],
            "tools": [{"name": "read_file", "description": "Reads \"a\" file.", "input_schema": schema}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
            "stream": true,
        })
    );
}

#[test]
fn without_tools_nothing_is_said_about_them() {
    let history = history(vec![Message::user("hi")]);
    for body in [body(&openai(), &history, &[]), body(&anthropic(), &history, &[])] {
        for key in ["tools", "parallel_tool_calls", "tool_choice", "temperature"] {
            assert!(body.get(key).is_none(), "{key}: {body}");
        }
    }
}

#[test]
fn what_is_configured_is_sent() {
    let history = history(vec![Message::user("hi")]);
    let chat = OpenAi { stream: false, max_tokens: Some(("max_tokens", 7)), ..openai() };
    let chat = body(&chat, &history, &[]);
    assert_eq!((&chat["stream"], &chat["max_tokens"]), (&json!(false), &json!(7)));
    assert!(chat.get("stream_options").is_none());
    let messages = body(&Anthropic { stream: false, max_tokens: 9, ..anthropic() }, &history, &[]);
    assert_eq!((&messages["stream"], &messages["max_tokens"]), (&json!(false), &json!(9)));
}

#[test]
fn opaque_blocks_go_back_byte_for_byte_and_to_their_own_format_only() {
    let block = r#"{"type":"thinking", "thinking":"","signature":"a\/b"}"#;
    let opaque = || Part::Opaque {
        format: WireFormat::AnthropicMessages,
        json: RawValue::from_string(block.to_owned()).unwrap(),
    };
    let foreign = Part::Opaque {
        format: WireFormat::ChatCompletions,
        json: RawValue::from_string(r#"{"foreign":1}"#.to_owned()).unwrap(),
    };
    let history = history(vec![
        Message::user("hi"),
        turn(vec![opaque(), foreign, call("tu_1", "{}")]),
        good("tu_1", "x"),
    ]);
    let messages = text_of(&anthropic(), &history, &[]);
    assert!(
        messages.contains(&format!(r#""content":[{block},{{"type":"tool_use","id":"tu_1""#)),
        "{messages}"
    );
    assert!(!messages.contains("foreign"), "{messages}");
    let chat = text_of(&openai(), &history, &[]);
    assert!(!chat.contains("thinking") && !chat.contains("foreign"), "{chat}");
}

/// The cases of `tests/cases/toolcalls`.
fn case(name: &str) -> Value {
    let path = format!("{}/../tests/cases/toolcalls/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_replayed_input_is_an_object() {
    let calls = case("replay_odd_inputs");
    let mut odd: Vec<(String, String)> = calls
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (call["id"].as_str().unwrap().to_owned(), call["arguments"].as_str().unwrap().to_owned()))
        .collect();
    for (at, more) in ["  ", "{\"a\":1}]", "{\"a\":", "\"{}\"", "1e400", "{\"n\":1e400}"].iter().enumerate() {
        odd.push((format!("more{at}"), (*more).to_owned()));
    }
    odd.push(("deep".to_owned(), format!("{}{}", "{\"a\":".repeat(500), "}".repeat(500))));
    let mut messages = vec![Message::user("go")];
    messages.push(turn(odd.iter().map(|(id, arguments)| call(id, arguments)).collect()));
    messages.extend(odd.iter().map(|(id, _)| bad(id, "not an object")));
    let history = history(messages);
    let anthropic = body(&anthropic(), &history, &[]);
    let openai = body(&openai(), &history, &[]);
    for (at, (_, arguments)) in odd.iter().enumerate() {
        assert_eq!(anthropic["messages"][1]["content"][at]["input"], json!({}), "`{arguments:.40}`");
        let replayed = &openai["messages"][2]["tool_calls"][at]["function"]["arguments"];
        assert_eq!(replayed, "{}", "`{arguments:.40}`");
    }
}

#[test]
fn good_arguments_are_replayed_as_they_came() {
    let arguments = r#"{ "b":1.0, "a":"\u00e9" }"#;
    let history = history(vec![Message::user("go"), turn(vec![call("c1", arguments)]), good("c1", "x")]);
    assert!(text_of(&anthropic(), &history, &[]).contains(arguments));
    assert_eq!(
        body(&openai(), &history, &[])["messages"][2]["tool_calls"][0]["function"]["arguments"],
        arguments
    );
}

#[test]
fn open_calls_that_were_closed_have_their_results_before_the_next_words() {
    let messages = case("history_dangling_call")["messages"].as_array().unwrap().clone();
    let mut history = History::new();
    for message in messages {
        let text = || message["content"].as_str().unwrap_or_default().to_owned();
        history.push(match message["role"].as_str().unwrap() {
            "user" => Message::user(text()),
            "tool" => good(message["tool_call_id"].as_str().unwrap(), &text()),
            _ => turn(
                message["tool_calls"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|asked| {
                        let arguments = asked["function"]["arguments"].as_str().unwrap();
                        call(asked["id"].as_str().unwrap(), arguments)
                    })
                    .collect(),
            ),
        });
    }
    history.close_open_calls();
    let chat = body(&openai(), &history, &[]);
    let said: Vec<(&str, &str)> = chat["messages"]
        .as_array()
        .unwrap()
        .iter()
        .skip(3)
        .map(|message| (message["role"].as_str().unwrap(), message["content"].as_str().unwrap()))
        .collect();
    assert_eq!(said[0], ("tool", "today.txt"));
    assert_eq!(chat["messages"][4]["tool_call_id"], "call_a2");
    assert!(said[1].1.starts_with("error: interrupted"), "{said:?}");
    assert_eq!(said[2], ("user", "go on"));
    let messages = body(&anthropic(), &history, &[]);
    let kinds: Vec<&str> = messages["messages"][2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(messages["messages"][2]["content"][1]["is_error"], true);
}

#[test]
fn results_come_first_wherever_they_stand() {
    let history = history(vec![
        Message::user("go"),
        turn(vec![call("c1", "{}"), call("c2", "{}")]),
        good("c1", "one"),
        Message::user("by the way"),
        good("c2", "two"),
    ]);
    let content = body(&anthropic(), &history, &[])["messages"][2]["content"].clone();
    let kinds: Vec<&Value> = content.as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(content[2]["text"], "by the way");
}

#[test]
fn turns_and_words_without_content_make_no_refused_message() {
    let history = history(vec![
        Message::user(" "),
        turn(vec![]),
        Message::user("again"),
        turn(vec![Part::Text("\n".to_owned())]),
        Message::user("more"),
    ]);
    let anthropic = body(&anthropic(), &history, &[]);
    let texts: Vec<&Value> =
        anthropic["messages"][0]["content"].as_array().unwrap().iter().map(|block| &block["text"]).collect();
    assert_eq!(texts, ["(empty)", "again", "more"]);
    assert_eq!(anthropic["messages"].as_array().unwrap().len(), 1);
    assert_eq!(body(&openai(), &history, &[])["messages"][2], json!({"role": "assistant", "content": ""}));
}

#[test]
fn each_message_is_serialised_once() {
    let mut history = conversation();
    for protocol in [&openai() as &dyn Protocol, &anthropic()] {
        text_of(protocol, &history, &[]);
    }
    history.push(turn(vec![Part::Text("Done.".to_owned())]));
    history.push(Message::user("thanks"));
    let (new, old) = (2, history.entries().len() - 2);
    for format in [WireFormat::ChatCompletions, WireFormat::AnthropicMessages] {
        let mut serialised = 0;
        for entry in history.entries() {
            entry.wire(format, |_| {
                serialised += 1;
                String::new()
            });
        }
        assert_eq!(serialised, new, "{old} messages were there before");
    }
}

#[test]
fn names_that_a_model_made_up_are_replayed_in_letters_that_providers_take() {
    let cases = [
        ("read_file", "read_file"),
        ("rm -rf /é", "rm_-rf___"),
        ("", "unnamed"),
        (&"x".repeat(70), &"x".repeat(64)),
    ];
    for (name, replayed) in cases {
        assert_eq!(replayed_name(name), replayed);
    }
}

#[test]
fn a_tool_whose_parameters_are_no_object_is_an_error_that_names_it() {
    for parameters in ["", "null", "[]", "{\"type\":", "{} {}"] {
        let tool = ToolDescription { parameters: parameters.to_owned(), ..tool() };
        let history = history(vec![Message::user("hi")]);
        let cancel = CancellationToken::new();
        let request = TurnRequest {
            speaker: "parent",
            system: "",
            history: &history,
            tools: &[tool],
            parallel_tool_calls: true,
            cancel: &cancel,
            observer: &NoObserver,
        };
        for protocol in [&openai() as &dyn Protocol, &anthropic()] {
            let error = protocol.body(&request).unwrap_err();
            assert!(
                matches!(&error, ModelError::Request { reason } if reason.contains("`read_file`")),
                "{error}"
            );
        }
    }
}

use super::*;
use crate::ids::{CallId, ToolName};

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "read_file".into(), arguments: "{}".into() }
}

fn asks(ids: &[&str]) -> Message {
    Message::Assistant(AssistantMessage { parts: ids.iter().map(|id| Part::Call(call(id))).collect() })
}

fn answers(id: &str) -> Message {
    Message::Tool(ToolResult::ok(id.into(), "read_file".into(), "text".into()))
}

fn of(messages: Vec<Message>) -> History {
    let mut history = History::new();
    for message in messages {
        history.push(message);
    }
    history
}

fn shape(history: &History) -> Vec<String> {
    history
        .entries()
        .iter()
        .map(|entry| match entry.message() {
            Message::User { text } => format!("user {text}"),
            Message::Assistant(message) => format!("assistant {}", message.calls().count()),
            Message::Tool(result) => {
                format!("tool {}{}", result.call_id, if result.is_error { " error" } else { "" })
            }
        })
        .collect()
}

#[test]
fn open_calls_are_closed_where_they_stand() {
    let mut history = of(vec![
        Message::user("list the logs"),
        asks(&["a1", "a2"]),
        answers("a1"),
        Message::user("go on"),
        asks(&["b1"]),
    ]);
    assert_eq!(history.open_calls(), vec![call("b1")]);
    history.close_open_calls();
    let closed = [
        "user list the logs",
        "assistant 2",
        "tool a1",
        "tool a2 error",
        "user go on",
        "assistant 1",
        "tool b1 error",
    ];
    assert_eq!(shape(&history), closed);
    history.close_open_calls();
    assert_eq!(shape(&history), closed, "closing twice changes nothing");
    assert!(history.open_calls().is_empty());
}

#[test]
fn a_result_that_nobody_asked_for_is_left_out() {
    let mut history =
        of(vec![Message::user("x"), answers("ghost"), asks(&["a"]), answers("a"), answers("a")]);
    history.close_open_calls();
    assert_eq!(shape(&history), ["user x", "assistant 1", "tool a"]);
}

#[test]
fn forgetting_never_parts_a_call_from_its_result() {
    let mut history = of(vec![
        Message::user("1"),
        asks(&["a"]),
        answers("a"),
        Message::user("2"),
        asks(&["b"]),
        answers("b"),
    ]);
    history.forget(2);
    assert_eq!(shape(&history), ["user 2", "assistant 1", "tool b"]);
    history.forget(0);
    assert!(history.is_empty());
}

#[test]
fn a_long_result_is_cut_in_the_middle_on_character_borders_and_says_so() {
    let mut history = History::new().capped_at(ResultCap(1000));
    let text = format!("start{}end", "é".repeat(5000));
    history.push(Message::Tool(ToolResult::ok(CallId::from("c"), ToolName::from("t"), text.clone())));
    let Message::Tool(result) = history.entries()[0].message() else { panic!("a tool result") };
    assert!(result.text.starts_with("start") && result.text.ends_with("end"));
    assert!(result.text.len() <= 1000 && result.text.contains(&format!("of {} bytes left out", text.len())));
}

#[test]
fn what_was_cut_once_is_not_cut_again() {
    for length in [64 * 1024 + 1, 100_000, 3_000_000] {
        let mut history = of(vec![Message::Tool(ToolResult::ok("c".into(), "t".into(), "é".repeat(length)))]);
        let Message::Tool(cut) = history.entries()[0].message().clone() else { panic!("a tool result") };
        history.push(Message::Tool(cut.clone()));
        assert!(matches!(history.entries()[1].message(), Message::Tool(again) if *again == cut));
    }
}

#[test]
fn a_result_of_nothing_says_so() {
    for nothing in ["", " \n\t", "\u{7}\u{1b}"] {
        assert_eq!(ToolResult::ok("c".into(), "t".into(), nothing.into()).text, "(empty)");
    }
}

#[test]
fn each_wire_form_is_made_once() {
    let history = of(vec![Message::user("hello")]);
    let entry = &history.entries()[0];
    let mut made = 0;
    for _ in 0..3 {
        let text = entry.wire(WireFormat::ChatCompletions, |_| {
            made += 1;
            "chat".into()
        });
        assert_eq!(&*text, "chat");
    }
    assert_eq!(made, 1);
    assert_eq!(&*entry.wire(WireFormat::AnthropicMessages, |_| "anthropic".into()), "anthropic");
}

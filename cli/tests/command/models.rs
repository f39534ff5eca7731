//! The whole job against model servers of both kinds, streaming and not, with calls side by side.

use serde_json::{Value, json};

use crate::deputy::Deputy;
use crate::server::{
    Answer, Call, Request, Server, anthropic_json, anthropic_stream, openai_json, openai_stream,
};

const KEY: &str = "sk-canary-0123456789abcdef";

type Form = fn(&str, &[Call<'_>]) -> Answer;

/// A conversation of a parent that reads a file itself and hands a search to `explore`, in one turn.
fn parent_and_subagent(form: Form) -> Server {
    Server::start(move |request, _| {
        let task = request.messages().iter().find(|message| message["role"] == "user").unwrap().to_string();
        let answered = request.messages().iter().any(|message| {
            let text = message.to_string();
            text.contains("\"tool\"") || text.contains("tool_result")
        });
        match (task.contains("find the harbour"), answered) {
            (false, false) => form(
                "I look.",
                &[
                    ("call_read", "read_file", json!({"path": "log.txt"})),
                    ("call_explore", "subagent_explore", json!({"task": "find the harbour"})),
                ],
            ),
            (false, true) => form("The harbour is in log.txt, line 2.", &[]),
            (true, false) => form("", &[("call_grep", "grep_files", json!({"pattern": "harbour"}))]),
            (true, true) => form("log.txt:2 names it", &[]),
        }
    })
}

fn workspace() -> Deputy {
    Deputy::new().file("log.txt", "left at dawn\nthe harbour at noon\n")
}

/// The text of the result of a call, in either wire form.
fn result_of<'a>(request: &'a Request, id: &str) -> &'a Value {
    let openai = request
        .messages()
        .iter()
        .find(|message| message["tool_call_id"] == id)
        .map(|message| &message["content"]);
    let blocks = || request.messages().iter().filter_map(|message| message["content"].as_array()).flatten();
    openai
        .or_else(|| blocks().find(|block| block["tool_use_id"] == id).map(|block| &block["content"]))
        .unwrap_or_else(|| panic!("no result of {id} in {}", request.body))
}

fn whole_job(form: Form, model: &str, key_name: &str, path: &str, key_header: &str) {
    let server = parent_and_subagent(form);
    let base = if model.starts_with("openai") { format!("{}/v1", server.url) } else { server.url.clone() };
    let deputy = workspace().env(key_name, KEY);
    let ended = deputy
        .run(&["run", "--model", model, "--base-url", &base, "--output", "json", "where is the harbour?"])
        .exits(0);
    let object = ended.json();
    assert_eq!(object["answer"], "The harbour is in log.txt, line 2.");
    assert_eq!(object["status"], "answered");
    assert_eq!(object["turns"], 2);
    assert_eq!(object["usage"]["input_tokens"], 44, "four turns of the whole tree");
    assert_eq!(object["handoffs"].as_array().unwrap().len(), 1);
    assert_eq!(object["handoffs"][0]["subagent"], "explore");

    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        assert_eq!(request.path, path);
        assert!(request.header(key_header).is_some_and(|value| value.ends_with(KEY)), "{request:?}");
    }
    let last =
        requests.iter().rev().find(|request| request.body.to_string().contains("call_explore")).unwrap();
    assert!(result_of(last, "call_read").to_string().contains("the harbour at noon"));
    assert!(result_of(last, "call_explore").to_string().contains("log.txt:2 names it"));
    assert!(!last.body.to_string().contains("call_grep"), "the subagent's conversation stays its own");
    assert!(!format!("{ended:?}").contains(KEY), "the key shows nowhere");
    // A subagent has its own tools and system text, and nothing of the parent's.
    let child = requests
        .iter()
        .find(|request| {
            request.body.to_string().contains("find the harbour")
                && !request.body.to_string().contains("call_explore")
        })
        .unwrap();
    let text = child.body.to_string();
    assert!(
        text.contains("grep_files")
            && !text.contains("write_file")
            && !text.contains("where is the harbour?")
    );
}

#[test]
fn chat_completions_streaming() {
    whole_job(openai_stream, "openai:m", "OPENAI_API_KEY", "/v1/chat/completions", "authorization");
}

#[test]
fn chat_completions_in_one_piece() {
    whole_job(openai_json, "openai:m", "OPENAI_API_KEY", "/v1/chat/completions", "authorization");
}

#[test]
fn anthropic_messages_streaming() {
    whole_job(anthropic_stream, "anthropic:m", "ANTHROPIC_API_KEY", "/v1/messages", "x-api-key");
}

#[test]
fn anthropic_messages_in_one_piece() {
    whole_job(anthropic_json, "anthropic:m", "ANTHROPIC_API_KEY", "/v1/messages", "x-api-key");
}

#[test]
fn the_environment_names_model_and_server() {
    let server = Server::start(|_, _| openai_stream("hello", &[]));
    let deputy = Deputy::new()
        .env("DEPUTY_MODEL", "openai:m")
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_BASE_URL", &format!("{}/v1", server.url));
    assert_eq!(deputy.run(&["run", "hi"]).exits(0).stdout, "hello\n");
    // No key is needed for a server of one's own, and none is sent.
    let deputy = Deputy::new();
    deputy.run(&["run", "--model", "openai:m", "--base-url", &server.url, "hi"]).exits(0);
    let request = server.requests().pop().unwrap();
    assert_eq!((request.header("authorization"), request.path.as_str()), (None, "/v1/chat/completions"));
}

#[test]
fn an_unknown_tool_and_bad_arguments_are_told_to_the_model_and_the_loop_goes_on() {
    let server = Server::start(|request, number| match number {
        0 => {
            let mut answer = openai_json(
                "",
                &[
                    ("c1", "raed_file", json!({})),
                    ("c2", "read_file", json!({"path": "log.txt"})),
                    ("c3", "read_file", json!({"file": 1})),
                ],
            );
            if let Answer::Whole { body, .. } = &mut answer {
                // A fourth call whose arguments are cut short.
                *body = body.replacen(
                    "\"tool_calls\":[",
                    "\"tool_calls\":[{\"id\":\"c4\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"b\"}},",
                    1,
                );
            }
            answer
        }
        _ => {
            let unknown = result_of(request, "c1").to_string();
            assert!(
                unknown.contains("raed_file")
                    && unknown.contains("read_file")
                    && unknown.contains("subagent_explore"),
                "{unknown}"
            );
            openai_json("done", &[])
        }
    });
    workspace().run(&["run", "--model", "openai:m", "--base-url", &server.url, "go"]).exits(0);
    let request = server.requests().pop().unwrap();
    assert!(result_of(&request, "c2").to_string().contains("harbour"), "the good call ran");
    assert!(result_of(&request, "c3").to_string().contains("unknown field `file`"));
    assert!(result_of(&request, "c4").to_string().contains("EOF"), "{}", result_of(&request, "c4"));
}

#[test]
fn a_refused_key_fails_at_once_with_the_same_code_in_every_output() {
    let server = Server::start(|_, _| Answer::Whole {
        status: 401,
        kind: "application/json",
        body: json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}).to_string(),
    });
    for output in ["text", "json", "jsonl"] {
        let deputy = Deputy::new().env("OPENAI_API_KEY", KEY);
        let ended = deputy
            .run(&["run", "--model", "openai:m", "--base-url", &server.url, "--output", output, "hi"])
            .exits(1);
        assert!(!format!("{ended:?}").contains(KEY), "{ended:?}");
        let last = ended.stdout.lines().last().unwrap_or_default().to_owned();
        match output {
            "text" => assert!(ended.stdout.is_empty() && ended.stderr.contains("401"), "{ended:?}"),
            _ => {
                let object: Value = serde_json::from_str(&last).unwrap();
                assert_eq!(object["status"], "failed");
                assert!(object["error"].as_str().unwrap().contains("401"));
            }
        }
    }
    assert_eq!(server.requests().len(), 3, "a refused key is not tried again");
}

#[test]
fn passing_faults_are_tried_again_and_broken_streams_are_never_used() {
    let server = Server::start(|_, number| {
        match number {
        0 => Answer::Whole { status: 529, kind: "application/json", body: "{}".to_owned() },
        1 => Answer::Broken {
            sent: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\",\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"write_file\",\"arguments\":\"{}\"}}]}}]}\n\n".to_owned(),
        },
        _ => openai_stream("whole", &[]),
    }
    });
    let ended =
        workspace().run(&["run", "--model", "openai:m", "--base-url", &server.url, "--yes", "hi"]).exits(0);
    assert_eq!(ended.stdout, "whole\n");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn three_failures_in_a_row_end_the_run() {
    let server =
        Server::start(|_, _| Answer::Whole { status: 503, kind: "text/plain", body: "busy".to_owned() });
    Deputy::new().run(&["run", "--model", "openai:m", "--base-url", &server.url, "hi"]).exits(1).says(&[
        "3 failures in a row",
        "503",
        "busy",
    ]);
    assert_eq!(server.requests().len(), 3);
}

//! A model server on loopback: answers each request from a closure and keeps what was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// The messages of the request.
    pub(crate) fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().expect("messages")
    }
}

/// What the server does with a request.
pub(crate) enum Answer {
    /// A whole answer.
    Whole { status: u16, kind: &'static str, body: String },
    /// Says that a stream comes, sends this much of it, and closes.
    Broken { sent: String },
    /// Reads the request and never answers.
    Silence,
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers with `answer`, which gets the request and its number, from 0.
    pub(crate) fn start(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (requests.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, answer) = (kept.clone(), answer.clone());
                thread::spawn(move || serve(stream.unwrap(), &kept, &*answer));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    kept: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request, usize) -> Answer + ?Sized),
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    // A body without a length would be read by no simple server.
    let length =
        headers.iter().find(|(name, _)| name == "content-length").expect("content-length").1.parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request = Request { path, headers, body: serde_json::from_slice(&body).unwrap() };
    let number = {
        let mut kept = kept.lock().unwrap();
        kept.push(request.clone());
        kept.len() - 1
    };
    match answer(&request, number) {
        Answer::Whole { status, kind, body } => {
            let _ = write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
        Answer::Broken { sent } => {
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n{sent}"
            );
        }
        Answer::Silence => {
            let mut rest = Vec::new();
            let _ = reader.read_to_end(&mut rest);
        }
    }
}

/// A call as both wire forms need it: id, tool, arguments.
pub(crate) type Call<'a> = (&'a str, &'a str, Value);

/// An OpenAI stream: text in two pieces, each call's arguments in two pieces, usage at the end.
pub(crate) fn openai_stream(text: &str, calls: &[Call<'_>]) -> Answer {
    let mut body = String::new();
    let mut chunk = |delta: Value, finish: Value| {
        let choice = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        body.push_str(&format!(
            "data: {}\n\n",
            json!({"id": "c", "object": "chat.completion.chunk", "choices": choice})
        ));
    };
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    chunk(json!({"role": "assistant", "content": first}), Value::Null);
    chunk(json!({"content": rest}), Value::Null);
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let arguments = arguments.to_string();
        let (head, tail) = arguments.split_at(1);
        chunk(
            json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": head}}]}),
            Value::Null,
        );
        chunk(json!({"tool_calls": [{"index": index, "function": {"arguments": tail}}]}), Value::Null);
    }
    chunk(json!({}), json!(if calls.is_empty() { "stop" } else { "tool_calls" }));
    body.push_str(&format!(
        "data: {}\n\ndata: [DONE]\n\n",
        json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3}})
    ));
    Answer::Whole { status: 200, kind: "text/event-stream", body }
}

/// The same as one JSON object.
pub(crate) fn openai_json(text: &str, calls: &[Call<'_>]) -> Answer {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}))
        .collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut message =
        json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { json!(text) }});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let body = json!({"id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": finish, "message": message}], "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}});
    Answer::Whole { status: 200, kind: "application/json", body: body.to_string() }
}

/// An Anthropic stream: a text block, then a block a call, usage at both ends.
pub(crate) fn anthropic_stream(text: &str, calls: &[Call<'_>]) -> Answer {
    let mut body = String::new();
    let mut event = |name: &str, mut data: Value| {
        data["type"] = json!(name);
        body.push_str(&format!("event: {name}\ndata: {data}\n\n"));
    };
    event(
        "message_start",
        json!({"message": {"id": "m", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 11, "output_tokens": 1}}}),
    );
    let mut index = 0;
    if !text.is_empty() {
        event("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}}));
        event("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": text}}));
        event("content_block_stop", json!({"index": 0}));
        index = 1;
    }
    for (id, name, arguments) in calls {
        event(
            "content_block_start",
            json!({"index": index, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}),
        );
        event(
            "content_block_delta",
            json!({"index": index, "delta": {"type": "input_json_delta", "partial_json": arguments.to_string()}}),
        );
        event("content_block_stop", json!({"index": index}));
        index += 1;
    }
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    event("message_delta", json!({"delta": {"stop_reason": stop}, "usage": {"output_tokens": 3}}));
    event("message_stop", json!({}));
    Answer::Whole { status: 200, kind: "text/event-stream", body }
}

/// The same as one JSON object.
pub(crate) fn anthropic_json(text: &str, calls: &[Call<'_>]) -> Answer {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    content.extend(calls.iter().map(
        |(id, name, arguments)| json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
    ));
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let body = json!({"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": {"input_tokens": 11, "output_tokens": 3}});
    Answer::Whole { status: 200, kind: "application/json", body: body.to_string() }
}

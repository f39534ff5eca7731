//! Whole exchanges with servers on loopback: what is sent, how each end is told, and where the key may go.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::history::{History, Message, ToolResult};
use crate::model::{ModelConfig, TurnObserver, connect};
use crate::secret::Secret;

const PATIENCE: Duration = Duration::from_secs(30);
const KEY: &str = "sk-canary-0123456789";
const OPENAI: &str = "openai:gpt";
const ANTHROPIC: &str = "anthropic:claude";
const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
const FINE: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"fine\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
const HALF_TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
const HALF_CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\
                         \"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n";

/// What the server sends, byte for byte, and how long it waits before each ping after that.
type Answer = (String, Option<Duration>);
const CLOSE: Option<Duration> = None;
const HOLD: Option<Duration> = Some(Duration::from_secs(3600));
const PING: Option<Duration> = Some(Duration::from_millis(5));

struct Server {
    base: String,
    /// The requests, each as it came.
    requests: mpsc::UnboundedReceiver<String>,
    /// Told once for a connection that the client closed before the server did.
    left: Arc<Notify>,
}

impl Server {
    async fn start(answer: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (told, requests) = mpsc::unbounded_channel();
        let left = Arc::new(Notify::new());
        let leaving = left.clone();
        tokio::spawn(async move {
            while let Ok((mut peer, _)) = listener.accept().await {
                let Some(request) = request(&mut peer).await else { continue };
                tokio::spawn(send(peer, answer(&request), leaving.clone()));
                let _ = told.send(request);
            }
        });
        Self { base, requests, left }
    }

    fn asked(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.requests.try_recv().ok()).collect()
    }
}

async fn request(peer: &mut TcpStream) -> Option<String> {
    let mut came = Vec::new();
    while peer.read_buf(&mut came).await.ok()? > 0 {
        let Ok(request) = std::str::from_utf8(&came) else { continue };
        let Some((_, body)) = request.split_once("\r\n\r\n") else { continue };
        if body.len() >= header(request, "content-length")?.parse().ok()? {
            return Some(request.to_owned());
        }
    }
    None
}

async fn send(mut peer: TcpStream, (text, pause): Answer, left: Arc<Notify>) {
    let _ = peer.write_all(text.as_bytes()).await;
    let Some(pause) = pause else { return };
    let mut more = [0];
    // The client has said all, so that reading ends where it leaves.
    while tokio::time::timeout(pause, peer.read(&mut more)).await.is_err() {
        let _ = peer.write_all(b": ping\n\n").await;
    }
    left.notify_one();
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").unwrap().1
}

/// An answer that ends where the connection does; `headers` each end in a line feed.
fn open(status: u16, kind: &str, headers: &str, body: &str) -> String {
    let headers = headers.replace('\n', "\r\n");
    format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n{headers}\r\n{body}")
}

fn whole(status: u16, kind: &str, headers: &str, body: &str) -> Answer {
    (open(status, kind, &format!("content-length: {}\n{headers}", body.len()), body), CLOSE)
}

fn redirect(status: u16, target: &str) -> Answer {
    whole(status, "text/plain", &format!("location: {target}\n"), "")
}

fn config(spec: &str, base: &str) -> ModelConfig {
    let mut config = ModelConfig::new(spec.parse().unwrap());
    config.base_url = Some(base.to_owned());
    config.api_key = Some(Secret::new(format!("{KEY}\n")));
    config.retry.attempts = 1;
    config
}

/// Cancels a turn once it hears `stop`.
#[derive(Default)]
struct Cancels(CancellationToken);

impl TurnObserver for Cancels {
    fn text(&self, delta: &str) {
        if delta == "stop" {
            self.0.cancel();
        }
    }
}

async fn turn(model: &dyn Model, history: &History, observer: &Cancels) -> Result<Turn, ModelError> {
    assert!(!format!("{model:?}").contains("canary"), "{model:?}");
    let (speaker, system, tools, parallel_tool_calls, cancel) = ("parent", "", &[], true, &observer.0);
    let request = TurnRequest { speaker, system, history, tools, parallel_tool_calls, cancel, observer };
    tokio::time::timeout(PATIENCE, model.turn(request)).await.expect("an end")
}

fn asking() -> History {
    let mut history = History::new();
    history.push(Message::user("gezählt ✓"));
    history
}

async fn ask(config: ModelConfig) -> Result<Turn, ModelError> {
    turn(&*connect(config).unwrap(), &asking(), &Cancels::default()).await
}

/// The error of a turn that gets this answer.
async fn failure((text, pause): Answer) -> ModelError {
    let server = Server::start(move |_| (text.clone(), pause)).await;
    ask(config(OPENAI, &server.base)).await.unwrap_err()
}

#[tokio::test]
async fn a_request_says_how_long_it_is_what_it_wants_and_who_asks() {
    let openai = ("/v1/chat/completions", "authorization", "Bearer sk-canary-0123456789", None);
    let anthropic = ("/v1/messages", "x-api-key", KEY, Some("2023-06-01"));
    for (spec, (path, name, key, version)) in [(OPENAI, openai), (ANTHROPIC, anthropic)] {
        for (stream, accept) in [(true, STREAM), (false, JSON)] {
            let mut server = Server::start(|_| whole(404, JSON, "", "")).await;
            let _ = ask(ModelConfig { stream, ..config(spec, &server.base) }).await;
            let request = server.asked().pop().unwrap();
            assert!(request.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{request}");
            assert_eq!(header(&request, "content-length").unwrap(), body(&request).len().to_string());
            assert_eq!(header(&request, "content-type"), Some(JSON));
            assert_eq!(header(&request, "accept"), Some(accept));
            assert_eq!(header(&request, name), Some(key));
            assert_eq!(request.matches(KEY).count(), 1, "the key stands in one place");
            assert_eq!(header(&request, "anthropic-version"), version);
            assert_eq!(serde_json::from_str::<Value>(body(&request)).unwrap()["stream"], stream);
            assert!(request.contains("gezählt ✓"));
        }
    }
}

#[tokio::test]
async fn thinking_its_signature_and_call_ids_go_back_as_they_came() {
    let whole_thinking = r#"{ "signature":"EqQB+/\u00e9==",  "thinking":"a \/ b","type":"thinking"}"#;
    let grown_thinking = r#"{"type":"thinking","thinking":"a / b","signature":"EqQB+/=="}"#;
    let call = r#"{"type":"tool_use","id":"toolu_01A-b_9","name":"f","input":{"n": 1.0,"a":"\u00e9"}}"#;
    let message = format!(r#"{{"content":[{whole_thinking},{call}],"stop_reason":"tool_use"}}"#);
    let stream = [
        r#"{"type":"content_block_start","content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"a / b"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"EqQB+/=="}}"#,
        &format!(r#"{{"type":"content_block_start","content_block":{call}}}"#),
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let stream = stream.map(|event| format!("data: {event}\n\n")).concat();
    for (kind, sent, thinking) in [(JSON, message, whole_thinking), (STREAM, stream, grown_thinking)] {
        let mut server = Server::start(move |_| whole(200, kind, "", &sent)).await;
        let (model, mut history) = (connect(config(ANTHROPIC, &server.base)).unwrap(), asking());
        let message = turn(&*model, &history, &Cancels::default()).await.unwrap().message;
        let id = message.calls().next().unwrap().id.clone();
        history.push(Message::Assistant(message));
        history.push(Message::Tool(ToolResult::ok(id, "f".into(), "done".to_owned())));
        turn(&*model, &history, &Cancels::default()).await.unwrap();
        let second = server.asked().pop().unwrap();
        assert!(second.contains(&format!("[{thinking},{call}]")), "{second}");
        assert!(second.contains(r#""tool_use_id":"toolu_01A-b_9""#), "{second}");
    }
}

#[tokio::test]
async fn an_answer_is_read_as_what_it_is_once_it_is_whole() {
    let json = r#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}"#;
    let kinds = [(STREAM, FINE, HOLD), (JSON, json, CLOSE), (JSON, FINE, CLOSE), ("", FINE, CLOSE)];
    for (kind, sent, then) in kinds {
        let server = Server::start(move |_| (open(200, kind, "", sent), then)).await;
        assert_eq!(ask(config(OPENAI, &server.base)).await.unwrap().message.text(), "fine", "{kind}: {sent}");
    }
    let error = failure(whole(200, "text/html", "", "<html>")).await;
    assert!(error.to_string().contains("check the base URL") && !error.is_transient(), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_closes_at_once_is_unreachable() {
    let silent = failure((String::new(), CLOSE)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://u:canary@{}/v1?key=canary", listener.local_addr().unwrap());
    let config = config(OPENAI, &base);
    let closing = async move { drop(listener.accept().await) };
    let (closed, ()) = tokio::join!(ask(config.clone()), closing);
    for error in [silent, closed.unwrap_err(), ask(config).await.unwrap_err()] {
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_transient(), "{error}");
        assert!(!format!("{error:?}").contains("canary"), "{error:?}");
    }
}

#[tokio::test]
async fn half_a_stream_is_no_turn() {
    for half in [HALF_TEXT, HALF_CALL, ": ping\n\n", ""] {
        let chunk = format!("{:x}\r\n{half}\r\n", half.len());
        let framings =
            [("content-length: 9999\n", half), ("transfer-encoding: chunked\n", &chunk), ("", half)];
        for (headers, sent) in framings {
            let error = failure((open(200, STREAM, headers, sent), CLOSE)).await;
            assert!(matches!(error, ModelError::Incomplete { .. }) && error.is_transient(), "{error}");
        }
    }
}

#[tokio::test]
async fn each_limit_ends_a_wait_and_says_which_one_it_was() {
    // Whether a stream is asked for, the idle limit and the total limit in milliseconds, and the one that ends it.
    for (sent, then, stream, idle, total, says) in [
        (String::new(), HOLD, true, 50, 60_000, "nothing came for 50ms"),
        (open(200, STREAM, "", HALF_TEXT), HOLD, true, 50, 60_000, "nothing came for 50ms"),
        (open(200, STREAM, "", ""), PING, true, 150, 190, "the whole answer did not come within 190ms"),
        (String::new(), HOLD, false, 1, 100, "the whole answer did not come within 100ms"),
    ] {
        let server = Server::start(move |_| (sent.clone(), then)).await;
        let mut config = ModelConfig { stream, ..config(OPENAI, &server.base) };
        config.limits.idle = Duration::from_millis(idle);
        config.limits.total = Duration::from_millis(total);
        let error = ask(config).await.unwrap_err();
        assert!(error.to_string().ends_with(says) && error.is_transient(), "{error}");
    }
}

#[tokio::test]
async fn a_cancel_ends_the_turn_and_its_connection() {
    let history = asking();
    for sent in [String::new(), open(200, STREAM, "", &HALF_TEXT.replace("half", "stop"))] {
        let (cancels, says_nothing) = (Cancels::default(), sent.is_empty());
        let mut server = Server::start(move |_| (sent.clone(), HOLD)).await;
        let model = connect(config(OPENAI, &server.base)).unwrap();
        let once_asked = async {
            server.requests.recv().await;
            if says_nothing {
                cancels.0.cancel();
            }
        };
        let (ended, ()) = tokio::join!(turn(&*model, &history, &cancels), once_asked);
        assert!(matches!(ended, Err(ModelError::Cancelled)), "{ended:?}");
        tokio::time::timeout(PATIENCE, server.left.notified()).await.expect("a closed connection");
        let ended = turn(&*model, &history, &cancels).await;
        assert!(matches!(ended, Err(ModelError::Cancelled)), "{ended:?}");
        assert!(server.asked().is_empty(), "cancelled before, nothing is sent");
    }
}

#[tokio::test]
async fn an_answer_over_a_cap_is_refused() {
    let caps: [fn(&mut ModelLimits) -> &mut usize; 3] =
        [|of| &mut of.response_bytes, |of| &mut of.event_bytes, |of| &mut of.turn_bytes];
    for cap in caps {
        let long = open(200, STREAM, "", &HALF_TEXT.replace("half", &"x".repeat(500)));
        let server = Server::start(move |_| (long.clone(), HOLD)).await;
        let mut config = config(OPENAI, &server.base);
        *cap(&mut config.limits) = 100;
        let error = ask(config).await.unwrap_err();
        assert!(matches!(&error, ModelError::Protocol { reason } if reason.contains("100 bytes")), "{error}");
    }
    let error = failure((open(500, "text/plain", "", &"x".repeat(100_000)), HOLD)).await;
    assert!(matches!(&error, ModelError::Status { message, .. } if message.len() == 503), "{error}");
}

#[tokio::test]
async fn a_redirect_that_drops_the_body_is_not_followed() {
    for status in [301, 302, 303] {
        let mut server = Server::start(move |_| redirect(status, "/v2?key=canary")).await;
        let error = ask(config(OPENAI, &server.base)).await.unwrap_err();
        let says = format!(" {status}: it redirects to {}/v2, which is not followed;", server.base);
        assert!(error.to_string().contains(&says) && !error.is_transient(), "{error}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    for status in [307, 308] {
        let mut elsewhere = Server::start(|_| whole(200, STREAM, "", FINE)).await;
        let error = failure(redirect(status, &elsewhere.base)).await;
        let says = format!(" {status}: it redirects to {}/, which is not followed;", elsewhere.base);
        assert!(error.to_string().contains(&says) && !error.is_transient(), "{error}");
        assert!(elsewhere.asked().is_empty(), "the key stays at home");
    }
}

#[tokio::test]
async fn a_redirect_that_keeps_the_body_is_followed_at_home_three_times() {
    let mut server = Server::start(|request| match request.starts_with("POST /moved ") {
        true => whole(200, STREAM, "", FINE),
        false => redirect(307, "/moved"),
    })
    .await;
    assert_eq!(ask(config(OPENAI, &server.base)).await.unwrap().message.text(), "fine");
    let [first, second] = server.asked().try_into().unwrap();
    assert_eq!(body(&first), body(&second));
    assert_eq!(header(&first, "authorization"), header(&second, "authorization"));

    let mut round = Server::start(|_| redirect(308, "on/")).await;
    let error = ask(config(OPENAI, &round.base)).await.unwrap_err();
    assert!(error.to_string().contains("/v1/chat/on/on/on/on/, which is not followed"), "{error}");
    assert_eq!(round.asked().len(), 4);
}

#[tokio::test]
async fn a_server_may_ask_for_a_wait_of_at_most_a_minute() {
    let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(30));
    for (value, least, most) in [
        ("7", Some(7), Some(7)),
        ("1e300", Some(60), Some(60)),
        (&soon, Some(1), Some(30)),
        ("Fri, 31 Dec 9999 23:59:59 GMT", Some(60), Some(60)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0), Some(0)),
        ("NaN", None, None),
        ("soon", None, None),
    ] {
        let error = failure(whole(429, JSON, &format!("retry-after: {value}\n"), "")).await;
        let wait = error.retry_after().map(|wait| wait.as_secs());
        assert!((least..=most).contains(&wait) && error.is_transient(), "{value}: {wait:?}");
    }
}

#[tokio::test]
async fn an_error_status_tells_what_the_server_said() {
    let long = r#"{"error":{"message":"prompt is too long: 9 > 8"}}"#;
    let key = r#"{"error":{"message":"bad key","type":"auth"}}"#;
    for (answer, says, transient) in [
        (whole(400, JSON, "", long), "no longer fits the model's context: prompt is too long: 9 > 8", false),
        (whole(413, JSON, "", long), "no longer fits the model's context: prompt is too long: 9 > 8", false),
        (whole(401, JSON, "", key), "401: bad key (auth)", false),
        (whole(404, JSON, "", "no such\nmodel\u{1b}\u{202e}"), "404: no such model\\u{1b}\\u{202e}", false),
        (whole(500, JSON, "", "context length"), "500: context length", true),
        (whole(529, JSON, "", ""), "529: no reason given", true),
        ((open(503, JSON, "content-length: 9\n", "half"), CLOSE), "503: half", true),
    ] {
        let error = failure(answer).await;
        assert!(error.to_string().ends_with(says), "{error}");
        assert_eq!(error.is_transient(), transient, "{error}");
    }
}

#[tokio::test]
async fn no_error_and_no_debug_text_shows_the_key() {
    // A server that says what it was told, in each place where a server can say something.
    let echoes: [fn(&str) -> Answer; 10] = [
        |head| whole(400, "text/plain", "", head),
        |head| whole(500, JSON, "", &json!({"error": {"message": head}}).to_string()),
        |head| whole(401, JSON, "", &json!({"told": head}).to_string()),
        |head| whole(413, JSON, "", &format!("context length {head}")),
        |_| whole(503, JSON, "", &format!("{}{KEY}", "x".repeat(490))),
        |_| redirect(302, &format!("http://u:{KEY}@127.0.0.1/{KEY}?{KEY}")),
        |_| whole(200, &format!("text/html; {KEY}"), "", ""),
        |head| whole(200, JSON, "", &format!("{{{head}")),
        |_| whole(200, STREAM, "", &format!("data: {{{KEY}\n\n")),
        |head| whole(200, STREAM, "", &format!("event: error\ndata: {}\n\n", json!({"error": head}))),
    ];
    for spec in [OPENAI, ANTHROPIC] {
        for echo in echoes {
            let server = Server::start(echo).await;
            let error = ask(config(spec, &server.base)).await.unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(shown.contains("***") && !shown.contains("sk-") && !shown.contains("canary"), "{shown}");
        }
    }
}

//! Which step of a script is taken, what becomes of it, and what is said of scripts that are wrong.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::history::ToolResult;
use crate::model::{NoObserver, TurnObserver};

/// Keeps the pieces of text that it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl TurnObserver for Heard {
    fn text(&self, delta: &str) {
        self.0.lock().unwrap().push(delta.to_owned());
    }
}

fn parsed(script: &Value) -> Result<ScriptedModel, ScriptError> {
    ScriptedModel::parse(Path::new("demo.json"), &script.to_string())
}

/// The model that follows these steps.
fn script(steps: &Value) -> ScriptedModel {
    parsed(&json!({ "steps": steps })).unwrap()
}

/// What is wrong with a script of a good step and this one.
fn wrong(step: &Value) -> String {
    parsed(&json!({"steps": [{"answer": "a"}, step]})).unwrap_err().to_string()
}

async fn turn_of(
    model: &ScriptedModel,
    speaker: &str,
    history: &History,
    cancel: &CancellationToken,
    observer: &dyn TurnObserver,
) -> Result<Turn, ModelError> {
    let turn = model.turn(TurnRequest {
        speaker,
        system: "say step",
        history,
        tools: &[],
        parallel_tool_calls: true,
        cancel,
        observer,
    });
    tokio::time::timeout(Duration::from_secs(30), turn).await.expect("an end")
}

async fn told(model: &ScriptedModel, speaker: &str, said: &str) -> Result<Turn, ModelError> {
    let mut history = History::new();
    history.push(Message::user(said));
    turn_of(model, speaker, &history, &CancellationToken::new(), &NoObserver).await
}

/// What the parent answers.
async fn answer(model: &ScriptedModel, said: &str) -> String {
    told(model, "parent", said).await.unwrap().message.text()
}

/// How the parent's turn fails.
async fn failure(model: &ScriptedModel, said: &str) -> String {
    told(model, "parent", said).await.unwrap_err().to_string()
}

fn result(text: &str) -> Message {
    Message::Tool(ToolResult::ok("c".into(), "f".into(), text.to_owned()))
}

#[tokio::test]
async fn the_first_step_that_fits_and_is_not_used_up_is_taken() {
    let model = script(&json!([
        {"said": "tides", "answer": "first"},
        {"said": "tides", "answer": "second"},
        {"answer": "anything"},
    ]));
    assert_eq!(answer(&model, "the moon").await, "anything", "steps that do not fit are passed over");
    assert_eq!(answer(&model, "the tides").await, "first");
    assert_eq!(answer(&model, "the tides").await, "second");
    assert!(failure(&model, "the tides").await.contains("no more steps"));
}

#[tokio::test]
async fn a_step_that_repeats_is_never_used_up_and_hides_those_behind_it() {
    let model = script(&json!([{"answer": "again", "repeat": true}, {"answer": "hidden"}]));
    for _ in 0..3 {
        assert_eq!(answer(&model, "x").await, "again");
    }
}

#[tokio::test]
async fn each_speaker_has_steps_of_its_own_and_the_parent_those_without_a_speaker() {
    let model = script(&json!([
        {"speaker": "explore", "answer": "of explore"},
        {"answer": "of the parent"},
        {"speaker": "parent", "answer": "of the parent too"},
    ]));
    assert_eq!(answer(&model, "x").await, "of the parent");
    assert_eq!(answer(&model, "x").await, "of the parent too");
    assert_eq!(told(&model, "explore", "x").await.unwrap().message.text(), "of explore");
}

#[tokio::test]
async fn every_text_of_said_must_occur_as_it_is_written() {
    let steps = json!([{"said": ["one", "two"], "answer": "both"}, {"answer": "other", "repeat": true}]);
    let model = script(&steps);
    for said in ["one", "two", "One two", "on etwo"] {
        assert_eq!(answer(&model, said).await, "other", "{said}");
    }
    assert_eq!(answer(&model, "two, then one").await, "both");
}

#[tokio::test]
async fn what_was_said_is_all_since_the_speakers_last_turn_one_text_a_line() {
    let mut history = History::new();
    history.push(Message::user("old"));
    history.push(Message::Assistant(AssistantMessage::text_only("mine")));
    for text in ["first", "second"] {
        history.push(result(text));
    }
    history.push(Message::user("third"));
    let whole = json!({"take": {"all": "(?s).*"}, "answer": "{{all}}"});
    let model = script(&json!([{"said": "old", "answer": "o"}, {"said": "mine", "answer": "m"}, whole]));
    let turn = turn_of(&model, "parent", &history, &CancellationToken::new(), &NoObserver).await;
    assert_eq!(turn.unwrap().message.text(), "first\nsecond\nthird");
}

#[tokio::test]
async fn placeholders_stand_for_the_first_group_or_the_whole_match() {
    let cases = [
        (r"line (\d+) of (\d+)", "at {{x}}", "at 7"),
        (r"line \d+", "{{ x }}, {{x}}", "line 7, line 7"),
        (r"(nothing)?line", "{{x}}", "line"),
        (r"\{\{.*\}\}", "{{x}}", "{{y}}"),
        ("line", "{{{x}}} {{}} {{a b}} {{x-y}} {x} {{x", "{line} {{}} {{a b}} {{x-y}} {x} {{x"),
        ("line", "}} é{{x}}é {", "}} élineé {"),
    ];
    for (pattern, template, filled) in cases {
        let model = script(&json!([{"take": {"x": pattern}, "answer": template}]));
        assert_eq!(answer(&model, "see line 7 of 9 {{y}}").await, filled, "{template}");
    }
}

#[tokio::test]
async fn arguments_are_filled_in_every_text_and_sent_as_they_are_otherwise() {
    let cases = [
        (
            json!({"{{x}}": "{{x}}", "n": [1, {"deep": "a{{x}}"}]}),
            r#"{"{{x}}":"q\"","n":[1,{"deep":"aq\""}]}"#,
        ),
        (json!("not json {{x}}"), "not json q\""),
        (json!({}), "{}"),
        (Value::Null, "{}"),
    ];
    for (arguments, sent) in cases {
        let call = json!({"tool": "f", "arguments": arguments});
        let model = script(&json!([{"take": {"x": "q."}, "calls": [call]}]));
        let turn = told(&model, "parent", "q\"").await.unwrap();
        assert_eq!(turn.message.calls().next().unwrap().arguments.as_str(), sent);
    }
}

#[tokio::test]
async fn a_turn_has_its_text_then_its_calls_each_with_an_id() {
    let calls = json!([{"tool": "f", "id": "mine"}, {"tool": "g"}, {"tool": "g"}]);
    let model = script(&json!([{"answer": "Looking.", "calls": calls}, {"answer": "Done."}, {"answer": ""}]));
    let (heard, mut history) = (Heard::default(), History::new());
    history.push(Message::user("go"));
    let mut turns = Vec::new();
    for _ in 0..3 {
        turns.push(turn_of(&model, "parent", &history, &CancellationToken::new(), &heard).await.unwrap());
    }
    assert!(matches!(turns[0].message.parts.first(), Some(Part::Text(text)) if text == "Looking."));
    let calls: Vec<&ToolCall> = turns[0].message.calls().collect();
    assert_eq!(calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["f", "g", "g"]);
    assert_eq!(calls[0].id.as_str(), "mine");
    assert_ne!(calls[1].id, calls[2].id);
    let stops = [StopReason::ToolCalls, StopReason::End, StopReason::End];
    assert_eq!(turns.iter().map(|turn| turn.stop).collect::<Vec<_>>(), stops);
    assert_eq!(heard.0.into_inner().unwrap(), ["Looking.", "Done."]);
}

#[tokio::test]
async fn usage_is_what_the_step_says_and_estimated_otherwise() {
    let usage = json!({"input_tokens": 40, "output_tokens": 9, "cache_read_tokens": 2});
    let model = script(&json!([{"answer": "a", "usage": usage}, {"answer": "12345678"}]));
    let given = told(&model, "parent", "x").await.unwrap().usage;
    let expected = Usage { input_tokens: 40, output_tokens: 9, cache_read_tokens: 2, ..Usage::default() };
    assert_eq!(given, expected);
    let estimated = told(&model, "parent", "1234").await.unwrap().usage;
    assert_eq!(estimated, Usage::estimate(4, 8));
}

#[tokio::test]
async fn a_step_that_fails_gives_its_text_for_good() {
    let model = script(&json!([{"fail": "overloaded"}, {"answer": "fine"}]));
    let error = told(&model, "parent", "x").await.unwrap_err();
    assert!(matches!(&error, ModelError::Reported { message, .. } if message == "overloaded"), "{error}");
    assert!(!error.is_transient());
    assert_eq!(answer(&model, "x").await, "fine");
}

#[tokio::test]
async fn a_delay_is_waited_for_and_ends_with_a_cancel() {
    let model = script(&json!([{"answer": "slow", "delay_ms": 20}, {"answer": "x", "delay_ms": 3_600_000}]));
    let began = std::time::Instant::now();
    assert_eq!(answer(&model, "x").await, "slow");
    assert!(began.elapsed() >= Duration::from_millis(20));

    let (cancel, mut history) = (CancellationToken::new(), History::new());
    history.push(Message::user("x"));
    let turn = turn_of(&model, "parent", &history, &cancel, &NoObserver);
    let (turn, ()) = tokio::join!(turn, async { cancel.cancel() });
    assert!(matches!(turn, Err(ModelError::Cancelled)), "{turn:?}");
}

#[tokio::test]
async fn a_turn_cancelled_before_it_begins_uses_nothing_up() {
    let model = script(&json!([{"answer": "a"}]));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let turn = turn_of(&model, "parent", &History::new(), &cancel, &NoObserver).await;
    assert!(matches!(turn, Err(ModelError::Cancelled)), "{turn:?}");
    assert_eq!(answer(&model, "x").await, "a");
}

#[tokio::test]
async fn where_no_step_fits_the_error_says_what_was_expected_and_what_was_said() {
    let model = script(&json!([
        {"speaker": "explore", "answer": "e"},
        {"said": ["the", "moon", "stars"], "answer": "m"},
        {"said": "sun", "answer": "s"},
    ]));
    let error = told(&model, "parent", "the tides").await.unwrap_err();
    assert!(matches!(error, ModelError::Script(_)) && !error.is_transient(), "{error}");
    let expected = "no step of script demo.json fits what was said to `parent`: step 2 expects `moon` and \
                    `stars`, but what was said is `the tides`";
    assert_eq!(error.to_string(), expected);

    let error = told(&model, "review", "hi").await.unwrap_err().to_string();
    assert!(error.contains("no step for `review`, only for `explore`, `parent`"), "{error}");
    let error = failure(&script(&json!([])), "hi").await;
    assert!(error.contains("no step for `parent`, only for nobody"), "{error}");

    told(&model, "explore", "x").await.unwrap();
    let error = told(&model, "explore", &"é".repeat(301)).await.unwrap_err().to_string();
    assert!(error.contains("no more steps for `explore`") && error.contains("`\"repeat\": true`"), "{error}");
    assert!(error.contains(&format!("`{}... (301 characters)`", "é".repeat(300))), "{error}");
}

#[tokio::test]
async fn what_cannot_be_taken_or_filled_in_is_an_error_that_names_the_step() {
    let model = script(&json!([
        {"take": {"line": r"line (\d+)"}, "answer": "x"},
        {"take": {"b": "t", "a": "t"}, "answer": "{{c}}"},
        {"calls": [{"tool": "f", "arguments": {"n": ["{{c}}"]}}]},
    ]));
    let expected = [
        r"step 1 of script demo.json: expected `take.line` (`line (\d+)`) to be found in what was said, but what was said is `tides`",
        "step 2 of script demo.json: expected `take` to have `c`, since `{{c}}` stands in the step, but it takes `a`, `b`",
        "step 3 of script demo.json: expected `take` to have `c`, since `{{c}}` stands in the step, but it takes nothing",
    ];
    for error in expected {
        assert_eq!(failure(&model, "tides").await, error);
    }
}

#[test]
fn unknown_keys_are_errors_that_say_what_was_meant() {
    let cases = [
        (json!({"anwser": "a"}), "`anwser` came; did you mean `answer`?"),
        (json!({"answer": "a", "delay": 5}), "did you mean `delay_ms`?"),
        (json!({"calls": [{"tool": "f"}, {"tool": "f", "argument": {}}]}), "did you mean `arguments`?"),
        (json!({"answer": "a", "usage": {"input_token": 1}}), "did you mean `input_tokens`?"),
        (json!({"answer": "a", "zzz": 1}), "`fail`, `repeat`, `zzz` came"),
    ];
    for (step, says) in cases {
        let error = wrong(&step);
        assert!(error.starts_with("step 2 of script demo.json: expected the keys `"), "{error}");
        assert!(error.ends_with(says), "{error}");
    }
    let error = parsed(&json!({"step": []})).unwrap_err().to_string();
    assert!(error.ends_with("expected the keys `steps`, `step` came; did you mean `steps`?"), "{error}");
}

#[test]
fn a_step_of_the_wrong_form_is_named() {
    let cases = [
        (json!({}), "expected `answer`, `calls` or `fail`"),
        (json!({"said": "x", "calls": []}), "expected `answer`, `calls` or `fail`"),
        (json!({"fail": "x", "answer": "a"}), "expected `fail` alone"),
        (json!({"fail": "x", "calls": [{"tool": "f"}]}), "expected `fail` alone"),
        (json!({"calls": [{"tool": "f", "arguments": [1]}]}), "the arguments of `f`"),
        (json!({"calls": [{"arguments": {}}]}), "`tool`"),
        (json!({"answer": "a", "said": 3}), "expected `said` to be a text or a list of texts"),
        (json!({"answer": "a", "delay_ms": -1}), "-1"),
        (json!({"answer": "a", "take": {"x": 1}}), "expected `take.x` to be a regular expression, `1` came"),
        (json!({"answer": "a", "take": {"x": "("}}), "`take.x` is no regular expression"),
        (json!({"answer": "a", "take": {"a-b": "x"}}), "`a-b` came"),
        (json!("a"), "step"),
    ];
    for (step, says) in cases {
        let error = wrong(&step);
        assert!(error.starts_with("step 2 of script demo.json: ") && error.contains(says), "{error}");
    }
}

#[test]
fn what_is_no_script_is_named_by_its_file() {
    let cases = [("", "EOF"), ("[]", "an object"), ("{}", "the key `steps`"), (r#"{"steps":{}}"#, "a list")];
    for (text, says) in cases {
        let error = ScriptedModel::parse(Path::new("demo.json"), text).unwrap_err();
        assert!(matches!(error, ScriptError::Malformed { .. }), "{error}");
        let error = error.to_string();
        assert!(error.starts_with("script demo.json: ") && error.contains(says), "{error}");
    }
    let error = ScriptedModel::load(Path::new("/nowhere/demo.json")).unwrap_err();
    assert!(matches!(error, ScriptError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/demo.json"), "{error}");
}

#[tokio::test]
async fn the_example_of_the_documentation_runs() {
    let page = include_str!("../../../../docs/scripted-model.md");
    let example = page.split_once("```json").unwrap().1.split_once("```").unwrap().0;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("demo.json");
    std::fs::write(&file, example).unwrap();
    let model = ScriptedModel::load(&file).unwrap();
    assert_eq!(model.name(), format!("scripted:{}", file.display()));
    assert_eq!(answer(&model, "how many tides?").await, "I ask explore.");
    told(&model, "explore", "Count the tides in tides.txt.").await.unwrap();
    let found = told(&model, "explore", "tides.txt:2:tide\ntides.txt:31:tide").await.unwrap().message.text();
    assert_eq!(found, "The last one is on line 31.");
    assert_eq!(answer(&model, &found).await, "There are tides down to line 31.");
}

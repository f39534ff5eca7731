//! Signals: the whole tree stops, the last record is written, the exit code says which signal it was.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::deputy::Deputy;

/// Starts a run that is busy in a command of a subagent, sends `signal` once the command has begun.
fn interrupt(signal: &str) -> (i32, Value, Deputy) {
    let steps = json!({"steps": [
        {"said": "go", "calls": [{"tool": "subagent_verify", "arguments": {"task": "check"}}]},
        {"speaker": "verify", "said": "check", "calls": [{"tool": "run_program", "arguments": {"program": "sleep", "args": ["600"]}}]}
    ]});
    let deputy = Deputy::new().file("script.json", steps.to_string());
    let mut child = deputy
        .command(&[
            "run",
            "--model",
            "scripted:script.json",
            "--output",
            "jsonl",
            "--allow",
            "run_program",
            "--shell",
            crate::tools::shell(),
            "go",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| -> Value { serde_json::from_str(&line.unwrap()).unwrap() });
    lines
        .find(|event| event["event"] == "tool_start" && event["tool"] == "run_program")
        .expect("the command begins");
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let last = lines.last().expect("a last record");
    (child.wait().unwrap().code().unwrap_or(-1), last, deputy)
}

#[test]
fn an_interrupt_stops_the_whole_tree_and_still_writes_the_result() {
    let (code, last, deputy) = interrupt("-INT");
    assert_eq!(
        (code, last["event"].as_str(), last["status"].as_str()),
        (130, Some("result"), Some("cancelled")),
        "{last}"
    );
    assert_eq!(deputy.left_over(), 0, "no process of the run is left");
}

#[test]
fn a_termination_does_the_same_under_its_own_code() {
    let (code, last, deputy) = interrupt("-TERM");
    assert_eq!((code, last["status"].as_str()), (143, Some("cancelled")), "{last}");
    assert_eq!(deputy.left_over(), 0);
}

//! What goes where: the answer to stdout, all else to stderr, and machines read JSON alone.

use serde_json::{Value, json};

use crate::deputy::Deputy;

fn two_subagents() -> Value {
    json!([
        {"said": "go", "calls": [
            {"tool": "subagent_explore", "arguments": {"task": "look left"}},
            {"tool": "subagent_plan", "arguments": {"task": "look right"}}
        ], "usage": {"input_tokens": 100, "output_tokens": 10}},
        {"speaker": "explore", "said": "look left", "calls": [{"tool": "list_files", "arguments": {}}], "usage": {"input_tokens": 20, "output_tokens": 2}},
        {"speaker": "explore", "said": "a.txt", "answer": "left", "usage": {"input_tokens": 20, "output_tokens": 2}},
        {"speaker": "plan", "said": "look right", "answer": "right", "usage": {"input_tokens": 20, "output_tokens": 2}},
        {"said": ["left", "right"], "answer": "both ways", "usage": {"input_tokens": 100, "output_tokens": 10}}
    ])
}

#[test]
fn text_has_the_answer_alone_on_stdout_and_plain_lines_on_stderr() {
    let ended = Deputy::new().file("a.txt", "").scripted(&two_subagents(), &["go"]).exits(0);
    assert_eq!(ended.stdout, "both ways\n");
    for part in ["explore", "plan", "list_files"] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    assert!(!ended.stderr.contains('\u{1b}'), "no colour where there is no terminal: {ended:?}");
    let quiet = Deputy::new().file("a.txt", "").scripted(&two_subagents(), &["--quiet", "go"]).exits(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn json_is_one_object_with_the_sum_over_the_tree() {
    let object = Deputy::new()
        .file("a.txt", "")
        .scripted(&two_subagents(), &["--output", "json", "go"])
        .exits(0)
        .json();
    assert_eq!(object["answer"], "both ways");
    assert_eq!((object["status"].as_str(), object["turns"].as_u64()), (Some("answered"), Some(2)));
    assert_eq!(
        (object["usage"]["input_tokens"].as_u64(), object["usage"]["output_tokens"].as_u64()),
        (Some(260), Some(26))
    );
    let mut handoffs: Vec<(String, u64)> = object["handoffs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["subagent"].as_str().unwrap().to_owned(), one["usage"]["input_tokens"].as_u64().unwrap())
        })
        .collect();
    handoffs.sort();
    assert_eq!(handoffs, [("explore".to_owned(), 40), ("plan".to_owned(), 20)]);
    assert_eq!(object["error"], Value::Null);
}

#[test]
fn jsonl_is_one_event_a_line_and_ends_with_the_result() {
    let ended =
        Deputy::new().file("a.txt", "").scripted(&two_subagents(), &["--output", "jsonl", "go"]).exits(0);
    let events: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(
        (count("run_start"), count("run_end"), count("handoff_start"), count("handoff_end")),
        (3, 3, 2, 2)
    );
    let end = events.iter().find(|event| event["event"] == "handoff_end").unwrap();
    for field in [
        "handoff_id",
        "call_id",
        "tool",
        "subagent",
        "status",
        "depth",
        "attempts",
        "duration_ms",
        "output",
        "turns",
        "usage",
        "fuel",
        "peak_memory",
        "tool_calls",
        "denials",
    ] {
        assert!(end.get(field).is_some(), "{field}: {end}");
    }
    let last = events.last().unwrap();
    assert_eq!((last["event"].as_str(), last["answer"].as_str()), (Some("result"), Some("both ways")));
}

#[test]
fn a_turn_limit_prints_what_there_is_and_says_which_limit() {
    let steps = json!([{"said": "", "answer": "so far: two of five", "calls": [{"tool": "list_files", "arguments": {}}], "repeat": true}]);
    let deputy = Deputy::new().file("a.txt", "");
    let ended =
        deputy.scripted(&steps, &["--max-turns", "3", "count"]).exits(4).says(&["3 model turns", "max"]);
    assert!(ended.stdout.contains("so far: two of five"), "{ended:?}");
    let object = deputy.scripted(&steps, &["--max-turns", "3", "--output", "json", "count"]).exits(4).json();
    assert_eq!((object["status"].as_str(), object["turns"].as_u64()), (Some("partial"), Some(3)));
}

#[test]
fn the_task_can_come_from_standard_input() {
    let deputy = Deputy::new()
        .file("script.json", json!({"steps": [{"said": "from a pipe", "answer": "read"}]}).to_string());
    let mut child = deputy
        .command(&["run", "--model", "scripted:script.json", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"from a pipe\n").unwrap();
    let ended = crate::deputy::ended(&child.wait_with_output().unwrap()).exits(0);
    assert_eq!(ended.stdout, "read\n");
}

#[test]
fn text_from_outside_cannot_steer_the_terminal() {
    let steps = json!([
        {"said": "go", "calls": [{"tool": "list_\u{1b}[2Jfiles", "arguments": {"path": "\u{1b}]0;owned\u{7}\u{202e}"}}]},
        {"said": "", "answer": "a\u{1b}[31mred\u{1b}[0m\u{202e}b\rover"}
    ]);
    let ended = Deputy::new().scripted(&steps, &["go"]).exits(0);
    for text in [&ended.stdout, &ended.stderr] {
        assert!(
            !text.contains('\u{1b}')
                && !text.contains('\u{202e}')
                && !text.contains('\u{7}')
                && !text.contains('\r'),
            "{ended:?}"
        );
    }
    assert!(ended.stdout.contains("red"), "{ended:?}");
}

#[test]
fn help_names_exit_codes_and_examples() {
    let deputy = Deputy::new();
    let help = deputy.run(&["run", "--help"]).exits(0).stdout;
    for part in ["--workspace", "--allow", "--output", "130", "deputy run"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    for command in ["agents", "inspect", "check", "new", "completions"] {
        assert!(deputy.run(&[command, "--help"]).exits(0).stdout.len() > 100, "{command}");
    }
    assert!(deputy.run(&["--version"]).exits(0).stdout.contains("0.1.0"));
}

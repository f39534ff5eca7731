//! Commands in the background through the real loop: a model starts one, looks after it, and the run's end is its end.

use serde_json::{Value, json};

use crate::deputy::{Deputy, Ended};
use crate::tools::shell;

fn run(deputy: &Deputy, steps: Value) -> Ended {
    deputy.scripted(&steps, &["--allow", "run_command", "--shell", shell(), "go"])
}

fn start(command: &str) -> Value {
    json!({"tool": "run_command", "arguments": {"command": command, "background": true}})
}

fn check(arguments: Value) -> Value {
    json!({"tool": "check_command", "arguments": arguments})
}

#[test]
fn a_command_in_the_background_is_started_looked_at_and_stopped() {
    let deputy = Deputy::new();
    let steps = json!([
        {"speaker": "parent", "calls": [start("echo up; echo up > up; sleep 300")]},
        {"speaker": "parent", "calls": [start("while [ ! -s up ]; do sleep 0.01; done; exit 7")]},
        {"speaker": "parent", "calls": [check(json!({"command_id": "command_2", "wait_seconds": 30}))]},
        {"speaker": "parent", "said": ["`command_2` ended", "exit code: 7"],
            "calls": [check(json!({"command_id": "command_1", "wait_seconds": 1}))]},
        {"speaker": "parent", "said": ["`command_1` has been running", "\nup\n"],
            "calls": [check(json!({"command_id": "command_1", "stop": true}))]},
        {"speaker": "parent", "take": {"stopped": "(?s).*"}, "answer": "{{stopped}}"},
    ]);
    let flags = ["--allow", "run_command,write_file", "--shell", shell(), "go"];
    let answer = deputy.scripted(&steps, &flags).exits(0).stdout;
    assert!(answer.contains("`command_1` ended") && answer.contains("it was stopped"), "{answer}");
    assert_eq!(deputy.left_over(), 0);
}

#[test]
fn the_end_of_a_run_leaves_nothing_of_its_background_commands() {
    let deputy = Deputy::new();
    let steps = json!([
        {"speaker": "parent", "calls": [start("(setsid sleep 300 &); sleep 300"), start("trap '' TERM; sleep 300")]},
        {"speaker": "parent", "answer": "done"},
    ]);
    assert_eq!(run(&deputy, steps).exits(0).stdout, "done\n");
    assert_eq!(deputy.left_over(), 0);
}

#[test]
fn a_subagent_has_the_background_only_with_what_looks_after_it() {
    let deputy = Deputy::new().file(
        "mine.toml",
        "[subagents.runner]\nprompt = \"You run.\"\ndescription = \"Runs.\"\ntools = [\"run_command\"]\n",
    );
    let steps = json!([
        {"speaker": "parent", "calls": [{"tool": "subagent_runner", "arguments": {"task": "go"}}]},
        {"speaker": "runner", "calls": [start("sleep 300")]},
        {"speaker": "runner", "take": {"told": "(?s).*"}, "answer": "{{told}}"},
        {"speaker": "parent", "take": {"told": "(?s).*"}, "answer": "{{told}}"},
    ]);
    let flags = ["--config", "mine.toml", "--allow", "run_command", "--shell", shell(), "go"];
    let plain = deputy.scripted(&steps, &flags).exits(0).stdout;
    assert!(plain.contains("unknown field `background`"), "{plain}");
    let both = "subagents.runner.tools=[\"run_command\",\"check_command\"]";
    let whole = deputy.scripted(&steps, &[&["--set", both], &flags[..]].concat()).exits(0).stdout;
    assert!(whole.contains("started in the background"), "{whole}");
    assert_eq!(deputy.left_over(), 0);
}

#[test]
fn rules_on_what_looks_after_commands_are_known_and_explained() {
    let deputy = Deputy::new();
    deputy.run(&["explain", "check_command", "--shell", shell()]).exits(0);
    deputy
        .run(&["explain", "check_command", "--shell", "off"])
        .exits(3)
        .says(&["does not offer it", "--shell"]);
    let denied = ["--deny", "check_command", "--shell", shell()];
    deputy.run(&[&["explain", "check_command"], &denied[..]].concat()).exits(3);
    // Without it there is no background either.
    let steps = json!([
        {"speaker": "parent", "calls": [start("sleep 300")]},
        {"speaker": "parent", "take": {"told": "(?s).*"}, "answer": "{{told}}"},
    ]);
    let flags = [&["--allow", "run_command"], &denied[..], &["go"]].concat();
    let told = deputy.scripted(&steps, &flags).exits(0).stdout;
    assert!(told.contains("unknown field `background`"), "{told}");
}

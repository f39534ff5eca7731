//! Bad input gets an error that names the thing, says what was expected, and loses nothing.

use serde_json::json;

use crate::deputy::Deputy;
use crate::server::{Answer, Server};

/// The stock component of a name, as bytes.
fn stock(name: &str) -> &'static [u8] {
    deputy_stock::STOCK.iter().find(|one| one.name == name).unwrap().wasm
}

#[test]
fn a_model_that_nobody_knows() {
    let deputy = Deputy::new();
    deputy.run(&["run", "--model", "opnai:gpt-4o", "hi"]).exits(2).says(&[
        "opnai",
        "openai:",
        "anthropic:",
        "scripted:",
    ]);
    deputy.run(&["run", "--model", "gpt-4o", "hi"]).exits(2).says(&["gpt-4o", "openai:"]);
    deputy.run(&["run", "hi"]).exits(2).says(&["--model", "DEPUTY_MODEL"]);
}

#[test]
fn a_missing_key() {
    let deputy = Deputy::new();
    deputy.run(&["run", "--model", "openai:gpt-4o", "hi"]).exits(2).says(&["OPENAI_API_KEY"]);
    deputy.run(&["run", "--model", "anthropic:claude", "hi"]).exits(2).says(&["ANTHROPIC_API_KEY"]);
}

#[test]
fn a_workspace_that_is_not_there() {
    let deputy = Deputy::new().file("a-file", "");
    for (path, output) in [("nowhere", "text"), ("a-file", "text"), ("nowhere", "json")] {
        let ended = deputy.run(&[
            "run",
            "--model",
            "openai:m",
            "--base-url",
            "http://127.0.0.1:9",
            "--workspace",
            path,
            "--output",
            output,
            "hi",
        ]);
        let ended = ended.exits(2);
        match output {
            "json" => assert!(ended.json()["error"].as_str().unwrap().contains("nowhere")),
            _ => assert!(
                ended.stderr.contains(path) && ended.stderr.contains("existing directory"),
                "{ended:?}"
            ),
        }
    }
}

#[test]
fn a_task_from_nowhere_or_from_two_places() {
    let deputy = Deputy::new().file("task.txt", "hi");
    deputy.run(&["run", "--model", "openai:m"]).exits(2).says(&["task"]);
    deputy.run(&["run", "--model", "openai:m", "--file", "task.txt", "hi"]).exits(2);
    deputy.run(&["run", "--model", "openai:m", "--file", "missing.txt"]).exits(2).says(&["missing.txt"]);
    let steps = json!([{"said": "hi", "answer": "from the file"}]);
    assert_eq!(deputy.scripted(&steps, &["--file", "task.txt"]).exits(0).stdout, "from the file\n");
}

#[test]
fn a_script_whose_steps_do_not_fit() {
    let deputy = Deputy::new();
    let steps = json!([{"said": "good morning", "answer": "hello"}]);
    deputy.scripted(&steps, &["good evening"]).exits(1).says(&[
        "step 1",
        "parent",
        "good morning",
        "good evening",
    ]);
    let ended = deputy.scripted(&json!([{"said": "x", "anser": "hello"}]), &["x"]);
    ended.exits(2).says(&["step 1", "anser", "answer"]);
    let ended = deputy.scripted(&json!([{"said": "a", "calls": [{"tool": "list_files"}]}]), &["a"]);
    ended.exits(1).says(&["no more steps", "parent"]);
    deputy.run(&["run", "--model", "scripted:nowhere.json", "hi"]).exits(2).says(&["nowhere.json"]);
    let deputy = deputy.file("broken.json", "{\"steps\": [");
    deputy.run(&["run", "--model", "scripted:broken.json", "hi"]).exits(2).says(&["broken.json", "line 1"]);
}

#[test]
fn a_server_that_is_not_there_or_half_dead() {
    let deputy = Deputy::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    deputy
        .run(&["run", "--model", "openai:m", "--base-url", &format!("http://{free}/v1"), "hi"])
        .exits(1)
        .says(&["could not reach the model server", &free.to_string()]);
    let silent = Server::start(|_, _| Answer::Silence);
    deputy
        .run(&["run", "--model", "openai:m", "--base-url", &silent.url, "--model-timeout", "1", "hi"])
        .exits(1)
        .says(&["did not answer in time"]);
    deputy
        .run(&["run", "--model", "openai:m", "--base-url", "ftp://x", "hi"])
        .exits(2)
        .says(&["ftp://x", "http"]);
}

#[test]
fn files_that_are_no_component() {
    let whole = stock("explore");
    let deputy = Deputy::new()
        .file("module.wasm", wat::parse_str("(module (func (export \"run\")))").unwrap())
        .file("cut.wasm", &whole[..whole.len() / 2])
        .file("text.wasm", "#!/bin/sh\n")
        .file("empty.wasm", "");
    for (file, says) in [
        ("module.wasm", "core WebAssembly module"),
        ("cut.wasm", "truncated or damaged"),
        ("text.wasm", "not WebAssembly"),
        ("empty.wasm", "an empty file"),
        ("missing.wasm", "missing.wasm"),
    ] {
        for command in [&["inspect", file][..], &["check", file], &["agents", "--subagent", file]] {
            let ended = deputy.run(command);
            assert!(ended.code != 0 && ended.code != 101, "{command:?}: {ended:?}");
            let told = format!("{}{}", ended.stderr, ended.stdout);
            assert!(told.contains(says) && told.contains(file), "{command:?}: {ended:?}");
        }
        deputy
            .run(&[
                "run",
                "--model",
                "openai:m",
                "--base-url",
                "http://127.0.0.1:9",
                "--subagent",
                file,
                "hi",
            ])
            .exits(2)
            .says(&[says]);
    }
}

#[test]
fn a_component_for_another_version_of_the_contract() {
    let text = "(component (component $c) (instance $i (instantiate $c)) (export \"deputy:agent/handler@0.7.0\" (instance $i)))";
    let deputy = Deputy::new().file("later.wasm", wat::parse_str(text).unwrap());
    deputy.run(&["check", "later.wasm"]).exits(1).says(&[
        "deputy:agent@0.7.0",
        "deputy:agent@0.1.0",
        "rebuild",
    ]);
    // What it is can still be read.
    assert_eq!(deputy.run(&["inspect", "later.wasm", "--json"]).exits(0).json()["wit"], "deputy:agent@0.7.0");
}

#[test]
fn a_rule_for_a_tool_that_there_is_not() {
    let deputy = Deputy::new();
    let run =
        ["run", "--model", "openai:m", "--base-url", "http://127.0.0.1:9", "--allow", "raed_file", "hi"];
    deputy.run(&run).exits(2).says(&["raed_file", "read_file"]);
    deputy.run(&["check", "explore", "--grant", "raed_file"]).exits(2).says(&["raed_file", "read_file"]);
}

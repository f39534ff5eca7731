//! `inspect`, `check` and `agents`: what a component can do, read before anything runs.

use serde_json::{Value, json};

use crate::deputy::Deputy;

const READ: [&str; 4] = ["find_files", "grep_files", "list_files", "read_file"];

#[test]
fn inspect_lists_exactly_what_each_stock_component_imports() {
    let deputy = Deputy::new();
    let tools = |name: &str| -> Vec<String> {
        let object = deputy.run(&["inspect", name, "--json"]).exits(0).json();
        assert_eq!(object["wit"], "deputy:agent@0.1.0", "{name}");
        assert_eq!(object["other"], json!([]), "{name}");
        assert_eq!(object["model"], true, "{name}");
        assert_eq!(object["sha256"].as_str().unwrap().len(), 64);
        assert!(object["bytes"].as_u64().unwrap() > 1000);
        let wasi: Vec<&str> =
            object["wasi"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(!wasi.iter().any(|name| name.contains("sockets") || name.contains("http")), "{wasi:?}");
        assert!(object["exports"].to_string().contains("deputy:agent/handler@0.1.0"));
        object["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tools("explore"), READ);
    assert_eq!(tools("plan"), READ);
    assert_eq!(tools("verify"), [&READ[..], &["run_program"]].concat());
    assert_eq!(
        tools("general"),
        [
            "edit_file",
            "fetch_url",
            "find_files",
            "grep_files",
            "list_files",
            "read_file",
            "run_command",
            "run_program",
            "write_file"
        ]
    );
    assert_eq!(tools("react"), Vec::<String>::new());
}

#[test]
fn inspect_says_in_words_what_a_component_cannot_do() {
    let ended = Deputy::new().run(&["inspect", "explore"]).exits(0);
    let cannot = ended.stdout.split("\n  cannot").nth(1).unwrap_or_else(|| panic!("{ended:?}"));
    for tool in ["write_file", "run_command", "fetch_url"] {
        assert!(cannot.contains(tool), "{tool}: {ended:?}");
    }
}

#[test]
fn inspect_reads_a_file_and_names_what_nobody_knows() {
    let text = r#"(component (import "lighthouse:keeper/lamp@1.0.0" (instance (export "light" (func)))))"#;
    let deputy = Deputy::new().file("lamp.wasm", wat::parse_str(text).unwrap());
    let object = deputy.run(&["inspect", "lamp.wasm", "--json"]).exits(0).json();
    assert_eq!(object["other"], json!(["lighthouse:keeper/lamp@1.0.0"]));
    assert_eq!((object["wit"].clone(), object["model"].clone()), (Value::Null, json!(false)));
}

#[test]
fn check_names_each_missing_import_with_its_tool_and_what_would_grant_it() {
    let deputy = Deputy::new();
    let ended = deputy.run(&["check", "verify", "--grant", "read_file,list_files,find_files"]).exits(3);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    for part in ["deputy:agent/grep-files", "`grep_files`", "deputy:agent/run-program", "`run_program`"] {
        assert!(told.contains(part), "{part}: {ended:?}");
    }
    assert!(!told.contains("deputy:agent/read-file`"), "what is granted is not listed: {ended:?}");
    deputy.run(&["check", "explore"]).exits(0);
    deputy.run(&["check", "explore", "--deny", "grep_files"]).exits(3);
}

#[test]
fn removing_any_one_tool_from_a_grant_refuses_the_component_and_names_just_that_tool() {
    let deputy = Deputy::new();
    for stock in deputy_stock::STOCK.iter().filter(|stock| stock.name != "react") {
        for missing in stock.tools {
            let grant: Vec<&str> = stock.tools.iter().copied().filter(|tool| tool != missing).collect();
            let ended = deputy.run(&["check", stock.name, "--grant", &grant.join(","), "--json"]).exits(3);
            let told = format!("{}{}", ended.stdout, ended.stderr);
            assert!(
                told.contains(&format!("deputy:agent/{}", missing.replace('_', "-"))),
                "{}: {ended:?}",
                stock.name
            );
        }
    }
}

#[test]
fn agents_lists_the_stock_and_plugins() {
    let deputy = Deputy::new().file("scout.wasm", deputy_stock::STOCK[0].wasm);
    let list = deputy.run(&["agents", "--json", "--subagent", "scout.wasm"]).exits(0).json();
    let ids: Vec<&str> = list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    for id in ["explore", "plan", "verify", "general", "scout"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    let one = deputy.run(&["agents", "show", "explore", "--json"]).exits(0).json();
    assert_eq!(one["tool_name"], "subagent_explore");
    assert_eq!(one["tools"], json!(READ));
    deputy.run(&["agents", "show", "explorer"]).exits(2).says(&["explorer", "explore"]);
}

#[test]
fn a_plugin_runs_beside_the_stock() {
    let deputy = Deputy::new().file("scout.wasm", deputy_stock::STOCK[0].wasm).file("a.txt", "needle\n");
    let steps = json!([
        {"said": "find it", "calls": [{"tool": "subagent_scout", "arguments": {"task": "look"}}]},
        {"speaker": "scout", "said": "look", "calls": [{"tool": "grep_files", "arguments": {"pattern": "needle"}}]},
        {"speaker": "scout", "said": "a.txt:1:needle", "answer": "in a.txt"},
        {"said": "in a.txt", "answer": "it is in a.txt"}
    ]);
    assert_eq!(
        deputy.scripted(&steps, &["--subagent", "scout.wasm", "find it"]).exits(0).stdout,
        "it is in a.txt\n"
    );
}

#[test]
fn new_makes_a_crate_that_says_how_to_go_on_and_overwrites_nothing() {
    let deputy = Deputy::new();
    let ended = deputy.run(&["new", "tide-reader"]).exits(0);
    assert!(format!("{}{}", ended.stdout, ended.stderr).contains("wasm32-wasip2"), "{ended:?}");
    let source = std::fs::read_to_string(deputy.path("tide-reader/src/lib.rs")).unwrap();
    assert!(source.contains("deputy_guest::export!") && !source.contains("{{"), "{source}");
    std::fs::write(deputy.path("tide-reader/src/lib.rs"), "mine").unwrap();
    deputy.run(&["new", "tide-reader"]).exits(2).says(&["tide-reader"]);
    assert_eq!(std::fs::read_to_string(deputy.path("tide-reader/src/lib.rs")).unwrap(), "mine");
    deputy.run(&["new", "Tide Reader"]).exits(2);
}

#[test]
fn completions_are_made_for_a_shell() {
    assert!(Deputy::new().run(&["completions", "bash"]).exits(0).stdout.contains("deputy"));
}

//! The configuration and what governs delegations, through the binary: files, trust, one key at a time, explanations,
//! kept conversations.

use serde_json::{Value, json};

use crate::deputy::Deputy;

/// A parent that delegates to a subagent and then says what came back; the subagent says `done`.
fn delegates(tool: &str, speaker: &str) -> Value {
    json!([
        {"speaker": "parent", "calls": [{"tool": tool, "arguments": {"task": "go"}}]},
        {"speaker": speaker, "answer": "done", "repeat": true},
        {"speaker": "parent", "take": {"last": "(?s).*"}, "answer": "{{last}}"},
    ])
}

/// The result that the parent read.
fn read_by_the_parent(json: &Value) -> String {
    json["answer"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_built_in_configuration_tells_the_model_and_a_key_set_to_fail_ends_the_run_with_the_code_of_a_denial() {
    let deputy = Deputy::new();
    let steps = delegates("subagent_explore", "explore");
    let zero = ["--set", "handoff.max_depth=0", "--output", "json", "go"];
    let told = deputy.scripted(&steps, &zero).exits(0).json();
    assert!(read_by_the_parent(&told).contains("handoff depth 1 exceeds `handoff.max_depth` 0"), "{told}");
    assert_eq!(told["handoffs"][0]["status"], "denied");
    let fails = [&["--set", "handoff.on_denied=fail"][..], &zero[..]].concat();
    let ended = deputy.scripted(&steps, &fails).exits(3).json();
    assert_eq!((&ended["status"], &ended["answer"]), (&json!("denied"), &Value::Null));
    assert!(ended["error"].as_str().unwrap().contains("handoff.on_denied"));
}

#[test]
fn the_line_that_a_refusal_names_makes_the_call_succeed() {
    let deputy = Deputy::new();
    let steps = delegates("subagent_explore", "explore");
    for refusing in [
        "handoff.max_depth=0",
        "handoff.allowed_tools=[\"subagent_plan\"]",
        "handoff.denied_tools=[\"subagent_explore\"]",
        "handoff.denied_tools=[\"*\"]",
    ] {
        let told = deputy.scripted(&steps, &["--set", refusing, "--output", "json", "go"]).exits(0).json();
        let text = read_by_the_parent(&told);
        let line = text
            .split("set `")
            .nth(1)
            .and_then(|rest| rest.split('`').next())
            .unwrap_or_else(|| panic!("{text}"));
        // As it stands, on the command line and in a file.
        let mended = deputy
            .scripted(&steps, &["--set", refusing, "--set", line, "--output", "json", "go"])
            .exits(0)
            .json();
        assert_eq!(mended["handoffs"][0]["status"], "completed", "{refusing}, {line}: {mended}");
        let file = Deputy::new().file("mine.toml", format!("{line}\n"));
        let mended =
            file.scripted(&steps, &["--config", "mine.toml", "--output", "json", "go"]).exits(0).json();
        assert_eq!(mended["handoffs"][0]["status"], "completed", "{line}");
    }
}

#[test]
fn every_table_counts_from_a_file_that_the_operator_names() {
    let deputy = Deputy::new().file(
        "mine.toml",
        "[purse]\ndescendants = 1\n[limits]\nmax_turns = 3\n[handoff]\nmax_depth = 2\n[subagents.poet]\nprompt = \"You write verse.\"\ndescription = \"writes verse\"\n",
    );
    let steps = json!([
        {"speaker": "parent", "calls": [{"tool": "subagent_poet", "arguments": {"task": "a"}}]},
        {"speaker": "poet", "answer": "a verse", "repeat": true},
        {"speaker": "parent", "calls": [{"tool": "subagent_poet", "arguments": {"task": "b"}}]},
        {"speaker": "parent", "take": {"last": "(?s).*"}, "answer": "{{last}}"},
    ]);
    let ended = deputy.scripted(&steps, &["--config", "mine.toml", "--output", "json", "go"]).exits(0).json();
    assert_eq!(ended["handoffs"][0]["output"], "a verse");
    assert!(
        read_by_the_parent(&ended).contains("1 of 1 descendant runs; the setting is `purse.descendants`"),
        "{ended}"
    );
    assert_eq!((&ended["purse"]["descendants"], &ended["purse"]["turns"]), (&json!(1), &json!(4)));
    let listed = deputy.run(&["agents", "--config", "mine.toml", "--json"]).exits(0).json();
    let poet = listed.as_array().unwrap().iter().find(|one| one["id"] == "poet").unwrap();
    assert_eq!((&poet["source"], &poet["tool_name"]), (&json!("mine.toml"), &json!("subagent_poet")));
}

#[test]
fn a_workspaces_own_file_only_narrows_until_it_is_trusted_and_again_once_it_changes() {
    let text =
        "[handoff]\nmax_depth = 0\n[model]\nspec = \"openai:stolen\"\n[tools]\nallow = [\"write_file\"]\n";
    let deputy = Deputy::new().file("deputy.toml", text);
    let steps = delegates("subagent_explore", "explore");
    let ended = deputy
        .scripted(&steps, &["--output", "json", "go"])
        .exits(0)
        .says(&["sets `model.spec`, which counts only after `deputy trust", "sets `tools.allow`"]);
    assert!(read_by_the_parent(&ended.json()).contains("`handoff.max_depth` 0"), "what narrows counts");
    let allowed = |code| deputy.run(&["explain", "write_file"]).exits(code);
    allowed(0); // Asks: a person could say yes.
    assert_eq!(deputy.run(&["explain", "write_file", "--json"]).json()["verdict"], "asks");
    deputy.run(&["trust", "."]).exits(0);
    assert_eq!(deputy.run(&["explain", "write_file", "--json"]).json()["verdict"], "allowed");
    assert!(
        deputy
            .run(&["trust", "--list"])
            .exits(0)
            .stdout
            .contains(&deputy.path("").canonicalize().unwrap().display().to_string())
    );
    let deputy = deputy.file("deputy.toml", format!("{text}# changed\n"));
    assert_eq!(deputy.run(&["explain", "write_file", "--json"]).json()["verdict"], "asks");
    deputy.run(&["trust", "."]).exits(0);
    deputy.run(&["trust", "--revoke", "."]).exits(0);
    assert_eq!(deputy.run(&["explain", "write_file", "--json"]).json()["verdict"], "asks");
    Deputy::new().run(&["trust", "."]).exits(2).says(&["nothing to trust"]);
}

#[test]
fn a_key_that_there_is_not_is_refused_with_what_was_perhaps_meant() {
    for (text, says) in [
        (
            "[handoff]\nmax_dept = 1\n",
            &["mine.toml:2", "`handoff.max_dept`", "did you mean `handoff.max_depth`?"][..],
        ),
        ("[hand_off]\n", &["`hand_off`", "`handoff`"]),
        ("[handoff]\nmax_depth = \"deep\"\n", &["mine.toml:2", "`handoff.max_depth`", "expected"]),
        ("[handoff]\ntimeout = 30\n", &["`handoff.timeout`"]),
        ("[subagents.poet]\ndescription = \"x\"\n", &["subagents.poet", "prompt"]),
    ] {
        let deputy = Deputy::new().file("mine.toml", text);
        deputy.run(&["run", "--model", "scripted:none", "--config", "mine.toml", "t"]).exits(2).says(says);
    }
    Deputy::new()
        .run(&["agents", "--set", "purse.token=1"])
        .exits(2)
        .says(&["--set purse.token=1", "did you mean `purse.tokens`?"]);
}

#[test]
fn explain_says_before_a_run_what_a_refusal_would_say_in_it() {
    let deputy = Deputy::new();
    let explained =
        |arguments: &[&str], code: i32| deputy.run(&[&["explain"], arguments].concat()).exits(code);
    assert!(explained(&["read_file"], 0).stdout.contains("without a question"));
    assert!(explained(&["write_file"], 0).stdout.contains("`--allow write_file`"));
    explained(&["write_file", "--deny", "write_file"], 3)
        .says(&["the policy denies it", "--allow write_file"]);
    let line = r#"set `subagents.explore.tools = ["#;
    let refused = explained(&["write_file", "--agent", "explore"], 3).says(&["does not ask for it", line]);
    let line = refused.stderr.split("set `").nth(1).unwrap().split('`').next().unwrap();
    explained(&["write_file", "--agent", "explore", "--set", line], 0);
    explained(&["run_command", "--shell", "off"], 3).says(&["--shell confined"]);
    explained(&["subagent_plan", "--set", "handoff.max_depth=0"], 3).says(&["set `handoff.max_depth = 1`"]);
    explained(&["raed_file"], 2).says(&["did you mean `read_file`?"]);
    explained(&["read_file", "--agent", "explorer"], 2).says(&["did you mean `explore`?"]);
}

#[test]
fn a_check_says_what_would_be_cut() {
    let deputy = Deputy::new();
    let deny = [
        "check",
        "explore",
        "--grant",
        "read_file,list_files,find_files,grep_files,write_file",
        "--deny",
        "write_file",
    ];
    let checked = deputy.run(&deny).exits(0);
    assert!(
        checked.stdout.contains("cut") && checked.stdout.contains("`write_file` is denied to `explore`"),
        "{checked:?}"
    );
}

#[test]
fn a_subagent_that_is_switched_off_is_not_there() {
    let deputy = Deputy::new().file("deputy.toml", "[subagents.plan]\nenabled = false\n");
    let listed = deputy.run(&["agents", "--json"]).exits(0).json();
    assert!(listed.as_array().unwrap().iter().all(|one| one["id"] != "plan"));
    let ended = deputy
        .scripted(
            &json!([
                {"speaker": "parent", "calls": [{"tool": "subagent_plan", "arguments": {"task": "x"}}]},
                {"speaker": "parent", "take": {"last": "(?s).*"}, "answer": "{{last}}"},
            ]),
            &["--output", "json", "go"],
        )
        .exits(0)
        .json();
    let told = read_by_the_parent(&ended);
    assert!(told.contains("no tool `subagent_plan`") && told.contains("subagent_explore"), "{told}");
    assert_eq!(ended["handoffs"], json!([]));
}

#[test]
fn conversations_are_kept_outside_the_workspace_gone_on_with_and_forgotten() {
    let steps = json!([{"answer": "noted", "repeat": true}]);
    let nowhere = Deputy::new().env("XDG_STATE_HOME", "/proc/nowhere");
    nowhere.scripted(&steps, &["one"]).exits(0).says(&["conversations are not kept"]);
    let deputy = Deputy::new();
    let first = deputy.scripted(&steps, &["--output", "json", "one"]).exits(0).json();
    let went_on = deputy.scripted(&steps, &["--continue", "--output", "json", "two"]).exits(0).json();
    assert_eq!(went_on["session_id"], first["session_id"]);
    let listed = deputy.run(&["sessions", "--json"]).exits(0).json();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["messages"], &listed[0]["agent"]),
        (&first["session_id"], &json!(4), &json!("parent"))
    );
    deputy.scripted(&steps, &["--no-store", "three"]).exits(0);
    assert_eq!(deputy.run(&["sessions", "--json"]).json().as_array().unwrap().len(), 1);
    let id = first["session_id"].as_str().unwrap();
    assert!(deputy.run(&["sessions"]).exits(0).stdout.contains(id));
    deputy.run(&["sessions", "forget", id]).exits(0);
    deputy.run(&["sessions", "forget", id]).exits(1).says(&["no conversation"]);
    deputy.scripted(&steps, &["--continue", "four"]).exits(1).says(&["no conversation to go on with"]);
    deputy.scripted(&steps, &["--session", "made-up", "four"]).exits(1).says(&["no conversation made-up"]);
    // Nothing of it lies in the workspace.
    assert_eq!(std::fs::read_dir(deputy.workspace.path()).unwrap().count(), 0);
}

#[test]
fn of_very_many_conversations_the_oldest_are_forgotten() {
    let deputy = Deputy::new();
    let steps = json!([{"answer": "noted", "repeat": true}]);
    let first = deputy.scripted(&steps, &["--output", "json", "one"]).exits(0).json();
    // Copies of it under other ids, as many runs would leave them.
    let folder = std::fs::read_dir(deputy.state.path().join("deputy/sessions"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let id = first["session_id"].as_str().unwrap();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    for number in 0..200 {
        let other = format!("0{number:03}{}", &id[4..]);
        let copy: Value = serde_json::from_str(&text.replace(id, &other)).unwrap();
        let name = name_of(copy["tool"].as_str().unwrap(), copy["user"].as_str().unwrap());
        let path = folder.join(name);
        std::fs::write(&path, copy.to_string()).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    let last = deputy.scripted(&steps, &["--output", "json", "two"]).exits(0).json();
    let listed = deputy.run(&["sessions", "--json"]).exits(0).json();
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 100);
    assert!(ids.contains(&last["session_id"].as_str().unwrap()), "the newest stays");
}

/// The name of the file that a conversation is kept in.
fn name_of(tool: &str, user: &str) -> String {
    let mut bytes = Vec::new();
    for text in [tool, user] {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    format!("{}.json", deputy::sandbox::sha256(&bytes))
}

#[test]
fn handoff_events_come_as_lines_of_json_with_all_their_fields() {
    let ended = Deputy::new()
        .scripted(&delegates("subagent_explore", "explore"), &["--output", "jsonl", "go"])
        .exits(0);
    let lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| lines.iter().find(|line| line["event"] == name).unwrap_or_else(|| panic!("{name}"));
    for field in ["handoff_id", "call_id", "tool", "subagent", "depth", "session_mode"] {
        assert!(!of("handoff_start")[field].is_null(), "{field}");
        assert_eq!(of("handoff_start")[field], of("handoff_end")[field], "{field}");
    }
    for field in [
        "status",
        "attempts",
        "duration_ms",
        "output",
        "turns",
        "usage",
        "fuel",
        "peak_memory",
        "tool_calls",
        "denials",
        "session_id",
    ] {
        assert!(!of("handoff_end")[field].is_null(), "{field}");
    }
    assert!(of("handoff_end").as_object().unwrap().contains_key("error"));
}

//! Agent files through the binary: which are found and which of a name counts, what they come to, where they work, and
//! what of them counts only with trust.

use serde_json::{Value, json};

use crate::deputy::{Deputy, Ended};

const WASM: &[u8] = deputy_stock::STOCK[0].wasm;

fn file(keys: &str, text: &str) -> String {
    format!("---\ndescription: Watches birds\n{keys}\n---\n{text}\n")
}

fn named(name: &str, keys: &str) -> String {
    file(&format!("name: {name}\n{keys}"), "Count them.")
}

fn listed(deputy: &Deputy, arguments: &[&str]) -> Vec<Value> {
    let ended = deputy.run(&[&["agents", "--json"], arguments].concat()).exits(0);
    ended.json().as_array().unwrap().clone()
}

fn one(deputy: &Deputy, id: &str, arguments: &[&str]) -> Value {
    let all = listed(deputy, arguments);
    all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{id}: {all:#?}")).clone()
}

/// The parent hands `go` to the tool; the subagent says what it was told last, or takes `calls` first.
fn delegates(deputy: &Deputy, tool: &str, speaker: &str, calls: &Value, arguments: &[&str]) -> Ended {
    let mut steps =
        vec![json!({"speaker": "parent", "calls": [{"tool": tool, "arguments": {"task": "go"}}]})];
    if calls.is_array() {
        steps.push(json!({"speaker": speaker, "calls": calls}));
    }
    steps.push(json!({"speaker": speaker, "take": {"last": "(?s).*"}, "answer": "done: {{last}}"}));
    steps.push(json!({"speaker": "parent", "take": {"last": "(?s).*"}, "answer": "{{last}}"}));
    deputy.scripted(&Value::Array(steps), &[arguments, &["--output", "json", "go"]].concat())
}

fn text(value: &Value) -> String {
    value.to_string()
}

#[test]
fn a_directory_that_is_named_is_listed_file_by_file_and_nothing_else() {
    let deputy = Deputy::new()
        .file("a/heron.md", named("heron", "tools: Read, Grep\nmodel: sonnet\nmaxTurns: 7"))
        .file("a/owl.md", named("owl-4.8", "isolation: worktree\nsession: reuse"))
        .file("a/README.md", "# Birds\n")
        .file("a/raed.md", named("raed", "tools: Raed, Grpe"))
        .file("subagents/jay.md", file("", "x"));
    let all = listed(&deputy, &["--agents", "a"]);
    let ids: Vec<(&str, &str)> =
        all.iter().map(|one| (one["id"].as_str().unwrap(), one["status"].as_str().unwrap())).collect();
    let wanted = [("heron", "loaded"), ("owl-4.8", "loaded"), ("README", "refused"), ("raed", "refused")];
    assert_eq!(ids, wanted);
    let heron = &all[0];
    for (key, value) in [
        ("source", json!("a/heron.md")),
        ("description", json!("Watches birds")),
        ("tools", json!(["read_file", "grep_files"])),
        ("tools_raw", json!(["Read", "Grep"])),
        ("model", json!("sonnet")),
        ("max_turns", json!(7)),
        ("workspace", json!("shared")),
        ("session", json!("fresh")),
        ("tool_name", json!("subagent_heron")),
        ("error", Value::Null),
    ] {
        assert_eq!(heron[key], value, "{key}");
    }
    assert!(text(&heron["warnings"]).contains("runs with the parent's model"), "{heron}");
    let owl = &all[1];
    assert_eq!((&owl["tools"], &owl["tools_raw"]), (&json!(["inherit"]), &Value::Null));
    assert_eq!((&owl["workspace"], &owl["session"]), (&json!("worktree"), &json!("reuse")));
    assert_eq!((&owl["tool_name"], &owl["max_turns"]), (&json!("subagent_owl_4_8"), &json!(10)));
    let error = all[3]["error"].as_str().unwrap();
    assert!(error.contains("a/raed.md") && error.contains("Raed") && error.contains("Grpe"), "{error}");
    let keys = |one: &Value| one.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert!(all.iter().all(|one| keys(one) == keys(heron)), "the keys are the same for all");
    let words = deputy.run(&["agents", "--agents", "a"]).exits(0).stdout;
    assert!(words.contains("raed (a/raed.md): refused\n  a/raed.md:") && words.contains("Raed"), "{words}");
    deputy.run(&["agents", "--agents", "none"]).exits(2).says(&["none", "expected a directory"]);
}

#[test]
fn without_a_directory_all_are_listed_with_those_that_are_built_in() {
    let deputy = Deputy::new().file("subagents/heron.md", file("", "Count them."));
    let all = listed(&deputy, &[]);
    let ids: Vec<&str> = all.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["general-purpose", "explore", "plan", "verify", "general", "heron"]);
    assert_eq!(all[0]["tools"], json!(["inherit"]));
    let places: Vec<&str> = all.iter().map(|one| one["workspace"].as_str().unwrap()).collect();
    assert_eq!(places, ["shared", "shared", "shared", "shared", "worktree", "isolated"]);
    assert!(text(&all[5]["warnings"]).contains("there is nothing yet"), "an empty workspace is said");
    assert_eq!(all[5]["source"], "subagents/heron.md");
    let shown = deputy.run(&["agents", "show", "heron", "--json"]).exits(0).json();
    assert!(
        shown["prompt"].as_str().unwrap().starts_with("Count them.\n\nYou work in a directory of your own")
    );
    assert_eq!(shown["imports"]["toolbox"], true);
}

#[test]
fn of_a_name_that_is_given_twice_the_stronger_place_counts_and_a_note_names_both() {
    let deputy = Deputy::new();
    let config = tempfile::TempDir::new().unwrap();
    let deputy = deputy.env("XDG_CONFIG_HOME", config.path().to_str().unwrap());
    let user = config.path().join("deputy/subagents");
    std::fs::create_dir_all(&user).unwrap();
    for name in ["heron", "owl", "explore"] {
        std::fs::write(user.join(format!("{name}.md")), file("maxTurns: 3", "Of the user.")).unwrap();
    }
    let deputy = deputy
        .file("subagents/heron.md", file("maxTurns: 2", "Of the project."))
        .file("subagents/Owl.md", file("tools: '*'", "Refused."))
        .file("flag/any.md", named("heron", "maxTurns: 1"));
    let all = deputy.run(&["agents", "--json"]).exits(0).says(&["two agents are called `heron`"]);
    let all = all.json();
    let of = |id: &str| {
        let mut found = all.as_array().unwrap().iter().filter(|one| one["id"] == id);
        let first = found.next().unwrap().clone();
        assert!(found.next().is_none(), "{id}: {all}");
        first
    };
    assert_eq!(of("heron")["max_turns"], 2, "the project's stands before the user's");
    let note = text(&of("heron")["warnings"]);
    assert!(note.contains("subagents/heron.md counts") && note.contains("heron.md is left out"), "{note}");
    assert_eq!((&of("owl")["max_turns"], &of("Owl")["status"]), (&json!(3), &json!("refused")));
    assert!(text(&of("owl")["warnings"]).contains("since subagents/Owl.md was refused"));
    assert_eq!(of("explore")["max_turns"], 3, "the user's stands before the one that is built in");
    assert!(text(&of("explore")["warnings"]).contains("built in is left out"));
    assert_eq!(one(&deputy, "heron", &["--agents", "flag"])["max_turns"], 1);
    // Two directories that the operator named: in their order.
    let deputy =
        deputy.file("more/any.md", named("heron", "maxTurns: 9")).file("more/b.md", named("crane", ""));
    let both = listed(&deputy, &["--agents", "more", "--agents", "flag"]);
    assert_eq!(both.len(), 2);
    assert_eq!(both[0]["max_turns"], 9);
    assert!(text(&both[0]["warnings"]).contains("flag/any.md is left out"), "{both:?}");
}

#[test]
fn a_declared_agent_runs_its_text_with_the_tools_that_it_names_and_no_more() {
    let deputy = Deputy::new()
        .file("a.txt", "needle\n")
        .file("a/heron.md", named("heron", "tools: Read, Write\ndisallowedTools: Write"));
    let reads = json!([{"tool": "read_file", "arguments": {"path": "a.txt"}}]);
    let ended = delegates(&deputy, "subagent_heron", "heron", &reads, &["--agents", "a"]).exits(0).json();
    assert!(ended["handoffs"][0]["output"].as_str().unwrap().contains("needle"), "{ended}");
    let greps = json!([{"tool": "grep_files", "arguments": {"pattern": "needle"}}]);
    let ended = delegates(&deputy, "subagent_heron", "heron", &greps, &["--agents", "a"]).exits(0).json();
    let output = ended["handoffs"][0]["output"].as_str().unwrap();
    assert!(!output.contains("needle:") && output.contains("grep_files"), "{output}");
    deputy.run(&["explain", "read_file", "--agent", "heron", "--agents", "a"]).exits(0);
    deputy.run(&["explain", "grep_files", "--agent", "heron", "--agents", "a"]).exits(3);
    deputy
        .run(&["explain", "write_file", "--agent", "heron", "--agents", "a", "--allow", "write_file"])
        .exits(3);
    let checked = deputy.run(&["check", "heron", "--agents", "a", "--json"]).exits(0).json();
    assert_eq!((&checked["would_run"], &checked["granted"]), (&json!(true), &json!(["read_file"])));
    deputy.run(&["check", "hern", "--agents", "a"]).exits(2).says(&["did you mean `heron`?"]);
    let off =
        deputy.run(&["agents", "show", "heron", "--agents", "a", "--set", "subagents.heron.enabled=false"]);
    off.exits(1).says(&["subagents.heron.enabled"]);
}

#[test]
fn the_mirror_has_its_parents_tools_but_for_what_must_be_named() {
    let deputy = Deputy::new().file("a.txt", "needle\n");
    let explained = |tool: &str, code: i32| {
        let allow = ["--allow", "run_command,fetch_url,write_file", "--set", "handoff.max_depth=3"];
        deputy.run(&[&["explain", tool, "--agent", "general-purpose"][..], &allow].concat()).exits(code)
    };
    explained("write_file", 0);
    explained("grep_files", 0);
    for tool in ["run_command", "run_program", "fetch_url", "subagent_explore"] {
        explained(tool, 3);
    }
    let greps = json!([{"tool": "grep_files", "arguments": {"pattern": "needle"}}]);
    let ended =
        delegates(&deputy, "subagent_general_purpose", "general-purpose", &greps, &[]).exits(0).json();
    assert!(ended["handoffs"][0]["output"].as_str().unwrap().contains("a.txt"), "{ended}");
}

#[test]
fn names_that_make_no_tool_or_one_that_is_taken_get_a_legal_one() {
    let deputy = Deputy::new()
        .file("a/1.md", named("评审", ""))
        .file("a/2.md", named("explore it", ""))
        .file("a/3.md", named("explore-it", ""))
        .file("a/4.md", named("parent", ""));
    let all = listed(&deputy, &["--agents", "a"]);
    let names: std::collections::BTreeSet<&str> =
        all.iter().filter_map(|one| one["tool_name"].as_str()).collect();
    assert_eq!(names.len(), 3, "{all:#?}");
    let legal = |name: &&str| name.len() <= 64 && name.starts_with("subagent_") && name.is_ascii();
    assert!(names.iter().all(legal) && names.contains("subagent_explore_it"), "{names:?}");
    assert!(text(&all[3]["error"]).contains("give this one another name"), "{}", all[3]);
    let odd = names.iter().find(|name| !name.contains("explore")).unwrap();
    let ended = delegates(&deputy, odd, "评审", &Value::Null, &["--agents", "a"]).exits(0).json();
    assert_eq!(ended["handoffs"][0]["subagent"], "评审");
}

#[test]
fn each_row_of_the_table_has_its_text_and_its_place() {
    let keys = |path: &str, mode: &str| {
        let path = if path.is_empty() { String::new() } else { format!("  path: {path}\n") };
        format!("tools: [list_files]\nworkspace:\n  mode: {mode}\n{path}")
    };
    let deputy = Deputy::new()
        .file("main.txt", "x")
        .file("defs/heron/AGENTS.md", "From the definition.")
        .file("subagents/one.md", file(&keys("./defs/heron", "isolated"), "From the file."))
        .file("subagents/two.md", file(&keys("defs/heron", "shared"), "From the file."))
        .file("subagents/three.md", file(&keys("", "isolated"), "From the file."))
        .file("subagents/four.md", file(&keys("", "shared"), "From the file."));
    let lists = json!([{"tool": "list_files", "arguments": {}}]);
    for (id, prompt, sees) in [
        ("one", "From the definition.", "AGENTS.md"),
        ("two", "From the definition.", "main.txt"),
        ("three", "From the file.", "empty"),
        ("four", "From the file.", "main.txt"),
    ] {
        let shown = deputy.run(&["agents", "show", id, "--json"]).exits(0).json();
        assert!(shown["prompt"].as_str().unwrap().starts_with(prompt), "{shown}");
        let ignored = text(&shown["warnings"]).contains("the text of the file is ignored");
        assert_eq!(ignored, id == "one" || id == "two", "{shown}");
        let ended = delegates(&deputy, &format!("subagent_{id}"), id, &lists, &[]).exits(0).json();
        let output = ended["handoffs"][0]["output"].as_str().unwrap_or_default();
        assert!(output.contains(sees), "{id}: {ended}");
        assert_eq!(output.contains("main.txt"), sees == "main.txt", "{id}: {output}");
    }
    assert!(deputy.path("agents/three/workspace").is_dir());
}

#[test]
fn a_path_outside_needs_the_operators_line_and_trust() {
    let outside = tempfile::TempDir::new().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    std::fs::write(outside.join("AGENTS.md"), "From outside.").unwrap();
    let keys = format!("workspace:\n  path: {}", outside.display());
    let deputy = Deputy::new().file("subagents/heron.md", file(&keys, ""));
    let refused = one(&deputy, "heron", &[]);
    let error = refused["error"].as_str().unwrap_or_else(|| panic!("{refused}"));
    let line = error.split("set `").nth(1).unwrap().split('`').next().unwrap();
    assert!(error.contains("deputy trust"), "{error}");
    assert_eq!(one(&deputy, "heron", &["--set", line])["status"], "refused", "the line alone is not enough");
    deputy.run(&["trust", "."]).exits(0);
    assert_eq!(one(&deputy, "heron", &[])["status"], "refused", "nor is trust alone");
    let loaded = deputy.run(&["agents", "show", "heron", "--json", "--set", line]).exits(0).json();
    assert_eq!((&loaded["workspace"], &loaded["prompt"]), (&json!("isolated"), &json!("From outside.")));
    // In the workspace's own file, trusted with it.
    let deputy = deputy.file("deputy.toml", format!("{line}\n"));
    deputy.run(&["trust", "."]).exits(0);
    assert_eq!(one(&deputy, "heron", &[])["status"], "loaded");
    // A file that nobody trusts does not get what the operator gave to its name.
    let deputy = deputy.file("subagents/heron.md", file("", "Read all."));
    assert!(text(&one(&deputy, "heron", &[])["error"]).contains("counts only after `deputy trust"));
}

#[test]
fn a_workspaces_component_and_model_count_once_they_are_trusted_as_they_are() {
    let script = json!({"steps": [{"speaker": "owl", "answer": "by its own model", "repeat": true}]});
    let deputy = Deputy::new()
        .file("subagents/heron.wasm", WASM)
        .file("subagents/heron.md", file("tools: [read_file, list_files, find_files, grep_files]", ""))
        .file("subagents/jay.wasm", WASM)
        .file("own.json", script.to_string())
        .file("subagents/owl.md", file("model: scripted:own.json\nmaxTurns: 900\nworkspace: shared", "Hoot."))
        .file("subagents/wren.md", file("", "Only asks."));
    for id in ["heron", "jay"] {
        let refused = one(&deputy, id, &[]);
        assert_eq!(refused["status"], "refused");
        assert!(
            text(&refused["error"]).contains("its component")
                && text(&refused["error"]).contains("deputy trust")
        );
        deputy.run(&["check", id]).exits(1).says(&["deputy trust"]);
    }
    assert_eq!(one(&deputy, "wren", &[])["status"], "loaded");
    let owl = one(&deputy, "owl", &[]);
    assert_eq!((&owl["status"], &owl["max_turns"]), (&json!("loaded"), &json!(50)));
    assert!(text(&owl["warnings"]).contains("it runs with the parent's model"), "{owl}");
    let hoots = || delegates(&deputy, "subagent_owl", "owl", &Value::Null, &[]).exits(0);
    let ended = hoots().says(&[
        "its model `scripted:own.json` counts only after `deputy trust",
        "heron.md",
        "jay.wasm",
    ]);
    assert!(ended.json()["handoffs"][0]["output"].as_str().unwrap().starts_with("done"), "{ended:?}");

    let told = deputy.run(&["trust", "."]).exits(0).stdout;
    for part in ["the component", "the model scripted:own.json", "900 turns", "nothing that needs trust"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(hoots().json()["handoffs"][0]["output"], "by its own model");
    let jay = one(&deputy, "jay", &[]);
    assert_eq!(jay["tools"], json!(["find_files", "grep_files", "list_files", "read_file"]), "as it imports");
    assert_eq!(
        (&one(&deputy, "heron", &[])["status"], &one(&deputy, "owl", &[])["max_turns"]),
        (&json!("loaded"), &json!(900))
    );
    deputy.run(&["check", "heron"]).exits(0);
    // The change of a file ends the trust in that file alone, and so does that of its component.
    let deputy = deputy.file("subagents/owl.md", file("model: scripted:own.json", "Screech."));
    assert!(text(&one(&deputy, "owl", &[])["warnings"]).contains("deputy trust"));
    assert_eq!(one(&deputy, "heron", &[])["status"], "loaded");
    let deputy = deputy.file("subagents/heron.wasm", deputy_stock::STOCK[1].wasm);
    assert_eq!(
        (&one(&deputy, "heron", &[])["status"], &one(&deputy, "jay", &[])["status"]),
        (&json!("refused"), &json!("loaded"))
    );
    deputy.run(&["trust", "--revoke", "."]).exits(0);
    assert_eq!(one(&deputy, "jay", &[])["status"], "refused");
}

#[test]
fn in_a_directory_that_the_operator_named_models_count_and_a_workspaces_components_do_not() {
    let script = json!({"steps": [{"speaker": "owl", "answer": "by its own model", "repeat": true}]});
    let deputy = Deputy::new()
        .file("own.json", script.to_string())
        .file(".claude/agents/owl.md", named("owl", "model: scripted:own.json"))
        .file(
            ".claude/agents/jay.md",
            named("jay", "component: ../../jay.wasm\ntools: [read_file, list_files, find_files, grep_files]"),
        )
        .file("jay.wasm", WASM);
    let named_so = ["--agents", ".claude/agents"];
    let ended = delegates(&deputy, "subagent_owl", "owl", &Value::Null, &named_so).exits(0).json();
    assert_eq!(ended["handoffs"][0]["output"], "by its own model");
    assert_eq!(one(&deputy, "jay", &named_so)["status"], "refused");
    assert!(
        listed(&deputy, &[]).iter().all(|one| one["id"] != "jay" && one["id"] != "owl"),
        "only on request"
    );
    deputy.run(&["trust", "."]).exits(0);
    assert_eq!(one(&deputy, "jay", &named_so)["status"], "loaded");
    // An agent of that name in another directory does not stand in the way of trust.
    let deputy = deputy.file("subagents/jay.md", file("", "Only asks."));
    deputy.run(&["trust", "."]).exits(0);
    assert_eq!(one(&deputy, "jay", &named_so)["status"], "loaded");
    assert_eq!(one(&deputy, "jay", &[])["source"], "subagents/jay.md");

    // Elsewhere than in the workspace they count; elsewhere in it the refusal names the command that trusts them.
    let other = Deputy::new();
    let directory = deputy.path(".claude/agents");
    assert_eq!(one(&other, "jay", &["--agents", directory.to_str().unwrap()])["status"], "loaded");
    let other = other.file("x/jay.md", named("jay", "component: jay.wasm")).file("x/jay.wasm", WASM);
    let error = text(&one(&other, "jay", &["--agents", "x"])["error"]);
    let command = error.split("after `deputy ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    other.run(&command.split(' ').collect::<Vec<_>>()).exits(0);
    assert_eq!(one(&other, "jay", &["--agents", "x"])["status"], "loaded");
}

#[test]
fn a_strict_reading_refuses_what_a_lenient_one_warns_of_and_a_workspace_may_only_ask_for_it() {
    let odd = named("heron", "tools: Read, WebSearch\nmood: calm");
    let deputy = Deputy::new().file("a/heron.md", odd).file("a/owl.md", named("owl", "tools: Read"));
    let warned = one(&deputy, "heron", &["--agents", "a"]);
    assert!(
        text(&warned["warnings"]).contains("`mood`") && text(&warned["warnings"]).contains("`WebSearch`")
    );
    let strict = ["--agents", "a", "--set", "declarations.strict=true"];
    assert_eq!(
        (&one(&deputy, "heron", &strict)["status"], &one(&deputy, "owl", &strict)["status"]),
        (&json!("refused"), &json!("loaded"))
    );
    let deputy = deputy.file("deputy.toml", "[declarations]\nstrict = true\nagents = [\"a\"]\n");
    assert_eq!(one(&deputy, "heron", &["--agents", "a"])["status"], "refused", "the workspace narrows");
    let untrusted =
        deputy.run(&["agents"]).exits(0).says(&["sets `declarations.agents`, which counts only after"]);
    assert!(!untrusted.stdout.contains("owl"), "{untrusted:?}");
    deputy.run(&["trust", "."]).exits(0);
    assert_eq!(one(&deputy, "owl", &[])["workspace"], "shared");
}

#[test]
fn a_table_of_the_configuration_changes_a_declared_agent_as_it_does_a_stock_one() {
    let deputy =
        Deputy::new().file("subagents/heron.md", file("tools: Read, Grep\ntimeout: 5s", "Count.")).file(
            "deputy.toml",
            "[subagents.heron]\nmax_turns = 4\ntools = [\"read_file\"]\ntool_name = \"birds\"\n",
        );
    let narrowed = one(&deputy, "heron", &[]);
    assert_eq!((&narrowed["tools"], &narrowed["max_turns"]), (&json!(["read_file"]), &json!(4)));
    assert_eq!(narrowed["tool_name"], "subagent_heron", "what an untrusted file cannot set");
    let wider = one(
        &deputy,
        "heron",
        &[
            "--set",
            "subagents.heron.tools=[\"read_file\", \"write_file\"]",
            "--set",
            "subagents.heron.tool_name=birds",
            "--set",
            "subagents.heron.workspace=shared",
        ],
    );
    assert_eq!(
        (&wider["tools"], &wider["tool_name"]),
        (&json!(["read_file", "write_file"]), &json!("birds"))
    );
    assert_eq!(wider["workspace"], "shared");
    let other = one(&deputy, "heron", &["--set", "subagents.heron.prompt=Other."]);
    assert_eq!(other["source"], deputy.path("deputy.toml").canonicalize().unwrap().to_str().unwrap());
    // A refused file stops neither the others nor the table that is about it.
    let deputy = deputy.file("subagents/heron.md", "# no agent\n");
    assert_eq!(one(&deputy, "heron", &[])["status"], "refused");
    let ended = deputy.scripted(&json!([{"speaker": "parent", "answer": "ok"}]), &["go"]).exits(0);
    ended.says(&["an agent file is refused: subagents/heron.md:1"]);
}

#[test]
fn odd_directories_and_files_are_entries_and_no_crash() {
    use std::os::unix::fs::symlink;
    let deputy = Deputy::new()
        .file("a/latin.md", b"---\ndescription: \xe9\n---\n")
        .file("a/\u{1b}[31m.md", "x")
        .file("a/deep/er.md", named("deeper", ""));
    std::fs::create_dir(deputy.path("a/dir.md")).unwrap();
    symlink("/etc/passwd", deputy.path("a/link.md")).unwrap();
    let all = listed(&deputy, &["--agents", "a"]);
    assert_eq!(all.len(), 4, "{all:#?}");
    assert!(all.iter().all(|one| one["status"] == "refused"));
    let words = deputy.run(&["agents", "--agents", "a"]).exits(0).stdout;
    assert!(!words.contains('\u{1b}'), "{words:?}");
    // A workspace's directory that leads elsewhere is not the workspace's.
    symlink(deputy.path("a/deep"), deputy.path("inside")).unwrap();
    symlink(std::env::temp_dir(), deputy.path("subagents")).unwrap();
    deputy.run(&["agents"]).exits(0).says(&["leads out of the workspace"]);
    deputy.run(&["agents", "--subagent", "none.wasm"]).exits(1);
}

#[test]
fn thousands_of_files_are_listed_and_run_without_one_compilation_each() {
    let mut deputy = Deputy::new();
    for number in 0..1500 {
        deputy = deputy.file(&format!("a/bird-{number}.md"), named(&format!("bird-{number}"), "tools: Read"));
    }
    assert_eq!(listed(&deputy, &["--agents", "a"]).len(), 1500);
    let ended = delegates(&deputy, "subagent_bird_7", "bird-7", &Value::Null, &["--agents", "a"]).exits(0);
    assert_eq!(ended.json()["handoffs"][0]["status"], "completed");
}

#[test]
fn a_file_has_no_more_than_the_operators_limits_and_the_operators_word_on_it_stands() {
    // What the guest may use shows where it runs out: a fuel that is too little for any run.
    let deputy =
        Deputy::new().file("subagents/heron.md", file("limits:\n  fuel: 1000\nworkspace: shared", "Count."));
    let run = |arguments: &[&str]| {
        let ended = delegates(&deputy, "subagent_heron", "heron", &Value::Null, arguments).exits(0).json();
        ended["handoffs"][0]["status"].as_str().unwrap().to_owned()
    };
    assert_ne!(run(&[]), "completed");
    assert_eq!(run(&["--set", "subagents.heron.fuel=1000000000"]), "completed");
    let deputy = Deputy::new()
        .file("subagents/heron.md", file("limits:\n  fuel: 1000000000\nworkspace: shared", "Count."));
    let ended =
        delegates(&deputy, "subagent_heron", "heron", &Value::Null, &["--set", "limits.fuel=1000"]).json();
    assert_ne!(ended["handoffs"][0]["status"], "completed", "{ended}");
}

#[test]
fn a_model_that_cannot_be_had_is_said_and_the_agent_runs_with_the_parents() {
    let deputy = Deputy::new().file("a/heron.md", named("heron", "model: openai:gpt-4o-mini"));
    let ended = delegates(&deputy, "subagent_heron", "heron", &Value::Null, &["--agents", "a"]).exits(0);
    let ended = ended.says(&["`openai:gpt-4o-mini` run with the parent's", "OPENAI_API_KEY"]).json();
    assert_eq!(ended["handoffs"][0]["status"], "completed");
}

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use deputy::event::SessionMode;
use deputy::governance::{DelegationSurface, HandoffFailureAction};

use super::*;
use crate::arguments::Shell;
use problem::Fault;

const STOCK: &[Stock<'_>] = &[
    Stock { name: "explore", tools: &["grep_files", "read_file"] },
    Stock { name: "plan", tools: &["read_file"] },
];

fn of_file(text: &str, overrides: &[&str]) -> anyhow::Result<Loaded> {
    let file = File::made_up("/w/deputy.toml", text);
    Config::load(Source::Workspace { file: Some(file), trusted: true }, &owned(overrides), STOCK)
}

fn of_overrides(overrides: &[&str]) -> anyhow::Result<Loaded> {
    Config::load(Source::None, &owned(overrides), STOCK)
}

fn owned(overrides: &[&str]) -> Vec<String> {
    overrides.iter().map(|text| (*text).to_owned()).collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn list(names: &[&str]) -> Option<Vec<String>> {
    Some(owned(names))
}

/// The keys that the type of a table has.
fn known(table: &str) -> Vec<String> {
    let keys: Vec<String> =
        table.split('.').filter(|key| !key.is_empty()).chain(["?"]).map(str::to_owned).collect();
    let read = reader::read::<Config>(&layers::nested(&keys, toml::Value::Boolean(true)));
    let Err(Problem { fault: Fault::Unknown { known }, .. }) = read else { panic!("{table}: {read:?}") };
    owned(known)
}

/// Every key of every table that a file can have for one stock subagent, from the types.
pub(super) fn every_key() -> Vec<String> {
    let mut found = Vec::new();
    for table in known("") {
        let table = if table == "subagents" { "subagents.explore".to_owned() } else { table };
        found.extend(known(&table).into_iter().map(|key| format!("{table}.{key}")));
    }
    found.retain(|key| key != "model.prices");
    found.extend(known("model.prices").into_iter().map(|key| format!("model.prices.{key}")));
    found
}

#[test]
fn a_failed_handoff_is_told_to_the_model_unless_configured_otherwise() {
    let loaded = of_overrides(&[]).unwrap();
    let told = Handoff {
        on_denied: Some(HandoffFailureAction::TellModel),
        on_error: Some(HandoffFailureAction::TellModel),
        ..Handoff::default()
    };
    assert_eq!(loaded.config, Config { handoff: told, ..Config::default() });
    assert!(loaded.file.is_none() && loaded.ignored.is_empty());
    let config =
        of_file("handoff.on_denied = \"fail\"", &["handoff.on_error=fallback_to_primary"]).unwrap().config;
    assert_eq!(config.handoff.on_denied, Some(HandoffFailureAction::Fail));
    assert_eq!(config.handoff.on_error, Some(HandoffFailureAction::FallbackToPrimary));
}

#[test]
fn every_key_of_every_table_is_read() {
    let file = r#"
        [handoff]
        enabled = true
        max_depth = 2
        max_retries = 3
        timeout = "2m"
        allowed_tools = ["read_file"]
        denied_tools = []
        on_denied = "fail"
        on_error = "fallback_to_primary"
        retry_after_side_effects = false
        surface = "spawn"
        [purse]
        descendants = 4
        concurrent_runs = 5
        depth = 6
        turns = 7
        tool_calls = 8
        tokens = 9
        cost = 1.5
        time = "1h 30m"
        fuel = 10
        [limits]
        max_turns = 11
        subagent_max_turns = 12
        result_bytes = 13
        memory = 14
        fuel = 15
        [model]
        spec = "openai:m"
        base_url = "http://model.test"
        stream = false
        timeout = "45s"
        prices = { input = 3, output = 15.0, cache_read = 0.3, cache_write = 0 }
        [tools]
        allow = ["a"]
        ask = ["b", "c"]
        deny = ["d"]
        shell = "unconfined"
        [declarations]
        strict = true
        agents = ["more/agents", "/agents"]
        [subagents.tides]
        enabled = true
        description = "reads tides"
        tool_name = "read_tides"
        component = "tides.wasm"
        tools = ["inherit", "fetch_url"]
        session_mode = "reuse"
        max_turns = 16
        timeout = "1s"
        fuel = 17
        memory = 18
        workspace = "isolated"
        workspace_path = "tide"
        allowed_tools = ["e"]
        denied_tools = ["f"]
        [subagents.poet]
        prompt = "write"
        tools = "inherit"
        session_mode = "fresh"
    "#;
    let expected = Config {
        handoff: Handoff {
            enabled: Some(true),
            max_depth: Some(2),
            max_retries: Some(3),
            timeout: Some(Duration::from_secs(120)),
            allowed_tools: list(&["read_file"]),
            denied_tools: list(&[]),
            on_denied: Some(HandoffFailureAction::Fail),
            on_error: Some(HandoffFailureAction::FallbackToPrimary),
            retry_after_side_effects: Some(false),
            surface: Some(DelegationSurface::Spawn),
        },
        purse: Purse {
            descendants: Some(4),
            concurrent_runs: Some(5),
            depth: Some(6),
            turns: Some(7),
            tool_calls: Some(8),
            tokens: Some(9),
            cost: Some(1.5),
            time: Some(Duration::from_secs(5400)),
            fuel: Some(10),
        },
        limits: tables::Limits {
            max_turns: Some(11),
            subagent_max_turns: Some(12),
            result_bytes: Some(13),
            memory: Some(14),
            fuel: Some(15),
        },
        model: Model {
            spec: text("openai:m"),
            base_url: text("http://model.test"),
            stream: Some(false),
            timeout: Some(Duration::from_secs(45)),
            prices: Prices {
                input: Some(3.0),
                output: Some(15.0),
                cache_read: Some(0.3),
                cache_write: Some(0.0),
            },
        },
        tools: Tools {
            allow: list(&["a"]),
            ask: list(&["b", "c"]),
            deny: list(&["d"]),
            shell: Some(Shell::Unconfined),
        },
        declarations: Declarations {
            strict: Some(true),
            agents: Some(vec!["/w/more/agents".into(), "/agents".into()]),
        },
        subagents: [
            (
                "poet".to_owned(),
                Subagent {
                    prompt: text("write"),
                    tools: list(&[INHERIT]),
                    session_mode: Some(SessionMode::Fresh),
                    ..Subagent::default()
                },
            ),
            (
                "tides".to_owned(),
                Subagent {
                    enabled: Some(true),
                    description: text("reads tides"),
                    tool_name: text("read_tides"),
                    component: Some("/w/tides.wasm".into()),
                    prompt: None,
                    tools: list(&[INHERIT, "fetch_url"]),
                    session_mode: Some(SessionMode::Reuse),
                    max_turns: Some(16),
                    timeout: Some(Duration::from_secs(1)),
                    fuel: Some(17),
                    memory: Some(18),
                    workspace: Some(WorkspaceWord::Isolated),
                    workspace_path: Some("/w/tide".into()),
                    allowed_tools: list(&["e"]),
                    denied_tools: list(&["f"]),
                },
            ),
        ]
        .into(),
    };
    let loaded = of_file(file, &[]).unwrap();
    assert_eq!(loaded.config, expected);
    assert_eq!(loaded.file.as_deref(), Some(Path::new("/w/deputy.toml")));
}

#[test]
fn an_error_says_where_what_was_expected_and_what_came() {
    let handoff = "enabled, max_depth, max_retries, timeout, allowed_tools, denied_tools, on_denied, on_error, retry_after_side_effects, surface";
    let whole = format!("a whole number from 0 to {}", u32::MAX);
    let positive = format!("a whole number from 1 to {}", u32::MAX);
    let failure = r#""fail" or "fallback_to_primary" or "tell_model""#;
    let duration = r#"a duration such as "90s" or "1h 30m""#;
    let tools = r#"a list of text, or "inherit""#;
    for (file, line, expected) in [
        (
            "[handoff]\n\nmax_depht = 2",
            3,
            format!("unknown key `handoff.max_depht`; did you mean `handoff.max_depth`? (known in [handoff]: {handoff})"),
        ),
        ("[handoff]\nzzz = 2", 2, format!("unknown key `handoff.zzz` (known in [handoff]: {handoff})")),
        (
            "\n[handof]\nmax_depth = 2",
            2,
            "unknown key `handof`; did you mean `handoff`? (known at the top: handoff, purse, limits, model, tools, declarations, subagents)".into(),
        ),
        (
            "[model]\nprices = { inputs = 1 }",
            2,
            "unknown key `model.prices.inputs`; did you mean `model.prices.input`? (known in [model.prices]: input, output, cache_read, cache_write)".into(),
        ),
        ("handoff = 3", 1, "`handoff`: expected a table, got 3".into()),
        ("handoff = []", 1, "`handoff`: expected a table, got a list".into()),
        ("[handoff]\nmax_depth = \"two\"", 2, format!("`handoff.max_depth`: expected {whole}, got text \"two\"")),
        ("[handoff]\nmax_depth = -1", 2, format!("`handoff.max_depth`: expected {whole}, got -1")),
        ("[handoff]\nmax_depth = 4294967296", 2, format!("`handoff.max_depth`: expected {whole}, got 4294967296")),
        ("[handoff]\nmax_depth = 1.0", 2, format!("`handoff.max_depth`: expected {whole}, got 1.0")),
        ("[handoff]\nenabled = \"yes\"", 2, "`handoff.enabled`: expected true or false, got text \"yes\"".into()),
        ("[handoff]\non_error = \"fial\"", 2, format!("`handoff.on_error`: expected {failure} (did you mean \"fail\"?), got text \"fial\"")),
        ("[handoff]\non_error = 5", 2, format!("`handoff.on_error`: expected {failure}, got 5")),
        ("[handoff]\ntimeout = 30", 2, format!("`handoff.timeout`: expected {duration}, got 30")),
        ("[handoff]\ntimeout = \"soon\"", 2, format!("`handoff.timeout`: expected {duration}, got text \"soon\"")),
        ("[handoff]\ntimeout = 07:32:00", 2, format!("`handoff.timeout`: expected {duration}, got a date or time")),
        ("[purse]\nconcurrent_runs = 0", 2, format!("`purse.concurrent_runs`: expected {positive}, got 0")),
        ("[purse]\nconcurrent_runs = []", 2, format!("`purse.concurrent_runs`: expected {positive}, got a list")),
        ("[purse]\ncost = -0.5", 2, "`purse.cost`: expected a number that is 0 or more, got -0.5".into()),
        ("[purse]\ncost = -5", 2, "`purse.cost`: expected a number that is 0 or more, got -5".into()),
        ("[purse]\ncost = inf", 2, "`purse.cost`: expected a number that is 0 or more, got inf".into()),
        ("[purse]\ncost = nan", 2, "`purse.cost`: expected a number that is 0 or more, got NaN".into()),
        ("[purse]\ntokens = -1", 2, "`purse.tokens`: expected a whole number that is 0 or more, got -1".into()),
        ("[limits]\nresult_bytes = true", 2, "`limits.result_bytes`: expected a whole number that is 0 or more, got true".into()),
        ("[model]\nspec = 2024-01-01", 2, "`model.spec`: expected text, got a date or time".into()),
        ("[model]\nspec = { a = 1 }", 2, "`model.spec`: expected text, got a table".into()),
        ("[tools]\nallow = \"a\"", 2, "`tools.allow`: expected a list of text, got text \"a\"".into()),
        ("[tools]\nallow = [\n\"a\",\n3,\n]", 4, "`tools.allow[1]`: expected text, got 3".into()),
        ("[tools]\nshell = \"of\"", 2, "`tools.shell`: expected \"confined\" or \"unconfined\" or \"off\" (did you mean \"off\"?), got text \"of\"".into()),
        ("[subagents.plan]\ntools = \"all\"", 2, format!("`subagents.plan.tools`: expected {tools}, got text \"all\"")),
        ("[subagents.plan]\ntools = 1", 2, format!("`subagents.plan.tools`: expected {tools}, got 1")),
        ("[subagents.plan]\ntools = [1]", 2, "`subagents.plan.tools[0]`: expected text, got 1".into()),
        ("[subagents.plan]\ncomponent = 1", 2, "`subagents.plan.component`: expected text, got 1".into()),
        ("subagents.plan = 1", 1, "`subagents.plan`: expected a table, got 1".into()),
        ("subagents = [1]", 1, "`subagents`: expected a table, got a list".into()),
        (
            "[subagents.plan]\nprompt = \"p\"\ncomponent = \"c\"",
            1,
            "`subagents.plan`: has both `component` and `prompt`: keep one of them".into(),
        ),
        (
            "[limits]\n[subagents.exlpore]\nmax_turns = 2",
            2,
            "`subagents.exlpore`: needs a `component` or a `prompt`: there is no subagent `exlpore`; did you mean `explore`? (expected one of explore, plan)".into(),
        ),
    ] {
        let error = of_file(file, &[]).unwrap_err().to_string();
        assert_eq!(error, format!("/w/deputy.toml:{line}: {expected}"), "{file}");
    }
    for (file, parts) in [
        ("[handoff]\nmax_depth = = 2", ["/w/deputy.toml:2: ", ""]),
        ("[handoff]\nmax_depth = 1\nmax_depth = 2", ["/w/deputy.toml:3: ", "duplicate"]),
    ] {
        let error = of_file(file, &[]).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)) && !error.contains('\n'), "{error}");
    }
    let file = Source::Workspace { file: Some(File::made_up("/w/deputy.toml", "")), trusted: true };
    assert!(Config::load(file, &[], STOCK).is_ok(), "an empty file is one");
}

#[test]
fn an_override_is_a_dotted_key_and_a_value_or_plain_text() {
    let config = of_overrides(&[
        "handoff.max_depth=2",
        "model.spec=openai:x",
        " purse.time = 5m ",
        "tools.deny=[\"a\", 'b']",
        "subagents.plan.prompt=a=b, c",
        "model.prices={ input = 1.5 }",
        "model.prices.output=2",
        "tools.shell=off",
        "model.stream=false",
        "model.base_url=\"5\"",
    ])
    .unwrap()
    .config;
    assert_eq!(config.handoff.max_depth, Some(2));
    assert_eq!(config.model.spec, text("openai:x"));
    assert_eq!(config.purse.time, Some(Duration::from_secs(300)));
    assert_eq!(config.tools.deny, list(&["a", "b"]));
    assert_eq!(config.subagents.get("plan").unwrap().prompt, text("a=b, c"));
    assert_eq!((config.model.prices.input, config.model.prices.output), (Some(1.5), Some(2.0)));
    assert_eq!(config.tools.shell, Some(Shell::Off));
    assert_eq!(config.model.stream, Some(false));
    assert_eq!(config.model.base_url, text("5"));
}

#[test]
fn an_error_of_an_override_names_it() {
    let depth = format!("`handoff.max_depth`: expected a whole number from 0 to {}", u32::MAX);
    for (set, expected) in [
        ("handoff.max_depth", "handoff.max_depth: expected KEY=VALUE, such as handoff.max_depth=2".to_owned()),
        ("=2", "=2: expected KEY=VALUE, such as handoff.max_depth=2".into()),
        ("handoff..x=2", "handoff..x=2: expected KEY=VALUE, such as handoff.max_depth=2".into()),
        ("handoff.max_depth=two", format!("handoff.max_depth=two: {depth}, got text \"two\"")),
        ("handoff.max_depth.x=2", format!("handoff.max_depth.x=2: {depth}, got a table")),
        (
            "model.specs=x",
            "model.specs=x: unknown key `model.specs`; did you mean `model.spec`? (known in [model]: spec, base_url, stream, timeout, prices)".into(),
        ),
        (
            "subagents.plan.component=a.wasm",
            "subagents.plan.component=a.wasm: `subagents.plan`: has both `component` and `prompt`: keep one of them".into(),
        ),
    ] {
        let error = of_file("subagents.plan.prompt = \"p\"", &["tools.shell=off", set]).unwrap_err().to_string();
        assert_eq!(error, format!("--set {expected}"));
    }
    for set in ["tools.deny=[a]", "tools.deny=[\"a\"", "model.spec=\"x", "model.prices={ input }"] {
        let error = of_overrides(&[set]).unwrap_err().to_string();
        let framed = error.starts_with("--set ") && error.ends_with("quote it where text is meant");
        assert!(framed && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_later_layer_wins_key_by_key() {
    let file = "[limits]\nmax_turns = 1\nmemory = 2\n[tools]\nallow = [\"a\", \"b\"]\n[subagents.plan]\nfuel = 3\nmemory = 4";
    let set = ["limits.memory=5", "limits.memory=6", "tools.allow=[\"c\"]", "subagents.plan.fuel=7"];
    let config = of_file(file, &set).unwrap().config;
    assert_eq!((config.limits.max_turns, config.limits.memory), (Some(1), Some(6)));
    assert_eq!(config.tools.allow, list(&["c"]));
    let plan = config.subagents.get("plan").unwrap();
    assert_eq!((plan.fuel, plan.memory), (Some(7), Some(4)));
    assert_eq!(config.handoff.on_denied, Some(HandoffFailureAction::TellModel), "what is built in stands");
}

#[test]
fn a_component_of_the_file_is_found_from_the_file_and_one_of_the_command_line_is_not() {
    let file = "[subagents]\na.component = \"x/a.wasm\"\nb.component = \"/b.wasm\"\nc.component = \"c.wasm\"";
    let config = of_file(file, &["subagents.c.component=d.wasm", "subagents.a.fuel=1"]).unwrap().config;
    let of = |name: &str| config.subagents.get(name).unwrap().component.clone().unwrap();
    assert_eq!((of("a"), of("b"), of("c")), ("/w/x/a.wasm".into(), "/b.wasm".into(), "d.wasm".into()));

    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("other.toml");
    fs::write(&path, "subagents.a.component = \"a.wasm\"").unwrap();
    let config = Config::load(Source::Operator(File::named(&path).unwrap()), &[], STOCK).unwrap().config;
    assert_eq!(config.subagents.get("a").unwrap().component, Some(base.path().join("a.wasm")));
}

#[test]
fn how_agent_files_are_read_is_known_before_the_subagents_are() {
    let text = "[declarations]\nstrict = true\nagents = [\"a\"]\n[subagents.nobody-yet]\nmax_turns = 1\n";
    let read = |trusted, set: &[&str]| {
        let file = Some(File::made_up("/w/deputy.toml", text));
        Config::declarations(Source::Workspace { file, trusted }, &owned(set)).unwrap()
    };
    let strict = Declarations { strict: Some(true), agents: None };
    assert_eq!(read(false, &[]), strict, "reading strictly narrows, naming directories does not");
    assert_eq!(read(true, &[]), Declarations { agents: Some(vec!["/w/a".into()]), ..strict.clone() });
    assert_eq!(read(true, &["declarations.agents=[\"b\"]"]).agents, Some(vec!["b".into()]));
}

#[test]
fn a_file_of_the_operator_has_to_be_there_and_be_text() {
    let base = tempfile::tempdir().unwrap();
    let load = |name: &str| {
        let file = File::named(&base.path().join(name))?;
        Config::load(Source::Operator(file), &[], STOCK)
    };
    assert!(load("none.toml").unwrap_err().to_string().contains("cannot read"));
    fs::write(base.path().join("latin.toml"), b"# \xe9").unwrap();
    assert!(load("latin.toml").unwrap_err().to_string().contains("latin.toml is not UTF-8 text"));
}

#[test]
fn a_workspace_without_a_file_has_what_is_built_in() {
    for trusted in [false, true] {
        let loaded = Config::load(Source::Workspace { file: None, trusted }, &[], STOCK).unwrap();
        assert_eq!(loaded.config, of_overrides(&[]).unwrap().config);
    }
}

#[test]
fn trust_decides_whether_a_workspaces_file_counts_whole() {
    let text = "[model]\nspec = \"openai:m\"\n[limits]\nmax_turns = 3\n[subagents.own]\nprompt = \"p\"";
    let load = |trusted| {
        let file = Some(File::made_up("/w/deputy.toml", text));
        Config::load(Source::Workspace { file, trusted }, &[], STOCK).unwrap()
    };
    let (with, without) = (load(true), load(false));
    assert!(with.ignored.is_empty() && with.config.model.spec.is_some());
    assert!(with.config.subagents.contains_key("own"));
    let keys: BTreeSet<&str> = without.ignored.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["model.spec", "subagents.own"].into());
    assert_eq!(without.config.limits.max_turns, Some(3));
    assert!(without.config.model.spec.is_none() && without.config.subagents.is_empty());
}

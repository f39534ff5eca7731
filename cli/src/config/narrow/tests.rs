use std::collections::BTreeSet;

use deputy::governance::{DelegationSurface, HandoffFailureAction};

use super::super::tests::every_key;
use super::super::{Config, File, Loaded, Source};
use super::*;
use crate::arguments::Shell;

const STOCK: &[Stock<'_>] = &[
    Stock { name: "explore", tools: &["grep_files", "read_file"] },
    Stock { name: "plan", tools: &["read_file"] },
];

fn load(file: Option<&str>, trusted: bool, set: &[&str]) -> anyhow::Result<Loaded> {
    let file = file.map(|text| File::made_up("/w/deputy.toml", text));
    let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
    Config::load(Source::Workspace { file, trusted }, &set, STOCK)
}

fn keys(ignored: &[Ignored]) -> Vec<&str> {
    ignored.iter().map(|one| one.key.as_str()).collect()
}

/// The value of a key after an untrusted file over what the operator sets, and whether it was told as ignored.
fn settled(set: &[&str], key: &str, value: &str) -> (Option<String>, bool) {
    let table: Table = format!("{key} = {value}").parse().unwrap();
    let mut given = Table::new();
    for one in set {
        layers::merge(&mut given, &one.parse().unwrap());
    }
    let operator = Operator { base: given, set: Table::new(), stock: STOCK };
    let narrowed = operator.narrow(&table);
    let path: Vec<&str> = key.split('.').collect();
    let ignored = !narrowed.ignored.is_empty();
    assert!(!ignored || keys(&narrowed.ignored) == [key]);
    (layers::at(&narrowed.table, &path).map(ToString::to_string), ignored)
}

#[test]
fn each_direction_lets_through_its_side_alone() {
    let none: &[&str] = &[];
    let handoff: &[&str] = &[
        "handoff.timeout = \"1m\"",
        "handoff.allowed_tools = [\"a\", \"b\"]",
        "handoff.denied_tools = [\"a\"]",
    ];
    let cost: &[&str] = &["purse.cost = 2", "purse.tokens = 9007199254740993"];
    let limits: &[&str] = &["limits.subagent_max_turns = 7", "limits.memory = 100", "limits.max_turns = 90"];
    // What comes of it where it is not the value itself.
    let cut = Some;
    let as_is = None;
    for (set, key, value, counts, changed) in [
        // Lower, from the library's default or without a bound.
        (none, "handoff.max_depth", "1", true, as_is),
        (none, "handoff.max_depth", "0", true, as_is),
        (none, "handoff.max_depth", "2", false, as_is),
        (none, "handoff.max_retries", "0", true, as_is),
        (none, "handoff.max_retries", "1", false, as_is),
        (none, "purse.descendants", "64", true, as_is),
        (none, "purse.descendants", "257", false, as_is),
        (none, "purse.concurrent_runs", "8", true, as_is),
        (none, "purse.concurrent_runs", "9", false, as_is),
        (none, "limits.max_turns", "50", true, as_is),
        (none, "limits.max_turns", "51", false, as_is),
        (none, "limits.subagent_max_turns", "50", true, as_is),
        (none, "limits.subagent_max_turns", "51", false, as_is),
        (none, "limits.result_bytes", "65536", true, as_is),
        (none, "limits.result_bytes", "65537", false, as_is),
        (none, "limits.memory", "268435456", true, as_is),
        (none, "limits.memory", "268435457", false, as_is),
        (none, "limits.fuel", "50000000000", true, as_is),
        (none, "limits.fuel", "50000000001", false, as_is),
        (none, "purse.tokens", "9007199254740993", true, as_is),
        // Lower, from what the operator set, in either direction of the default.
        (cost, "purse.cost", "2.0", true, as_is),
        (cost, "purse.cost", "2.01", false, as_is),
        (cost, "purse.cost", "3", false, as_is),
        (cost, "purse.tokens", "9007199254740993", true, as_is),
        (cost, "purse.tokens", "9007199254740994", false, as_is),
        (limits, "limits.max_turns", "90", true, as_is),
        (limits, "limits.max_turns", "91", false, as_is),
        // A subagent's own is bounded by what holds for all.
        (limits, "subagents.plan.max_turns", "7", true, as_is),
        (limits, "subagents.plan.max_turns", "8", false, as_is),
        (limits, "subagents.plan.memory", "101", false, as_is),
        (none, "subagents.plan.max_turns", "50", true, as_is),
        (none, "subagents.plan.max_turns", "51", false, as_is),
        (none, "subagents.plan.fuel", "50000000001", false, as_is),
        // Shorter.
        (none, "handoff.timeout", "\"100y\"", true, as_is),
        (handoff, "handoff.timeout", "\"60s\"", true, as_is),
        (handoff, "handoff.timeout", "\"61s\"", false, as_is),
        (handoff, "subagents.plan.timeout", "\"59s\"", true, as_is),
        (handoff, "subagents.plan.timeout", "\"2m\"", false, as_is),
        // More.
        (none, "tools.deny", "[\"a\"]", true, as_is),
        (none, "tools.ask", "[]", true, as_is),
        (handoff, "handoff.denied_tools", "[]", true, cut("[\"a\"]")),
        (handoff, "handoff.denied_tools", "[\"b\", \"a\"]", true, cut("[\"a\", \"b\"]")),
        (handoff, "subagents.plan.denied_tools", "[\"b\"]", true, cut("[\"a\", \"b\"]")),
        // Fewer.
        (none, "handoff.allowed_tools", "[\"x\"]", true, as_is),
        (handoff, "handoff.allowed_tools", "[\"b\"]", true, as_is),
        (handoff, "handoff.allowed_tools", "[]", true, as_is),
        (handoff, "handoff.allowed_tools", "[\"b\", \"c\"]", false, cut("[\"b\"]")),
        (handoff, "subagents.plan.allowed_tools", "[\"c\"]", false, cut("[]")),
        // Only, exactly.
        (none, "handoff.enabled", "true", true, as_is),
        (none, "handoff.enabled", "false", false, as_is),
        (none, "handoff.retry_after_side_effects", "false", true, as_is),
        (none, "handoff.retry_after_side_effects", "true", false, as_is),
        (none, "subagents.plan.enabled", "false", true, as_is),
        (none, "subagents.plan.enabled", "true", false, as_is),
        (none, "handoff.on_denied", "\"fail\"", true, as_is),
        (none, "handoff.on_denied", "\"tell_model\"", false, as_is),
        (none, "handoff.on_error", "\"fail\"", true, as_is),
        (none, "handoff.on_error", "\"fallback_to_primary\"", false, as_is),
        (none, "handoff.surface", "\"none\"", true, as_is),
        (none, "handoff.surface", "\"spawn\"", false, as_is),
        (none, "tools.shell", "\"off\"", true, as_is),
        (none, "tools.shell", "\"confined\"", false, as_is),
        (none, "tools.shell", "\"unconfined\"", false, as_is),
        // Some of what is declared.
        (none, "subagents.explore.tools", "[\"read_file\"]", true, as_is),
        (none, "subagents.explore.tools", "[]", true, as_is),
        (none, "subagents.explore.tools", "[\"read_file\", \"write_file\"]", false, as_is),
        (none, "subagents.plan.tools", "[\"grep_files\"]", false, as_is),
        (none, "subagents.explore.tools", "\"inherit\"", false, as_is),
        (none, "subagents.explore.tools", "[\"inherit\"]", false, as_is),
        (
            &["subagents.explore.tools = [\"inherit\"]"],
            "subagents.explore.tools",
            "[\"inherit\"]",
            false,
            as_is,
        ),
        // Never.
        (none, "model.spec", "\"openai:m\"", false, as_is),
        (none, "model.prices.input", "0", false, as_is),
        (none, "tools.allow", "[]", false, as_is),
        (none, "subagents.plan.session_mode", "\"fresh\"", false, as_is),
        (none, "subagents.plan.prompt", "\"p\"", false, as_is),
    ] {
        let (settled, ignored) = settled(set, key, value);
        assert_eq!(ignored, !counts, "{key} = {value}");
        let expected =
            changed.or(counts.then_some(value)).map(|text| text.parse::<Value>().unwrap().to_string());
        assert_eq!(settled, expected, "{key} = {value}");
    }
}

#[test]
fn a_subagent_that_is_not_built_in_never_counts_and_is_told_once() {
    let file = "[subagents.own]\nprompt = \"p\"\nfuel = 1\n[subagents.\"a\\nb\"]\n[subagents.plan]\nfuel = 1";
    let loaded = load(Some(file), false, &["subagents.own.prompt=mine"]).unwrap();
    assert_eq!(keys(&loaded.ignored), [r#"subagents."a\nb""#, "subagents.own"]);
    let own = loaded.config.subagents.get("own").unwrap();
    assert_eq!((own.prompt.as_deref(), own.fuel), (Some("mine"), None));
}

#[test]
fn what_the_command_line_sets_stands_and_nobody_is_told_of_the_file() {
    let file = "[limits]\nmax_turns = 99\n[handoff]\ndenied_tools = [\"a\"]";
    let loaded = load(Some(file), false, &["limits.max_turns=70", "handoff.denied_tools=[]"]).unwrap();
    assert_eq!(loaded.config.limits.max_turns, Some(70));
    assert_eq!(loaded.config.handoff.denied_tools, Some(Vec::new()));
    assert!(loaded.ignored.is_empty());
}

#[test]
fn the_rules_name_keys_that_there_are_and_each_once() {
    let known = every_key();
    let mut seen = BTreeSet::new();
    for Rule(key, _, fallback) in RULES {
        assert!(known.contains(&key.replace('*', "explore")), "{key}");
        assert!(fallback.is_none_or(|key| known.iter().any(|one| one == key)), "{fallback:?}");
        assert!(seen.insert(key), "{key}");
    }
}

const TOOLS: [&str; 3] = ["grep_files", "read_file", "write_file"];

/// How much a configuration lets happen, each number on its own: less is narrower.
fn allowance(config: &Config) -> Vec<(String, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "made-up numbers are small")]
    let number = |value: Option<u64>, default: f64| value.map_or(default, |value| value as f64);
    let whole = |value: Option<u32>, default: f64| value.map_or(default, f64::from);
    let time = |value: Option<std::time::Duration>| value.map_or(f64::INFINITY, |time| time.as_secs_f64());
    let truth = |truth: bool| f64::from(u8::from(truth));
    let none = f64::INFINITY;
    let (handoff, purse, limits) = (&config.handoff, &config.purse, &config.limits);
    let mut all = vec![
        ("depth".to_owned(), whole(handoff.max_depth, 1.0)),
        ("retries".into(), whole(handoff.max_retries, 0.0)),
        ("timeout".into(), time(handoff.timeout)),
        ("unguarded".into(), truth(handoff.enabled == Some(false))),
        ("lenient".into(), truth(config.declarations.strict != Some(true))),
        ("places".into(), number(config.declarations.agents.as_ref().map(|all| all.len() as u64), 0.0)),
        ("denied goes on".into(), truth(handoff.on_denied != Some(HandoffFailureAction::Fail))),
        ("error goes on".into(), truth(handoff.on_error != Some(HandoffFailureAction::Fail))),
        ("retry".into(), truth(handoff.retry_after_side_effects == Some(true))),
        ("surface".into(), truth(handoff.surface != Some(DelegationSurface::None))),
        ("descendants".into(), whole(purse.descendants, 256.0)),
        ("runs".into(), whole(purse.concurrent_runs, 8.0)),
        ("purse depth".into(), whole(purse.depth, none)),
        ("turns".into(), number(purse.turns, none)),
        ("calls".into(), number(purse.tool_calls, none)),
        ("tokens".into(), number(purse.tokens, none)),
        ("cost".into(), purse.cost.unwrap_or(none)),
        ("time".into(), time(purse.time)),
        ("purse fuel".into(), number(purse.fuel, none)),
        ("max turns".into(), whole(limits.max_turns, 50.0)),
        ("memory".into(), number(limits.memory, 268_435_456.0)),
        ("fuel".into(), number(limits.fuel, 50_000_000_000.0)),
        ("result".into(), number(limits.result_bytes.map(|bytes| bytes as u64), 65_536.0)),
        ("shell".into(), truth(config.tools.shell != Some(Shell::Off))),
    ];
    for tool in TOOLS {
        let has = |names: &Option<Vec<String>>| {
            names.as_ref().is_some_and(|names| names.iter().any(|one| one == tool))
        };
        let lacks = |names: &Option<Vec<String>>| names.is_some() && !has(names);
        all.push((
            format!("handoff {tool}"),
            truth(!lacks(&handoff.allowed_tools) && !has(&handoff.denied_tools)),
        ));
        all.push((format!("no denial {tool}"), truth(!has(&config.tools.deny))));
        all.push((format!("no question {tool}"), truth(!has(&config.tools.ask))));
        for stock in STOCK {
            let own = config.subagents.get(stock.name).cloned().unwrap_or_default();
            let tools = own.tools.unwrap_or_else(|| stock.tools.iter().map(ToString::to_string).collect());
            let gets = tools.iter().any(|one| one == tool || one == INHERIT);
            let allowed = own.allowed_tools.or_else(|| handoff.allowed_tools.clone());
            let denied = own.denied_tools.or_else(|| handoff.denied_tools.clone());
            all.push((format!("{} gets {tool}", stock.name), truth(gets)));
            all.push((format!("{} may {tool}", stock.name), truth(!lacks(&allowed) && !has(&denied))));
        }
    }
    for stock in STOCK {
        let own = config.subagents.get(stock.name).cloned().unwrap_or_default();
        let turns = own.max_turns.or(limits.subagent_max_turns);
        all.push((format!("{} is there", stock.name), truth(own.enabled != Some(false))));
        all.push((format!("{} turns", stock.name), whole(turns, 50.0)));
        all.push((format!("{} memory", stock.name), number(own.memory.or(limits.memory), 268_435_456.0)));
        all.push((format!("{} fuel", stock.name), number(own.fuel.or(limits.fuel), 50_000_000_000.0)));
        all.push((format!("{} time", stock.name), time(own.timeout.or(handoff.timeout))));
    }
    all
}

/// All of a configuration that no number above stands for.
fn rest(config: &Config) -> Config {
    let mut rest = config.clone();
    (rest.handoff, rest.purse, rest.limits) = Default::default();
    (rest.tools.ask, rest.tools.deny, rest.tools.shell) = Default::default();
    rest.declarations.strict = None;
    for own in rest.subagents.values_mut() {
        (own.enabled, own.tools, own.max_turns, own.memory, own.fuel) = Default::default();
        (own.timeout, own.allowed_tools, own.denied_tools) = Default::default();
    }
    rest.subagents.retain(|_, own| *own != Default::default());
    rest
}

const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "7",
    "8",
    "9",
    "50",
    "51",
    "256",
    "257",
    "65537",
    "268435457",
    "60000000000",
    "0.5",
    "1e12",
    "true",
    "false",
    "\"1s\"",
    "\"1h\"",
    "\"9h\"",
    "\"fail\"",
    "\"fallback_to_primary\"",
    "\"tell_model\"",
    "\"confined\"",
    "\"unconfined\"",
    "\"off\"",
    "\"none\"",
    "\"spawn\"",
    "\"fresh\"",
    "\"reuse\"",
    "\"inherit\"",
    "\"word\"",
    "\"isolated\"",
    "\"worktree\"",
    "[]",
    "[\"read_file\"]",
    "[\"read_file\", \"write_file\"]",
    "[\"inherit\"]",
    "[\"grep_files\", \"inherit\"]",
];

const OPERATORS: &[&[&str]] = &[
    &[],
    &[
        "handoff.max_depth=3",
        "handoff.timeout=1m",
        "purse.cost=1",
        "limits.subagent_max_turns=8",
        "limits.memory=1000",
        "limits.fuel=2",
        "handoff.allowed_tools=[\"read_file\"]",
        "handoff.denied_tools=[\"write_file\"]",
        "tools.deny=[\"write_file\"]",
    ],
    &[
        "handoff.enabled=true",
        "handoff.max_retries=9",
        "purse.tokens=8",
        "purse.time=2h",
        "limits.subagent_max_turns=60",
        "handoff.on_error=fallback_to_primary",
        "handoff.surface=both",
        "tools.shell=unconfined",
        "subagents.explore.tools=[\"read_file\"]",
        "subagents.explore.allowed_tools=[\"read_file\"]",
        "subagents.plan.max_turns=70",
        "tools.allow=[\"write_file\"]",
        "model.spec=openai:m",
    ],
];

fn assert_no_wider(file: &str, set: &[&str]) {
    let Ok(after) = load(Some(file), false, set) else { return };
    let before = load(None, false, set).unwrap().config;
    for ((what, before), (_, after)) in allowance(&before).iter().zip(allowance(&after.config)) {
        assert!(after <= *before, "{what} went from {before} to {after} by\n{file}over {set:?}");
    }
    assert_eq!(rest(&after.config), rest(&before), "{file}over {set:?}");
}

#[test]
fn an_untrusted_file_widens_nothing_whatever_it_sets() {
    let keys = every_key();
    assert!(keys.len() > 40, "{keys:?}");
    let mut taken = 0;
    for set in OPERATORS {
        for key in &keys {
            for value in VALUES {
                let file = format!("{key} = {value}\n");
                assert_no_wider(&file, set);
                taken += usize::from(load(Some(&file), false, set).is_ok());
            }
        }
    }
    assert!(taken > 1000, "only {taken} files were read");
}

#[test]
fn an_untrusted_file_widens_nothing_by_several_keys_together() {
    // A fixed row of numbers that look drawn: the same files each time.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).unwrap()
    };
    // What each key takes.
    let fitting: Vec<(String, Vec<&str>)> = every_key()
        .into_iter()
        .map(|key| {
            let takes = |value: &&&str| load(Some(&format!("{key} = {value}")), true, &[]).is_ok();
            let values = VALUES.iter().filter(takes).copied().collect();
            (key, values)
        })
        .collect();
    assert!(fitting.iter().all(|(_, values)| !values.is_empty()));
    for _ in 0..2000 {
        let mut file = String::new();
        for (key, values) in &fitting {
            if draw(3) == 0 {
                file.push_str(&format!("{key} = {}\n", values[draw(values.len())]));
            }
        }
        assert_no_wider(&file, OPERATORS[draw(OPERATORS.len())]);
    }
}

#[test]
fn whatever_trust_would_change_is_told() {
    for set in OPERATORS {
        for key in every_key() {
            for value in VALUES {
                let file = format!("{key} = {value}\n");
                let (Ok(with), Ok(without)) = (load(Some(&file), true, set), load(Some(&file), false, set))
                else {
                    continue;
                };
                let adds = ["denied_tools", "tools.deny", "tools.ask"].iter().any(|end| key.ends_with(end));
                let differs = with.config != without.config && !adds;
                assert!(!differs || keys(&without.ignored) == [key.as_str()], "{file}over {set:?}");
                assert!(with.ignored.is_empty());
            }
        }
    }
}

#[test]
fn every_key_stands_in_the_documents() {
    let text = include_str!("../../../../docs/delegation.md");
    let toml = text.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    for key in every_key() {
        let last = key.rsplit('.').next().unwrap();
        // A component's file would have to be there; it stands in a comment.
        assert!(toml.contains(&format!("{last} = ")), "{key}");
    }
}

#[test]
fn the_bounds_are_what_the_library_starts_from() {
    let most = |key: &str| {
        let rule = RULES.iter().find(|rule| rule.0 == key).unwrap();
        match rule.1 {
            Lower(Some(most)) => u64::try_from(most).unwrap(),
            other => panic!("{key}: {other:?}"),
        }
    };
    let (handoffs, purse, guest) = (
        deputy::governance::HandoffPolicy::default(),
        deputy::governance::PurseLimits::default(),
        deputy::sandbox::GuestLimits::default(),
    );
    assert_eq!(most("handoff.max_depth"), u64::from(handoffs.max_depth));
    assert_eq!(most("handoff.max_retries"), u64::from(handoffs.max_retries));
    assert_eq!(most("purse.descendants"), u64::from(purse.descendants));
    assert_eq!(most("purse.concurrent_runs"), u64::from(purse.concurrent_runs));
    assert_eq!(most("limits.result_bytes"), deputy::history::ResultCap::default().0 as u64);
    for table in ["limits", "subagents.*"] {
        assert_eq!(most(&format!("{table}.memory")), guest.memory as u64);
        assert_eq!(most(&format!("{table}.fuel")), guest.fuel);
    }
}

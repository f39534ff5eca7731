//! Which command lines are taken, and what they come to.

use super::*;

fn parsed(line: &str) -> Result<Command, String> {
    let words = std::iter::once("deputy").chain(line.split(' '));
    Arguments::try_parse_from(words).map(|arguments| arguments.command).map_err(|error| error.to_string())
}

fn run(line: &str) -> RunArguments {
    match parsed(line).unwrap() {
        Command::Run(arguments) => arguments,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definition_holds_together() {
    Arguments::command().debug_assert();
}

#[test]
fn a_run_without_flags_has_the_documented_defaults() {
    let run = run("run hello");
    assert_eq!(
        (run.task.as_deref(), run.file, run.settings.workspace),
        (Some("hello"), None, PathBuf::from("."))
    );
    assert_eq!((run.output, run.shell, run.max_turns), (Output::Text, None, None));
    assert!(!run.yes && !run.quiet && !run.no_parallel && !run.trace_guest && !run.model.no_stream);
    assert!(run.rules.allow.is_empty() && run.rules.deny.is_empty() && run.settings.subagent.is_empty());
}

#[test]
fn rules_are_repeated_or_parted_by_commas() {
    let rules = run("run --allow write_file,edit_file --allow fetch_url --deny run_command x").rules;
    assert_eq!(rules.allow, ["write_file", "edit_file", "fetch_url"]);
    assert_eq!(rules.deny, ["run_command"]);
}

#[test]
fn a_dash_is_a_task_and_a_task_after_two_dashes_may_look_like_a_flag() {
    assert_eq!(run("run -").task.as_deref(), Some("-"));
    assert_eq!(run("run -- --yes").task.as_deref(), Some("--yes"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    for line in [
        "run --file task.txt hello",
        "run --max-turns 0 x",
        "run --max-turns many x",
        "run --output yaml x",
        "run --shell bare x",
        "run one two",
        "run --continue --session x y",
        "run --continue --no-store y",
        "trust",
        "trust --list .",
        "sessions forget",
        "sessions forget x --all",
        "explain",
        "inspect",
        "completions tcl",
        "frobnicate",
    ] {
        assert!(parsed(line).is_err(), "{line}");
    }
}

#[test]
fn a_grant_tells_none_given_from_an_empty_one() {
    let grant = |line: &str| match parsed(line).unwrap() {
        Command::Check(arguments) => arguments.grant,
        other => panic!("{other:?}"),
    };
    assert_eq!(grant("check explore"), None);
    assert_eq!(grant("check explore --grant="), Some(vec![String::new()]));
    assert_eq!(grant("check explore --grant read_file,grep_files").unwrap(), ["read_file", "grep_files"]);
}

#[test]
fn flags_of_agents_stand_before_and_after_show() {
    for line in ["agents --json show explore", "agents show explore --json"] {
        let Command::Agents(arguments) = parsed(line).unwrap() else { panic!("{line}") };
        assert!(arguments.json, "{line}");
    }
}

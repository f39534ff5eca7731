//! Runs each file of `tests/cases/exec`: a command line and what has to come of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use deputy::tools::ToolError;
use serde::Deserialize;

use super::Test;
use super::ground::Ground;

pub(crate) const TESTS: &[Test] =
    &[("each_case_file_comes_out_as_it_says", each_case_file_comes_out_as_it_says)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    #[serde(default)]
    host_env: BTreeMap<String, String>,
    command: String,
    timeout_ms: u64,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    within_ms: u64,
    #[serde(default)]
    timed_out: bool,
    exit_code: Option<i32>,
    output: Option<String>,
    bytes_at_most: Option<usize>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
}

fn all() -> Vec<(String, Case)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/exec");
    let mut cases: Vec<(String, Case)> = fs::read_dir(directory)
        .expect("the cases")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a case");
            let case = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, case)
        })
        .collect();
    cases.sort_by(|left, right| left.0.cmp(&right.0));
    cases
}

/// What the host has in its environment while the cases run.
pub(crate) fn host_environment() -> BTreeMap<String, String> {
    all().into_iter().flat_map(|(_, case)| case.host_env).collect()
}

fn each_case_file_comes_out_as_it_says() {
    let cases = all();
    assert!(cases.len() > 10, "the cases are there");
    let wrong: Vec<String> = cases.iter().filter_map(|(name, case)| run(name, case).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn run(name: &str, case: &Case) -> Result<(), String> {
    for (variable, value) in &case.host_env {
        assert_eq!(std::env::var(variable).as_ref(), Ok(value), "the host holds the secret");
    }
    let ground = Ground::any();
    let begin = Instant::now();
    let result = ground.shell_within(&case.command, case.timeout_ms);
    let took = begin.elapsed();
    let expect = &case.expect;
    let text = match &result {
        Ok(seen) => seen.text.clone(),
        Err(error) => error.to_string(),
    };
    let shown: String = text.chars().take(600).collect();
    let check = |holds: bool, what: &str| {
        if holds { Ok(()) } else { Err(format!("{name} ({}): {what}; got: {shown}", case.about)) }
    };
    check(matches!(result, Err(ToolError::TimedOut(_))) == expect.timed_out, "time limit")?;
    if let Ok(seen) = &result {
        check(seen.exit_code == expect.exit_code, "exit code")?;
        check(expect.output.as_ref().is_none_or(|output| output == &seen.output), "output")?;
    } else {
        check(expect.timed_out, "no result")?;
    }
    check(took < Duration::from_millis(expect.within_ms), &format!("took {took:?}"))?;
    check(expect.bytes_at_most.is_none_or(|most| text.len() <= most), &format!("{} bytes", text.len()))?;
    for part in &expect.contains {
        check(text.contains(part), &format!("lacks {part:?}"))?;
    }
    for part in &expect.never {
        check(!text.contains(part), &format!("holds {part:?}"))?;
    }
    let left = ground.processes_left();
    check(left.is_empty(), &format!("processes are left: {left:?}"))
}

//! Holds the command tools to what they promise, with real processes on the real machine. Has a `main` of
//! its own because commands are run by this very program started again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "all of this is tests, which clippy cannot know of a program with a `main` of its own"
)]

#[path = "commands/attacks.rs"]
mod attacks;
#[path = "commands/background.rs"]
mod background;
#[path = "commands/cases.rs"]
mod cases;
#[path = "commands/confined.rs"]
mod confined;
#[path = "commands/ground.rs"]
mod ground;
#[path = "commands/refusals.rs"]
mod refusals;
#[path = "commands/supervised.rs"]
mod supervised;

use std::panic::catch_unwind;
use std::process::{Command, ExitCode};

/// One test: its name and what it does.
type Test = (&'static str, fn());

/// In the environment once it holds what no command may see.
const PREPARED: &str = "DEPUTY_TEST_PREPARED";

fn main() -> ExitCode {
    if let Some(code) = deputy::tools::exec_helper::main(std::env::args_os()) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = attacks::main(&arguments).or_else(|| supervised::host_main(&arguments)) {
        return code;
    }
    if std::env::var_os(PREPARED).is_none() {
        return with_secrets(&arguments);
    }
    let tests =
        [background::TESTS, supervised::TESTS, refusals::TESTS, confined::TESTS, cases::TESTS].concat();
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let mut failed = Vec::new();
    let mut count = 0;
    for (name, test) in tests {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            count += 1;
            let passed = catch_unwind(test).is_ok();
            println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
            if !passed {
                failed.push(name);
            }
        }
    }
    println!("\n{count} tests, failed: {failed:?}");
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs this program again in an environment with secrets, as a host has them.
fn with_secrets(arguments: &[String]) -> ExitCode {
    let program = std::env::current_exe().expect("this program has a path");
    let mut again = Command::new(program);
    again.args(arguments).env(PREPARED, ground::CANARY).envs(cases::host_environment());
    match again.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

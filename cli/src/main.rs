//! The `deputy` command. Hands over to one file a command; must not do anything itself.

mod agents;
mod approve;
mod arguments;
mod cache;
mod check;
#[cfg_attr(not(test), expect(dead_code, unused_imports, reason = "wired with the run command"))]
mod config;
mod ending;
mod environment;
mod inspect;
mod new;
mod private;
mod render;
mod run;
mod settings;
#[cfg_attr(not(test), expect(dead_code, reason = "wired with the run command"))]
mod state;
mod subagents;
#[cfg_attr(not(test), expect(dead_code, reason = "wired with the run command"))]
mod trust;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use ending::Ending;

fn main() -> ExitCode {
    if let Some(code) = deputy::tools::exec_helper::main(std::env::args_os()) {
        return code;
    }
    let ended = match Arguments::parse().command {
        Command::Run(arguments) => run::run(arguments),
        Command::Agents(arguments) => agents::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Completions { shell } => Ok(arguments::completions(shell)),
    };
    ended.unwrap_or_else(|error| Ending::told(&error)).into()
}

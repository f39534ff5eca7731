//! The `deputy` command. Hands over to one file a command; must not do anything itself.

mod agents;
mod approve;
mod arguments;
mod cache;
mod check;
mod config;
mod declarations;
mod ending;
mod environment;
mod explain;
mod inspect;
mod new;
mod private;
mod render;
mod run;
mod sessions;
mod settings;
mod setup;
mod state;
mod subagents;
mod task_records;
mod tasks;
mod trust;
mod trust_command;
mod worktrees;

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
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Trust(arguments) => trust_command::run(&arguments),
        Command::Sessions(arguments) => sessions::run(&arguments),
        Command::Tasks(arguments) => tasks::run(&arguments),
        Command::Worktrees(arguments) => worktrees::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Completions { shell } => Ok(arguments::completions(shell)),
    };
    ended.unwrap_or_else(|error| Ending::told(&error)).into()
}

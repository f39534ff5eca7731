//! What `deputy tasks` takes. Parses only: no store is opened here.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  deputy tasks\n  deputy tasks list --status running --json\n  deputy tasks wait 0199c2a4 --timeout 30s\n  deputy tasks cancel 0199c2a4\n\nExit codes of `wait`: 0 it completed; 1 it ended otherwise, or there is none; 4 the time ran out first; 2 wrong usage"
)]
pub(crate) struct TasksArguments {
    #[command(subcommand)]
    pub(crate) command: Option<TasksCommand>,
    /// The workspace that the tasks belong to
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) workspace: PathBuf,
    /// As JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// List them, newest first, as without a command; what a task started stands below it
    List {
        /// Only those in this state
        #[arg(long, value_enum, default_value_t = StateFilter::All)]
        status: StateFilter,
        /// Only those that this conversation is told of (see `deputy sessions`)
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Show all that is known of one
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Wait until one has ended, and print its result
    Wait {
        /// Its id, or the beginning of it
        id: String,
        /// How long at most, such as 30s or 5m; default: as long as it takes
        #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
        timeout: Option<Duration>,
    },
    /// Stop one and all that it started
    Cancel {
        /// Its id, or the beginning of it
        id: String,
    },
}

/// States of a task, and all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateFilter {
    /// Waits for a place to run
    Pending,
    /// Is being worked on
    Running,
    /// Ended with a result
    Completed,
    /// Ended without one
    Failed,
    /// Was stopped
    Cancelled,
    /// Never began: the process that held it died
    Lost,
    /// Whatever its state
    All,
}

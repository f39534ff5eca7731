//! What the command line takes. Parses only: nothing is opened, read or decided here.

mod tasks;

use std::path::PathBuf;

use crate::ending::Ending;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use serde::Deserialize;
pub(crate) use tasks::{StateFilter, TasksArguments, TasksCommand};

/// What all help texts end with.
const ENVIRONMENT: &str = "Environment:
  DEPUTY_MODEL         model where --model is not given
  OPENAI_API_KEY       key for openai: models; OPENAI_BASE_URL names another server
  ANTHROPIC_API_KEY    key for anthropic: models; ANTHROPIC_BASE_URL names another server
  XDG_CONFIG_HOME      where your own agent files are (in deputy/subagents/); default ~/.config
  XDG_CACHE_HOME       where compiled components are kept (in deputy/); default ~/.cache
  XDG_STATE_HOME       where conversations and the trust list are kept (in deputy/); default ~/.local/state
  NO_COLOR             no colour

Exit codes:
  0  answered            3  denied
  1  failed              4  stopped at a limit; what there is of an answer is printed
  2  wrong usage         130, 143  interrupted (SIGINT, SIGTERM)";

/// Runs agents that delegate to subagents which nobody has to trust.
#[derive(Debug, Parser)]
#[command(name = "deputy", version, after_help = ENVIRONMENT, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Work on one task with a parent agent and its subagents
    Run(RunArguments),
    /// List the subagents, or show one
    Agents(AgentsArguments),
    /// Say what a component can and cannot do, read from its bytes; nothing of it runs
    Inspect(InspectArguments),
    /// Say whether a component would run with a grant, and what is missing; nothing of it runs
    Check(CheckArguments),
    /// Say whether an agent may call a tool, by which rule, and what would change that; nothing runs
    Explain(ExplainArguments),
    /// Let a workspace's deputy.toml and agent files count whole, as they are now
    Trust(TrustArguments),
    /// List the conversations that are kept, or forget some
    Sessions(SessionsArguments),
    /// List the background tasks of a workspace; show one, wait for it or stop it
    Tasks(TasksArguments),
    /// List the worktrees in which subagents left work; show, apply or discard one
    Worktrees(WorktreesArguments),
    /// Start a new subagent: a crate that builds to a component
    New(NewArguments),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  deputy completions bash > ~/.local/share/bash-completion/completions/deputy"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// How a run tells its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The answer as text
    Text,
    /// One JSON object at the end
    Json,
    /// One JSON object an event, the result last
    Jsonl,
}

/// How commands run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shell {
    /// Confined to the workspace, without network; not offered where this machine cannot do that
    Confined,
    /// Bare, as the user who runs deputy: your choice, and said so
    Unconfined,
    /// No tool starts a process
    Off,
}

/// The model and how it is reached.
#[derive(Args, Clone, Debug)]
pub(crate) struct ModelArguments {
    /// Model: openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE
    #[arg(long, value_name = "SPEC")]
    pub(crate) model: Option<String>,
    /// Address of the model server, for any server that speaks the model's protocol
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Seconds that a model server may be silent [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) model_timeout: Option<u64>,
    /// Ask the model server for whole answers instead of streams
    #[arg(long)]
    pub(crate) no_stream: bool,
}

/// Where settings come from: a workspace, its configuration, and what the command line sets.
#[derive(Args, Clone, Debug)]
pub(crate) struct SettingArguments {
    /// Directory that a run may touch; its deputy.toml can only narrow, until it is trusted
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) workspace: PathBuf,
    /// Configuration file that counts whole, in place of the workspace's own
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Set one key of the configuration, such as handoff.max_depth=2 (repeat it for more)
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub(crate) set: Vec<String>,
    /// Register a component as a subagent, named by its file (repeat it for more)
    #[arg(long, value_name = "FILE.wasm", global = true)]
    pub(crate) subagent: Vec<PathBuf>,
    /// Register the agent files (*.md) of a directory, such as .claude/agents (repeat it for more)
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) agents: Vec<PathBuf>,
}

/// Rules on tools.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RuleArguments {
    /// Allow a tool without a question (repeat it, or separate names by commas)
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
    /// Deny a tool; wins over every other rule
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = format!("Examples:\n  deputy run --model openai:gpt-4o \"Where are retries decided?\"\n  deputy run --continue \"And where are they tested?\"\n  git diff | deputy run --model anthropic:claude-sonnet-4-5 --output json -\n\n{ENVIRONMENT}"))]
pub(crate) struct RunArguments {
    /// The task; `-` reads it from standard input
    #[arg(value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// How the end is told on standard output
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
    /// Model turns that the parent may take [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// Run the calls of one turn one after another
    #[arg(long)]
    pub(crate) no_parallel: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArguments,
    /// Answer yes to whatever would ask; what is denied stays denied
    #[arg(long)]
    pub(crate) yes: bool,
    /// How commands run [default: confined]
    #[arg(long, value_enum)]
    pub(crate) shell: Option<Shell>,
    /// Whom the run works for: subagents that reuse their conversation have one for each user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) user: String,
    /// Go on with the newest conversation of this workspace and user
    #[arg(long = "continue", conflicts_with = "session")]
    pub(crate) go_on: bool,
    /// Go on with this conversation (see `deputy sessions`)
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Keep no conversation of this run
    #[arg(long, conflicts_with_all = ["go_on", "session"])]
    pub(crate) no_store: bool,
    /// System text of the parent instead of the built-in one
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Nothing on standard error but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Show what components write to their output; else only what failed ones wrote
    #[arg(long)]
    pub(crate) trace_guest: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  deputy agents\n  deputy agents --agents .claude/agents --json\n  deputy agents show explore --json"
)]
pub(crate) struct AgentsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
    /// As JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// Show one subagent with its prompt and its imports
    Show {
        /// Its id
        id: String,
    },
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  deputy inspect explore\n  deputy inspect target/wasm32-wasip2/release/reviewer.wasm --json"
)]
pub(crate) struct InspectArguments {
    /// A component file, or the name of a stock subagent
    #[arg(value_name = "FILE.wasm|NAME")]
    pub(crate) component: String,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a run is supposed to be set up with, where none takes place.
#[derive(Args, Clone, Debug)]
pub(crate) struct SupposedArguments {
    #[command(flatten)]
    pub(crate) settings: SettingArguments,
    #[command(flatten)]
    pub(crate) rules: RuleArguments,
    /// How commands would run [default: confined]
    #[arg(long, value_enum)]
    pub(crate) shell: Option<Shell>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  deputy check general --grant read_file,grep_files\n\nExit codes: 0 it would run, 3 it would be refused, 2 wrong usage, 1 no component for this host"
)]
pub(crate) struct CheckArguments {
    /// A component file, or the name of a subagent
    #[arg(value_name = "FILE.wasm|NAME")]
    pub(crate) component: String,
    /// Exactly these tools are granted; default: those that it imports
    #[arg(long, value_name = "TOOL,…", value_delimiter = ',')]
    pub(crate) grant: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) supposed: SupposedArguments,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  deputy explain write_file\n  deputy explain run_command --agent verify --shell off\n\nExit codes: 0 it may, perhaps after a question; 3 it may not; 2 wrong usage"
)]
pub(crate) struct ExplainArguments {
    /// The tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// The agent that would call it: `parent`, or a subagent that the parent delegates to
    #[arg(long, value_name = "NAME", default_value = "parent")]
    pub(crate) agent: String,
    #[command(flatten)]
    pub(crate) supposed: SupposedArguments,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  deputy trust .\n  deputy trust --list\n  deputy trust --revoke ../old\n\nTrust covers deputy.toml and the agent files in subagents and .claude/agents, with their components. It is bound to what each file holds now: a changed file is not trusted."
)]
pub(crate) struct TrustArguments {
    /// The workspace
    #[arg(value_name = "DIR", required_unless_present = "list")]
    pub(crate) directory: Option<PathBuf>,
    /// Take the workspace off the list
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Trust the agent files of this directory of the workspace as well (repeat it for more)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "revoke"])]
    pub(crate) agents: Vec<PathBuf>,
    /// Say what is trusted
    #[arg(long, conflicts_with_all = ["directory", "revoke"])]
    pub(crate) list: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  deputy sessions\n  deputy sessions forget 0199c2a4-7d1f-7c3e-9f0e-2b1f6a7c8d90\n  deputy sessions forget --all"
)]
pub(crate) struct SessionsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    /// The workspace that the conversations belong to
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) workspace: PathBuf,
    /// As JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Forget a conversation: the next one begins anew
    Forget {
        /// Its id
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Forget all of the workspace
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  deputy worktrees\n  deputy worktrees diff general-01a2b3")]
pub(crate) struct WorktreesArguments {
    #[command(subcommand)]
    pub(crate) command: Option<WorktreesCommand>,
    /// The workspace that the worktrees belong to
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    pub(crate) workspace: PathBuf,
    /// As JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorktreesCommand {
    /// List them, as without a command
    List,
    /// Show what was changed in one
    Diff {
        /// Its id
        id: String,
    },
    /// Bring the changes of one into the workspace, all or none; nothing is staged
    Apply {
        /// Its id
        id: String,
    },
    /// Delete one with its branch and all work in it
    Discard {
        /// Its id
        id: String,
    },
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  deputy new tide-reader --sdk ../deputy/guest-sdk")]
pub(crate) struct NewArguments {
    /// Its name: lower-case words joined by `-`
    pub(crate) name: String,
    /// Where to make it; default: a directory of its name
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// Path of the guest SDK; default: the published crate
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Ending {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "deputy", &mut script);
    crate::render::out(&String::from_utf8_lossy(&script));
    Ending::Answered
}

#[cfg(test)]
mod tests;

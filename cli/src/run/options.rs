//! What a run is to do, settled: flags, files and environment together. Must not start anything.

use std::path::PathBuf;

use deputy::governance::Policy;
use deputy::model::ModelConfig;

use super::task;
use crate::arguments::{RunArguments, Shell};
use crate::environment::{Variables, model};
use crate::settings;

/// The settled options of one run.
#[derive(Debug)]
pub(super) struct RunOptions {
    pub(super) task: String,
    pub(super) workspace: PathBuf,
    pub(super) model: ModelConfig,
    pub(super) policy: Policy,
    pub(super) shell: Shell,
    pub(super) subagents: Vec<PathBuf>,
    pub(super) system: Option<String>,
    pub(super) max_turns: u32,
    pub(super) parallel: bool,
    pub(super) quiet: bool,
}

impl RunOptions {
    /// Settles the arguments against the environment and reads the task.
    pub(super) fn resolve(arguments: RunArguments, variables: &Variables<'_>) -> anyhow::Result<Self> {
        let model = model(&arguments.model, variables)?;
        Ok(Self {
            task: task::read(arguments.task.as_deref(), arguments.file.as_deref())?,
            workspace: arguments.workspace,
            model,
            policy: settings::policy(&arguments.rules, arguments.yes),
            shell: arguments.shell,
            subagents: arguments.subagent,
            system: arguments.system,
            max_turns: arguments.max_turns,
            parallel: !arguments.no_parallel,
            quiet: arguments.quiet,
        })
    }
}

//! What a run is to do, settled: flags, files and environment together. Must not start anything.

use deputy::host::{Continue, RunRequest};
use deputy::model::ModelConfig;

use super::models::connect_own;
use super::task;
use crate::arguments::RunArguments;
use crate::environment::{Variables, model};
use crate::setup::Setup;

/// The settled options of one run.
#[derive(Debug)]
pub(super) struct RunOptions {
    pub(super) request: RunRequest,
    pub(super) setup: Setup,
    pub(super) model: ModelConfig,
    pub(super) system: Option<String>,
    pub(super) max_turns: Option<u32>,
    pub(super) parallel: bool,
    pub(super) quiet: bool,
    pub(super) store: bool,
}

impl RunOptions {
    /// Settles the arguments against configuration and environment, and reads the task.
    pub(super) fn resolve(arguments: RunArguments, variables: &Variables<'_>) -> anyhow::Result<Self> {
        let RunArguments { settings, rules, yes, shell, quiet, .. } = &arguments;
        let mut setup = Setup::load(settings, rules, *yes, *shell, *quiet)?;
        let model = model(&arguments.model, variables, &setup.config.model)?;
        connect_own(&mut setup, &model, variables, *quiet);
        let task = task::read(arguments.task.as_deref(), arguments.file.as_deref())?;
        let request = RunRequest::new(task).user(arguments.user);
        let request = match (arguments.session, arguments.go_on) {
            (Some(session), _) => request.resume(Continue::Session(session.into())),
            (None, true) => request.resume(Continue::Newest),
            (None, false) => request,
        };
        Ok(Self {
            request,
            setup,
            model,
            system: arguments.system,
            max_turns: arguments.max_turns,
            parallel: !arguments.no_parallel,
            quiet: arguments.quiet,
            store: !arguments.no_store,
        })
    }
}

//! `run_command`: one command line by the shell, in the workspace. Must not run anything unconfined on its
//! own account.

use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::RunCommand;

use super::process::{self, Finished, Wanted};
use super::{CallContext, Confinement, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The operation behind `run_command`.
#[derive(Debug)]
pub struct RunCommandTool {
    confinement: Arc<Confinement>,
}

impl RunCommandTool {
    /// Commands shut in by `confinement`.
    #[must_use]
    pub fn new(confinement: Arc<Confinement>) -> Self {
        Self { confinement }
    }

    /// What shuts its commands in.
    pub(super) fn confinement(&self) -> &Arc<Confinement> {
        &self.confinement
    }
}

/// What a permitted call wants run.
pub(super) fn wanted(permit: Permit<RunCommand>) -> Wanted {
    let write_workspace = permit.may_write();
    let RunCommand { command, timeout_ms } = permit.into_arguments();
    // The dashes keep a command line that begins with one from being read as options.
    let args = vec!["-c".to_owned(), "--".to_owned(), command];
    Wanted { program: "/bin/sh".to_owned(), args, timeout_ms, write_workspace }
}

#[async_trait]
impl Operation for RunCommandTool {
    type Arguments = RunCommand;
    type Output = Finished;

    const EFFECT: Effect = Effect::Shell;

    async fn run(&self, permit: Permit<RunCommand>, context: &CallContext) -> Result<Finished, ToolError> {
        process::run(&self.confinement, wanted(permit), context).await
    }

    fn render(&self, output: Finished) -> String {
        process::render(&output)
    }
}

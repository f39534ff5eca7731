//! `run_command`: a line for the shell, confined. Must not run anything itself: the helper does.

use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::RunCommand;

use super::confinement::Confinement;
use super::exec_helper::Start;
use super::process::{Finished, run};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// Runs shell commands.
#[derive(Clone, Debug)]
pub struct RunCommandTool {
    confinement: Arc<Confinement>,
}

impl RunCommandTool {
    /// Runs them under `confinement`.
    #[must_use]
    pub fn new(confinement: Arc<Confinement>) -> Self {
        Self { confinement }
    }
}

#[async_trait]
impl Operation for RunCommandTool {
    type Arguments = RunCommand;
    type Output = Finished;
    const EFFECT: Effect = Effect::Shell;

    async fn run(&self, permit: Permit<RunCommand>, context: &CallContext) -> Result<Finished, ToolError> {
        // File access follows the grant: who may not write cannot have a command write for him.
        let writable = permit.rights().may_write();
        let RunCommand { command, timeout_ms } = permit.into_arguments();
        if command.trim().is_empty() || command.contains('\0') {
            return Err(ToolError::InvalidArguments(
                "`command` is empty or holds a NUL character".to_owned(),
            ));
        }
        run(&self.confinement, Start::Shell(command), timeout_ms, writable, context).await
    }

    fn render(&self, finished: Finished) -> String {
        finished.render()
    }
}

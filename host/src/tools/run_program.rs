//! `run_program`: one program with exactly its arguments, in the workspace. No shell reads them.

use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::RunProgram;

use super::process::{self, Finished, Wanted};
use super::{CallContext, Confinement, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The operation behind `run_program`.
#[derive(Debug)]
pub struct RunProgramTool {
    confinement: Arc<Confinement>,
}

impl RunProgramTool {
    /// Programs shut in by `confinement`.
    #[must_use]
    pub fn new(confinement: Arc<Confinement>) -> Self {
        Self { confinement }
    }
}

#[async_trait]
impl Operation for RunProgramTool {
    type Arguments = RunProgram;
    type Output = Finished;

    const EFFECT: Effect = Effect::Shell;

    async fn run(&self, permit: Permit<RunProgram>, context: &CallContext) -> Result<Finished, ToolError> {
        let write_workspace = permit.may_write();
        let RunProgram { program, args, timeout_ms } = permit.into_arguments();
        let wanted = Wanted { program, args, timeout_ms, write_workspace };
        process::run(&self.confinement, wanted, context).await
    }

    fn render(&self, output: Finished) -> String {
        process::render(&output)
    }
}

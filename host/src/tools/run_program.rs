//! `run_program`: one program with exactly these arguments, no shell between, confined. Must not look programs
//! up anywhere but on the fixed search path and in the workspace.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use deputy_contract::RunProgram;

use super::confinement::Confinement;
use super::exec_helper::{SEARCH_PATH, Start};
use super::path::shown;
use super::process::{Finished, run};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// Runs programs.
#[derive(Clone, Debug)]
pub struct RunProgramTool {
    confinement: Arc<Confinement>,
}

impl RunProgramTool {
    /// Runs them under `confinement`.
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
        let writable = permit.rights().may_write();
        let RunProgram { program, args, timeout_ms } = permit.into_arguments();
        if program.trim().is_empty() || program.contains('\0') || args.iter().any(|arg| arg.contains('\0')) {
            let text = "`program` is empty, or it or an argument holds a NUL character";
            return Err(ToolError::InvalidArguments(text.to_owned()));
        }
        if !is_there(&program, context) {
            return Err(ToolError::NotFound(format!(
                "there is no program `{}`: expected a name on {SEARCH_PATH}, or a path in the workspace",
                shown(Path::new(&program))
            )));
        }
        run(&self.confinement, Start::Program(program, args), timeout_ms, writable, context).await
    }

    fn render(&self, finished: Finished) -> String {
        finished.render()
    }
}

/// True where a file of the name is where the program would be looked for.
fn is_there(program: &str, context: &CallContext) -> bool {
    if program.contains('/') {
        return context.workspace.path().join(program).is_file();
    }
    SEARCH_PATH.split(':').any(|directory| Path::new(directory).join(program).is_file())
}

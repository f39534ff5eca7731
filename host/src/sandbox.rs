//! Runs one component under one run's rights, and says how it ended. Every run has a store of its own that is
//! dropped with it. Must not make rights, and must not know why a run was allowed.

mod component;
mod engine;
mod fuel;
mod limits;
mod linker;
mod outcome;
mod record;
mod refusal;
mod run_guest;
mod surface;
mod ticker;
mod wasi;

use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

pub use component::{Component, ComponentError, sha256};
pub use engine::SandboxError;
pub use limits::{GuestLimits, SandboxOptions};
pub use outcome::{EndCause, GuestReport, Outcome};
pub use refusal::MissingImport;
pub use surface::Surface;

use crate::calls::CallExecutor;
use crate::governance::Permit;
use crate::history::History;
use crate::ids::ToolName;
use crate::model::ToolDescription;
use crate::run::RunScope;
use crate::tools::Builtins;

/// The engine that all guests of a host share, and the threads that they run on.
#[derive(Debug)]
pub struct Sandbox {
    engine: engine::GuestEngine,
    /// Guests spin on threads of their own, so that nothing else waits for them. `Some` until dropped.
    runtime: Option<Runtime>,
}

/// One guest about to run.
#[derive(Debug)]
pub struct Guest {
    /// What to run.
    pub component: Arc<Component>,
    /// The run that it is.
    pub scope: Arc<RunScope>,
    /// Where calls of handed-over tools go.
    pub executor: Arc<dyn CallExecutor>,
    /// The tools behind its typed imports.
    pub builtins: Builtins,
    /// The tools to hand over.
    pub handed: Vec<ToolDescription>,
    /// System text for components that bring none.
    pub instructions: Option<Arc<str>>,
    /// Its conversation: empty, or that of the session that it continues.
    pub history: Arc<tokio::sync::Mutex<History>>,
    /// Its limits.
    pub limits: GuestLimits,
}

impl Sandbox {
    /// Makes an engine and starts its threads.
    ///
    /// # Errors
    /// [`SandboxError`] where this machine cannot run guests as configured.
    pub fn new(options: &SandboxOptions) -> Result<Self, SandboxError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(options.threads.max(1))
            .thread_name("deputy-guest")
            .enable_all()
            .build()
            .map_err(|error| SandboxError::Threads(error.to_string()))?;
        Ok(Self { engine: engine::GuestEngine::new(options)?, runtime: Some(runtime) })
    }

    /// Compiles a component and links what `rights` grant, without running it: what `run` does first.
    ///
    /// # Errors
    /// [`ComponentError`] where it imports what is not granted, or does not compile.
    pub async fn prepare(
        &self,
        component: &Arc<Component>,
        rights: &crate::governance::Rights,
    ) -> Result<(), ComponentError> {
        component.check(rights)?;
        linker::instance_pre(&self.engine, component, rights).await.map(|_| ())
    }

    /// Runs `guest` on the task that `permit` allowed, and returns once nothing of it is left running.
    /// Dropping the future stops the guest as well, but cannot wait for it.
    ///
    /// # Errors
    /// [`ComponentError`] where nothing ran.
    pub async fn run(&self, permit: Permit<ToolName>, guest: Guest) -> Result<GuestReport, ComponentError> {
        // One permit, one attempt: it is used up here.
        drop(permit);
        guest.component.check(&guest.scope.rights)?;
        let compiled = linker::instance_pre(&self.engine, &guest.component, &guest.scope.rights);
        let pre = tokio::select! {
            biased;
            pre = compiled => pre?,
            // A compiler cannot be stopped, but nobody has to wait for it: what it makes serves the next run.
            () = guest.scope.cancel.cancelled() => {
                return Ok(run_guest::not_run(record::stopped(&guest.scope)));
            }
        };
        Ok(run_guest::run(&self.engine, self.runtime(), pre, guest).await)
    }

    fn runtime(&self) -> Handle {
        match &self.runtime {
            Some(runtime) => runtime.handle().clone(),
            // Only `drop` takes it; there is no sandbox to call after that.
            None => Handle::current(),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // A runtime must not be dropped where it would block; guests that still run end with their stores.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

//! The `types` interface: the task as a guest reads it. Must not change anything.

use wasmtime::component::Resource;

use super::GuestState;
use crate::bindings::TaskHandle;
use crate::bindings::deputy::agent::types;

impl types::Host for GuestState {}

impl types::HostTask for GuestState {
    async fn id(&mut self, _task: Resource<TaskHandle>) -> wasmtime::Result<String> {
        Ok(self.scope.id.to_string())
    }

    async fn input(&mut self, _task: Resource<TaskHandle>) -> wasmtime::Result<String> {
        Ok(self.scope.task.to_string())
    }

    async fn instructions(&mut self, _task: Resource<TaskHandle>) -> wasmtime::Result<Option<String>> {
        Ok(self.instructions.as_deref().map(str::to_owned))
    }

    async fn max_turns(&mut self, _task: Resource<TaskHandle>) -> wasmtime::Result<u32> {
        Ok(self.scope.max_turns)
    }

    async fn time_left_ms(&mut self, _task: Resource<TaskHandle>) -> wasmtime::Result<Option<u64>> {
        Ok(self.deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
        }))
    }

    async fn drop(&mut self, task: Resource<TaskHandle>) -> wasmtime::Result<()> {
        self.table.delete(task)?;
        Ok(())
    }
}

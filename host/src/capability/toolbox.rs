//! The `toolbox` interface: tools handed over one by one. A guest names no tool here, it holds it.
//! Must not look a tool up by a name that a guest sends.

use futures_util::future::join_all;
use wasmtime::component::Resource;

use super::GuestState;
use crate::bindings::ToolHandle;
use crate::bindings::deputy::agent::toolbox::{self, Request};
use crate::bindings::deputy::agent::types::{ToolError, ToolSpec};
use crate::calls::Fault;
use crate::history::{Arguments, ToolCall};
use crate::ids::{CallId, ToolName};
use crate::tools::ToolError as HostToolError;

/// Most calls of one `call-all`.
const SIDE_BY_SIDE: usize = 64;

impl GuestState {
    fn call_of(&self, tool: &Resource<ToolHandle>, arguments: String) -> wasmtime::Result<ToolCall> {
        let name = ToolName::from(self.table.get(tool)?.description.name.as_str());
        Ok(ToolCall { id: CallId::made_up(), name, arguments: Arguments::from(arguments) })
    }

    async fn run_calls(
        &mut self,
        calls: Vec<ToolCall>,
    ) -> wasmtime::Result<Vec<Result<String, HostToolError>>> {
        let (scope, executor) = (self.scope.clone(), self.executor.clone());
        let results: Vec<Result<_, Fault>> = self
            .outside(async move { join_all(calls.iter().map(|call| executor.execute(&scope, call))).await })
            .await?;
        results.into_iter().map(|result| result.map_err(|fault| self.fault(fault))).collect()
    }
}

impl toolbox::Host for GuestState {
    async fn call_all(&mut self, requests: Vec<Request>) -> wasmtime::Result<Vec<Result<String, ToolError>>> {
        if requests.len() > SIDE_BY_SIDE {
            let refused = || {
                let text = format!("{} calls side by side, expected at most {SIDE_BY_SIDE}", requests.len());
                Err(ToolError::InvalidArguments(text))
            };
            return Ok(requests.iter().map(|_| refused()).collect());
        }
        let calls = requests
            .into_iter()
            .map(|request| self.call_of(&request.tool, request.arguments))
            .collect::<wasmtime::Result<Vec<_>>>()?;
        let results = self.run_calls(calls).await?;
        Ok(results.into_iter().map(|result| result.map_err(Into::into)).collect())
    }
}

impl toolbox::HostTool for GuestState {
    async fn spec(&mut self, tool: Resource<ToolHandle>) -> wasmtime::Result<ToolSpec> {
        Ok(self.table.get(&tool)?.description.clone().into())
    }

    async fn call(
        &mut self,
        tool: Resource<ToolHandle>,
        arguments: String,
    ) -> wasmtime::Result<Result<String, ToolError>> {
        let call = self.call_of(&tool, arguments)?;
        let mut results = self.run_calls(vec![call]).await?;
        Ok(results.pop().unwrap_or(Err(HostToolError::Cancelled)).map_err(Into::into))
    }

    async fn drop(&mut self, tool: Resource<ToolHandle>) -> wasmtime::Result<()> {
        self.table.delete(tool)?;
        Ok(())
    }
}

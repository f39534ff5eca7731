//! The person, or what stands for one, that says yes or no to a single call. Must not remember for others.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::ids::{AgentName, ToolName};

/// One call that a policy wants a person to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// Who asks.
    pub agent: AgentName,
    /// The tool.
    pub tool: ToolName,
    /// The arguments, as JSON.
    pub arguments: String,
    /// The task that the agent works on.
    pub task: String,
    /// SHA-256 over tool, arguments and task, hex: a yes is to this and to nothing else.
    pub digest: String,
}

/// Says yes or no to one call.
#[async_trait]
pub trait Approver: Send + Sync + Debug {
    /// True: this call, with these arguments, for this task, may run.
    async fn approve(&self, request: &ApprovalRequest) -> bool;

    /// False where there is nobody to ask; a denial then says so.
    fn is_there(&self) -> bool {
        true
    }
}

/// Nobody to ask: every question is answered with no.
#[derive(Clone, Copy, Debug)]
pub struct DenyAll;

#[async_trait]
impl Approver for DenyAll {
    async fn approve(&self, _request: &ApprovalRequest) -> bool {
        false
    }

    fn is_there(&self) -> bool {
        false
    }
}

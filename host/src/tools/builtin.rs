//! The built-in tools as a set, and how a typed operation becomes a [`Tool`] that a model can call.
//! Must not decide which of them a run gets.

use async_trait::async_trait;
use deputy_contract::{Arguments as TypedArguments, parse_arguments};

use super::{CallContext, Tool, ToolError};
use crate::governance::{Effect, Permit};
use crate::history::Arguments;
use crate::model::ToolDescription;

/// A built-in tool with typed arguments and result: what the parent reaches through JSON and a guest
/// through its WIT function.
#[async_trait]
pub trait Operation: Send + Sync + std::fmt::Debug + 'static {
    /// The arguments, which also name the tool.
    type Arguments: TypedArguments + Send + Sync + 'static;
    /// The typed result.
    type Output: Send;

    /// What it can do at worst.
    const EFFECT: Effect;

    /// Does one permitted call.
    ///
    /// # Errors
    /// A [`ToolError`] for the model to read.
    async fn run(
        &self,
        permit: Permit<Self::Arguments>,
        context: &CallContext,
    ) -> Result<Self::Output, ToolError>;

    /// The result as a model reads it.
    fn render(&self, output: Self::Output) -> String;
}

/// An [`Operation`] as a [`Tool`].
#[derive(Debug)]
pub struct OperationTool<O> {
    operation: O,
    description: ToolDescription,
}

impl<O: Operation> OperationTool<O> {
    /// Wraps `operation`.
    pub fn new(operation: O) -> Self {
        Self { operation, description: (&O::Arguments::SPEC).into() }
    }

    /// The operation itself, for callers that have typed arguments.
    pub fn operation(&self) -> &O {
        &self.operation
    }
}

#[async_trait]
impl<O: Operation> Tool for OperationTool<O> {
    fn description(&self) -> &ToolDescription {
        &self.description
    }

    fn effect(&self) -> Effect {
        O::EFFECT
    }

    async fn call(&self, permit: Permit<Arguments>, context: &CallContext) -> Result<String, ToolError> {
        let permit = permit.try_map(|text| parse_arguments(&O::Arguments::SPEC, text.as_str()))?;
        Ok(self.operation.render(self.operation.run(permit, context).await?))
    }
}

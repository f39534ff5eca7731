//! A tool of the embedder's own, from a closure. Must not add rules: registering it is the leave to use it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{CallContext, Tool, ToolError};
use crate::governance::{Effect, Permit};
use crate::history::Arguments;
use crate::model::ToolDescription;

type Answer = Pin<Box<dyn Future<Output = Result<String, ToolError>> + Send>>;
type Function = dyn Fn(Map<String, Value>) -> Answer + Send + Sync;

/// A tool made of a description and an async closure over the arguments object.
pub struct NativeTool {
    description: ToolDescription,
    effect: Effect,
    function: Box<Function>,
}

impl NativeTool {
    /// A tool named `name` that takes arguments after the JSON Schema object `parameters`.
    pub fn new<F, R>(name: &str, description: &str, parameters: &Value, function: F) -> Self
    where
        F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, ToolError>> + Send + 'static,
    {
        Self {
            description: ToolDescription {
                name: name.to_owned(),
                description: description.to_owned(),
                parameters: parameters.to_string(),
            },
            effect: Effect::Native,
            function: Box::new(move |arguments| Box::pin(function(arguments))),
        }
    }

    /// What the tool can do at worst, where the policy for such tools should hold for it too.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }
}

impl fmt::Debug for NativeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeTool").field("name", &self.description.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl Tool for NativeTool {
    fn description(&self) -> &ToolDescription {
        &self.description
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    async fn call(&self, permit: Permit<Arguments>, context: &CallContext) -> Result<String, ToolError> {
        let sent = permit.into_arguments();
        let arguments = sent.object().map_err(|error| {
            ToolError::InvalidArguments(format!(
                "the arguments of `{}` are not a JSON object: {error}. Sent: `{}`. Expected an object after this schema: {}",
                self.description.name,
                sent.as_str(),
                self.description.parameters
            ))
        })?;
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(ToolError::Cancelled),
            answer = (self.function)(arguments) => answer,
        }
    }
}

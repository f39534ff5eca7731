//! A tool that lives in the component: its description and the function behind it. Must not know which.

use std::fmt;

use deputy_contract::{Arguments, ToolSpec, parse_arguments};

use super::Import;
use crate::ToolError;

type Run = dyn Fn(&str) -> Result<String, ToolError>;

/// A tool that a model can call and that runs in this component.
pub struct TypedTool {
    spec: ToolSpec,
    run: Box<Run>,
}

impl TypedTool {
    /// A tool of the author's own: `run` gets the parsed arguments, and its text is what the model reads.
    /// Arguments that do not fit are answered without it.
    pub fn new<A: Arguments>(run: impl Fn(A) -> Result<String, ToolError> + 'static) -> Self {
        Self { spec: A::SPEC, run: Box::new(move |arguments| run(parse_arguments(&A::SPEC, arguments)?)) }
    }

    /// A tool of the contract, run by the host. [`tools`](super) has one function for each.
    #[must_use]
    pub fn import<I: Import>() -> Self {
        Self::new(|arguments: I| arguments.call_rendered())
    }

    /// How the model reads it.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Runs one call; `arguments` is a JSON object as text.
    ///
    /// # Errors
    /// [`ToolError::InvalidArguments`] where the arguments do not fit, else what the tool says.
    pub fn call(&self, arguments: &str) -> Result<String, ToolError> {
        (self.run)(arguments)
    }
}

impl fmt::Debug for TypedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

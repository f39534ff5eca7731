//! The tools of one run under their names, and who answers which call. Must not know the model.

use super::turns::{HandedCall, Run};
use crate::{ToolCall, ToolError, ToolSpec, TypedTool};

/// What the model of one run can call. Names are unique.
pub(super) struct Toolset {
    typed: Vec<TypedTool>,
    /// Names of handed tools with their places among the handles.
    handed: Vec<(String, usize)>,
    hidden: Vec<String>,
    specs: Vec<ToolSpec>,
}

/// What one call comes to before the handed tools have run.
enum Answered {
    Here(Result<String, ToolError>),
    ByHandle,
}

impl Toolset {
    /// Of tools with one name the first stands, typed ones before handed ones.
    pub(super) fn new(typed: Vec<TypedTool>, handed: Vec<ToolSpec>) -> Self {
        let mut tools = Self { typed: Vec::new(), handed: Vec::new(), hidden: Vec::new(), specs: Vec::new() };
        for tool in typed {
            let spec = tool.spec();
            if tools.has(spec.name) {
                continue;
            }
            tools.specs.push(ToolSpec {
                name: spec.name.to_owned(),
                description: spec.description.to_owned(),
                parameters: spec.parameters.to_owned(),
            });
            tools.typed.push(tool);
        }
        for (place, spec) in handed.into_iter().enumerate() {
            if tools.has(&spec.name) {
                tools.hidden.push(spec.name);
                continue;
            }
            tools.handed.push((spec.name.clone(), place));
            tools.specs.push(spec);
        }
        tools
    }

    /// How the model reads them.
    pub(super) fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Handed tools that are not shown, since another has their name.
    pub(super) fn hidden(&self) -> &[String] {
        &self.hidden
    }

    /// True where some tool has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.specs.iter().any(|spec| spec.name == name)
    }

    /// All names, for a message.
    pub(super) fn names(&self) -> String {
        let names: Vec<_> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
        names.join(", ")
    }

    /// Runs the calls of one turn; results in their order.
    pub(super) fn answer(&self, calls: &[ToolCall], run: &mut impl Run) -> Vec<Result<String, ToolError>> {
        let mut by_handle = Vec::new();
        let mut answered = Vec::with_capacity(calls.len());
        for call in calls {
            answered.push(if let Some(tool) = self.typed.iter().find(|tool| tool.spec().name == call.name) {
                Answered::Here(tool.call(&call.arguments))
            } else if let Some((_, place)) = self.handed.iter().find(|(name, _)| *name == call.name) {
                by_handle.push(HandedCall { tool: *place, arguments: &call.arguments });
                Answered::ByHandle
            } else {
                Answered::Here(Err(self.unknown(&call.name)))
            });
        }
        let mut handles =
            if by_handle.is_empty() { Vec::new() } else { run.call_handed(&by_handle) }.into_iter();
        answered
            .into_iter()
            .map(|answer| match answer {
                Answered::Here(result) => result,
                Answered::ByHandle => handles.next().unwrap_or_else(|| {
                    Err(ToolError::Other("the host gave fewer results than there were calls".to_owned()))
                }),
            })
            .collect()
    }

    fn unknown(&self, name: &str) -> ToolError {
        ToolError::UnknownTool(if self.specs.is_empty() {
            format!("there is no tool `{name}`; this run has no tools")
        } else {
            format!("there is no tool `{name}`; the tools are: {}", self.names())
        })
    }
}

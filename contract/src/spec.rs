//! The form of a tool's description and the list of all built-in tools. Holds no behaviour.

use serde::de::DeserializeOwned;

use crate::arguments::{
    EditFile, FetchUrl, FindFiles, GrepFiles, ListFiles, ReadFile, RunCommand, RunProgram, WriteFile,
};

/// How a built-in tool is named and described, to models, configuration and WIT alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The tool's name, `snake_case`: what the model calls and what a grant lists.
    pub name: &'static str,
    /// What the model reads to choose it.
    pub description: &'static str,
    /// A JSON Schema object, as text.
    pub parameters: &'static str,
}

impl ToolSpec {
    /// The WIT interface of the tool, and the one function in it: the name with `-` for `_`.
    #[must_use]
    pub fn interface(&self) -> String {
        self.name.replace('_', "-")
    }
}

/// The arguments of one built-in tool; the type that ties a call to its [`ToolSpec`].
pub trait Arguments: DeserializeOwned {
    /// The tool that takes these arguments.
    const SPEC: ToolSpec;
}

/// Every built-in tool, sorted by name.
pub const ALL_TOOLS: &[ToolSpec] = &[
    EditFile::SPEC,
    FetchUrl::SPEC,
    FindFiles::SPEC,
    GrepFiles::SPEC,
    ListFiles::SPEC,
    ReadFile::SPEC,
    RunCommand::SPEC,
    RunProgram::SPEC,
    WriteFile::SPEC,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_schemas_are_closed_objects_with_described_fields() {
        let names: Vec<_> = ALL_TOOLS.iter().map(|tool| tool.name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
        for tool in ALL_TOOLS {
            let schema: serde_json::Value = serde_json::from_str(tool.parameters).unwrap();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            let fields = schema["properties"].as_object().unwrap();
            assert!(!fields.is_empty(), "{}", tool.name);
            for (field, of) in fields {
                assert!(of["description"].is_string(), "{}.{field} has no description", tool.name);
            }
            for required in schema["required"].as_array().unwrap() {
                assert!(fields.contains_key(required.as_str().unwrap()), "{}: {required}", tool.name);
            }
        }
    }
}

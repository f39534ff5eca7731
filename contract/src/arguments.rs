//! The argument type of each built-in tool, beside the text that describes it to a model.
//! Holds no behaviour. Field aliases take what models trained on other products send.

use serde::{Deserialize, Serialize};

use crate::spec::{Arguments, ToolSpec};

/// Arguments of `read_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// Path in the workspace.
    #[serde(alias = "file_path")]
    pub path: String,
    /// First line, 1-based; absent: 1.
    #[serde(default, alias = "offset", skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u32>,
    /// Most lines to return; absent: as many as the size cap allows.
    #[serde(default, alias = "limit", skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
}

impl Arguments for ReadFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "read_file",
        description: "Reads a text file of the workspace. Long files come in parts: read on with first_line.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, relative to the workspace root."},"first_line":{"type":"integer","minimum":1,"description":"First line to return, 1-based. Default 1."},"max_lines":{"type":"integer","minimum":1,"description":"Most lines to return. Default: as many as fit."}},"required":["path"],"additionalProperties":false}"#,
    };
}

/// Arguments of `list_files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// Directory in the workspace; `.` is its root.
    #[serde(default = "root")]
    pub path: String,
}

fn root() -> String {
    ".".to_owned()
}

impl Arguments for ListFiles {
    const SPEC: ToolSpec = ToolSpec {
        name: "list_files",
        description: "Lists what is directly in a directory of the workspace, hidden entries included.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"Path of the directory, relative to the workspace root. Default: the root."}},"required":[],"additionalProperties":false}"#,
    };
}

/// Arguments of `find_files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindFiles {
    /// Glob over paths relative to `under`.
    #[serde(alias = "pattern")]
    pub glob: String,
    /// Directory to look under; absent: the workspace root.
    #[serde(default, alias = "path", skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
}

impl Arguments for FindFiles {
    const SPEC: ToolSpec = ToolSpec {
        name: "find_files",
        description: "Finds files of the workspace whose path matches a glob. Ignore files are respected, hidden files are left out.",
        parameters: r#"{"type":"object","properties":{"glob":{"type":"string","description":"Glob, for example `**/*.rs` or `src/*.{ts,tsx}`. A glob without `/` matches file names at any depth."},"under":{"type":"string","description":"Directory to look under, relative to the workspace root. Default: the root."}},"required":["glob"],"additionalProperties":false}"#,
    };
}

/// Arguments of `grep_files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrepFiles {
    /// Regular expression, Rust syntax, matched line by line.
    pub pattern: String,
    /// File or directory to search; absent: the workspace root.
    #[serde(default, alias = "path", skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// Only files whose path matches this glob.
    #[serde(default, alias = "include", skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
}

impl Arguments for GrepFiles {
    const SPEC: ToolSpec = ToolSpec {
        name: "grep_files",
        description: "Searches the files of the workspace for lines that match a regular expression; answers path:line:text. Ignore files are respected, hidden and binary files are left out.",
        parameters: r#"{"type":"object","properties":{"pattern":{"type":"string","description":"Regular expression (Rust syntax), matched line by line. Start it with (?i) to ignore case."},"under":{"type":"string","description":"File or directory to search, relative to the workspace root. Default: the root."},"glob":{"type":"string","description":"Search only files whose path matches this glob, for example `**/*.rs`."}},"required":["pattern"],"additionalProperties":false}"#,
    };
}

/// Arguments of `write_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// Path in the workspace.
    #[serde(alias = "file_path")]
    pub path: String,
    /// The whole new content.
    pub content: String,
}

impl Arguments for WriteFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "write_file",
        description: "Makes a file of the workspace, or replaces all of its content. Missing directories are made.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, relative to the workspace root."},"content":{"type":"string","description":"The whole new content, UTF-8."}},"required":["path","content"],"additionalProperties":false}"#,
    };
}

/// Arguments of `edit_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// Path in the workspace.
    #[serde(alias = "file_path")]
    pub path: String,
    /// The text to replace, exactly as it stands.
    #[serde(alias = "old_string")]
    pub old: String,
    /// The text to put there, exactly as it is.
    #[serde(alias = "new_string")]
    pub new: String,
    /// Replace every occurrence; false: `old` must stand exactly once.
    #[serde(default, alias = "replace_all")]
    pub all: bool,
}

impl Arguments for EditFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "edit_file",
        description: "Replaces a piece of text in a file of the workspace. The old text must stand there exactly, and exactly once unless all is true. Line ends and a byte order mark are kept.",
        parameters: r#"{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, relative to the workspace root."},"old":{"type":"string","description":"Text to replace, exactly as it stands in the file. Line ends may be given as \\n."},"new":{"type":"string","description":"Text to put in its place, taken literally."},"all":{"type":"boolean","description":"Replace every occurrence. Default false: old must stand exactly once."}},"required":["path","old","new"],"additionalProperties":false}"#,
    };
}

/// Arguments of `run_command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// Command line for `/bin/sh -c`.
    pub command: String,
    /// Time limit in milliseconds; absent: the host's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl Arguments for RunCommand {
    const SPEC: ToolSpec = ToolSpec {
        name: "run_command",
        description: "Runs a command line by /bin/sh in the workspace, confined to it, without network, terminal or input. Nothing that it starts outlives the call. Answers the exit code and the output.",
        parameters: r#"{"type":"object","properties":{"command":{"type":"string","description":"Command line for /bin/sh."},"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit in milliseconds. Default 120000."}},"required":["command"],"additionalProperties":false}"#,
    };
}

/// Arguments of `run_program`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunProgram {
    /// Name on the fixed search path, or a path in the workspace.
    pub program: String,
    /// Arguments, each taken literally.
    #[serde(default)]
    pub args: Vec<String>,
    /// Time limit in milliseconds; absent: the host's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl Arguments for RunProgram {
    const SPEC: ToolSpec = ToolSpec {
        name: "run_program",
        description: "Runs one program in the workspace with exactly these arguments, without a shell, confined to the workspace, without network, terminal or input. Answers the exit code and the output.",
        parameters: r#"{"type":"object","properties":{"program":{"type":"string","description":"Name of the program, or its path in the workspace."},"args":{"type":"array","items":{"type":"string"},"description":"Arguments, each taken literally. Default: none."},"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit in milliseconds. Default 120000."}},"required":["program"],"additionalProperties":false}"#,
    };
}

/// Arguments of `fetch_url`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchUrl {
    /// An `http` or `https` address.
    pub url: String,
}

impl Arguments for FetchUrl {
    const SPEC: ToolSpec = ToolSpec {
        name: "fetch_url",
        description: "Fetches one public web page as text. Private and local addresses are refused.",
        parameters: r#"{"type":"object","properties":{"url":{"type":"string","description":"Address, http or https."}},"required":["url"],"additionalProperties":false}"#,
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::parse_arguments;

    /// Every property of each schema is a field of the type, and every required one is required.
    fn schema_fits<T: Arguments + Serialize>(full: &serde_json::Value) {
        let schema: serde_json::Value = serde_json::from_str(T::SPEC.parameters).unwrap();
        let fields = schema["properties"].as_object().unwrap();
        let given = full.as_object().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), given.keys().collect::<Vec<_>>(), "{}", T::SPEC.name);
        let parsed: T = parse_arguments(&T::SPEC, &full.to_string()).unwrap();
        assert_eq!(&serde_json::to_value(&parsed).unwrap(), full, "{}", T::SPEC.name);
        let required: Vec<_> =
            schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        for field in fields.keys() {
            let mut less = given.clone();
            less.remove(field);
            let taken = parse_arguments::<T>(&T::SPEC, &serde_json::Value::Object(less).to_string()).is_ok();
            assert_eq!(taken, !required.contains(&field.as_str()), "{}.{field}", T::SPEC.name);
        }
    }

    #[test]
    fn each_schema_describes_its_type() {
        schema_fits::<ReadFile>(&json!({"path":"a","first_line":2,"max_lines":3}));
        schema_fits::<ListFiles>(&json!({"path":"a"}));
        schema_fits::<FindFiles>(&json!({"glob":"*","under":"a"}));
        schema_fits::<GrepFiles>(&json!({"pattern":"x","under":"a","glob":"*"}));
        schema_fits::<WriteFile>(&json!({"path":"a","content":"b"}));
        schema_fits::<EditFile>(&json!({"path":"a","old":"b","new":"c","all":true}));
        schema_fits::<RunCommand>(&json!({"command":"ls","timeout_ms":5}));
        schema_fits::<RunProgram>(&json!({"program":"ls","args":["-l"],"timeout_ms":5}));
        schema_fits::<FetchUrl>(&json!({"url":"https://example.org"}));
    }
}

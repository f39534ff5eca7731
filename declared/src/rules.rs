//! What a reader has to know besides the file: its format and how to take what it does not know. Reads nothing.

/// Which convention a file follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `subagents/*.md`: the file stem is the id, the workspace is isolated unless the file says otherwise, and
    /// a component may lie beside the file.
    Subagents,
    /// `.claude/agents/*.md`: `name` is the id, the workspace is shared unless the file says otherwise.
    ClaudeAgents,
}

/// How declaration files are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The convention that the files follow.
    pub format: Format,
    /// Refuse a file with a key or a tool that has no meaning here. Default: false, which loads the file and
    /// lists them as warnings.
    pub strict: bool,
    /// Tools of this host besides the built-in ones, as they are called here. Default: none.
    pub more_tools: Vec<String>,
}

impl Rules {
    /// Lenient reading of `format` with the built-in tools.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, strict: false, more_tools: Vec::new() }
    }
}

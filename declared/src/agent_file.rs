//! What a declaration file says, as values. Holds no reading and no decision.

use std::path::PathBuf;
use std::time::Duration;

/// One agent as its file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentFile {
    /// What the agent is called: the file stem, or `name` in `.claude/agents`. Never blank, never a path.
    pub id: String,
    /// The file that declares it; the component where that stands alone.
    pub path: PathBuf,
    /// When to use it, for the parent's model. Empty only where a component stands alone and speaks for itself.
    pub description: String,
    /// The tools it asks for, those of `disallowed_tools` taken out.
    pub tools: DeclaredTools,
    /// The entries of `tools` as the file spells them; of a map those that are on. `None` without such a key.
    pub tools_raw: Option<Vec<String>>,
    /// Tools, by our names, that it must not have even where `tools` inherits. Default: none.
    pub disallowed_tools: Vec<String>,
    /// The model it asks for, unchecked. `None`: the parent's (no key, an empty one, or `inherit`).
    pub model: Option<String>,
    /// Most turns of one run, at least 1. Default: 10.
    pub max_turns: u32,
    /// Which files it works on.
    pub workspace: WorkspaceMode,
    /// A definition directory with an `AGENTS.md`, as written: relative to the main workspace or absolute, and
    /// not checked. Default: none.
    pub workspace_path: Option<PathBuf>,
    /// Whether a delegation continues the one before.
    pub session: SessionWord,
    /// Wall time of one run. Default: none.
    pub timeout: Option<Duration>,
    /// What its component may use.
    pub limits: DeclaredLimits,
    /// The component that runs it, relative paths resolved against the directory of the file; neither opened nor
    /// trusted yet. `None`: the stock one.
    pub component: Option<PathBuf>,
    /// The system text. Empty where `workspace_path` or a component stands for it.
    pub prompt: String,
    /// What was left out or taken in good faith, for the user to read.
    pub warnings: Vec<Warning>,
}

/// The tools that a file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredTools {
    /// The file has no `tools` key, which in these formats means what the parent has. Shell, web and delegation
    /// are not part of it unless the operator names them.
    Inherit,
    /// These and no more, by our names, in the file's order, none twice. Empty: none.
    Named(Vec<String>),
}

/// Which files an agent works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceMode {
    /// A directory of its own, empty at first.
    Isolated,
    /// The parent's.
    Shared,
    /// A git worktree of the parent's.
    Worktree,
}

/// Whether a delegation continues the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionWord {
    /// Nothing carries over.
    #[default]
    Fresh,
    /// One conversation that each delegation continues.
    Reuse,
}

/// What a component may use. Default: nothing said, the host's own limits hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclaredLimits {
    /// Fuel, about one unit an instruction.
    pub fuel: Option<u64>,
    /// Bytes of memory.
    pub memory: Option<usize>,
}

/// Something about a loaded file that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line in the file, from 1, where one can be named.
    pub line: Option<usize>,
    /// What was found and what was made of it.
    pub message: String,
}

//! The tables of the configuration and their keys: these types are the only list of them. Must not read a file
//! or know a default; what is not set stays not set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use deputy::event::SessionMode;
use deputy::governance::{DelegationSurface, HandoffFailureAction};
use serde::Deserialize;

use super::duration;
use super::numbers::{at_least_one, not_negative};
use super::tools;
use crate::arguments::Shell;

/// A whole configuration, of one layer or settled from all of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    pub(crate) handoff: Handoff,
    pub(crate) purse: Purse,
    pub(crate) limits: Limits,
    pub(crate) model: Model,
    pub(crate) tools: Tools,
    pub(crate) declarations: Declarations,
    pub(crate) subagents: BTreeMap<String, Subagent>,
}

/// `[handoff]`: how work is handed to subagents.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Handoff {
    pub(crate) enabled: Option<bool>,
    pub(crate) max_depth: Option<u32>,
    pub(crate) max_retries: Option<u32>,
    #[serde(deserialize_with = "duration::read")]
    pub(crate) timeout: Option<Duration>,
    pub(crate) allowed_tools: Option<Vec<String>>,
    pub(crate) denied_tools: Option<Vec<String>>,
    pub(crate) on_denied: Option<HandoffFailureAction>,
    pub(crate) on_error: Option<HandoffFailureAction>,
    pub(crate) retry_after_side_effects: Option<bool>,
    pub(crate) surface: Option<DelegationSurface>,
}

/// `[purse]`: what a run and all below it may use up.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Purse {
    pub(crate) descendants: Option<u32>,
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) concurrent_runs: Option<u32>,
    pub(crate) depth: Option<u32>,
    pub(crate) turns: Option<u64>,
    pub(crate) tool_calls: Option<u64>,
    pub(crate) tokens: Option<u64>,
    #[serde(deserialize_with = "not_negative")]
    pub(crate) cost: Option<f64>,
    #[serde(deserialize_with = "duration::read")]
    pub(crate) time: Option<Duration>,
    pub(crate) fuel: Option<u64>,
}

/// `[limits]`: what one agent may use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Limits {
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) max_turns: Option<u32>,
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) subagent_max_turns: Option<u32>,
    pub(crate) result_bytes: Option<usize>,
    pub(crate) memory: Option<u64>,
    pub(crate) fuel: Option<u64>,
}

/// `[model]`: the model and how it is reached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Model {
    pub(crate) spec: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) stream: Option<bool>,
    #[serde(deserialize_with = "duration::read")]
    pub(crate) timeout: Option<Duration>,
    pub(crate) prices: Prices,
}

/// `model.prices`: what a million tokens cost.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Prices {
    #[serde(deserialize_with = "not_negative")]
    pub(crate) input: Option<f64>,
    #[serde(deserialize_with = "not_negative")]
    pub(crate) output: Option<f64>,
    #[serde(deserialize_with = "not_negative")]
    pub(crate) cache_read: Option<f64>,
    #[serde(deserialize_with = "not_negative")]
    pub(crate) cache_write: Option<f64>,
}

/// `[tools]`: rules on tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Tools {
    pub(crate) allow: Option<Vec<String>>,
    pub(crate) ask: Option<Vec<String>>,
    pub(crate) deny: Option<Vec<String>>,
    pub(crate) shell: Option<Shell>,
}

/// `[declarations]`: how agent files are found and read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Declarations {
    /// Whether a key or tool without meaning here refuses the file.
    pub(crate) strict: Option<bool>,
    /// Directories of agent files beside `subagents`.
    pub(crate) agents: Option<Vec<PathBuf>>,
}

/// Where a subagent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkspaceWord {
    Shared,
    Isolated,
    Worktree,
}

/// `[subagents.NAME]`: a stock subagent changed, or one of the operator's own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Subagent {
    pub(crate) enabled: Option<bool>,
    pub(crate) description: Option<String>,
    pub(crate) tool_name: Option<String>,
    pub(crate) component: Option<PathBuf>,
    pub(crate) prompt: Option<String>,
    /// `inherit` stands for what the parent has; alone or among others.
    #[serde(deserialize_with = "tools::read")]
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) session_mode: Option<SessionMode>,
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) max_turns: Option<u32>,
    #[serde(deserialize_with = "duration::read")]
    pub(crate) timeout: Option<Duration>,
    pub(crate) fuel: Option<u64>,
    pub(crate) memory: Option<u64>,
    pub(crate) workspace: Option<WorkspaceWord>,
    pub(crate) workspace_path: Option<PathBuf>,
    pub(crate) allowed_tools: Option<Vec<String>>,
    pub(crate) denied_tools: Option<Vec<String>>,
}

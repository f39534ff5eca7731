//! What a purse says of itself: which part is spent, and what was drawn. Must not draw.

use std::fmt;

use serde::Serialize;

/// A part of a purse, by the name of its setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PursePart {
    /// Runs below the parent's.
    Descendants,
    /// Levels below the parent's run.
    Depth,
    /// Model turns.
    Turns,
    /// Tool calls.
    ToolCalls,
    /// Tokens.
    Tokens,
    /// Cost, in millionths of the unit of the prices.
    Cost,
    /// Wall time in milliseconds.
    Time,
    /// Fuel.
    Fuel,
}

impl PursePart {
    /// The setting.
    #[must_use]
    pub fn setting(self) -> &'static str {
        match self {
            Self::Descendants => "purse.descendants",
            Self::Depth => "purse.depth",
            Self::Turns => "purse.turns",
            Self::ToolCalls => "purse.tool_calls",
            Self::Tokens => "purse.tokens",
            Self::Cost => "purse.cost",
            Self::Time => "purse.time",
            Self::Fuel => "purse.fuel",
        }
    }
}

impl fmt::Display for PursePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Descendants => "descendant runs",
            Self::Depth => "levels of delegation",
            Self::Turns => "model turns",
            Self::ToolCalls => "tool calls",
            Self::Tokens => "tokens",
            Self::Cost => "millionths of the cost",
            Self::Time => "milliseconds",
            Self::Fuel => "units of fuel",
        })
    }
}

/// A part of the purse that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error(
    "the budget that all runs of this task share is spent: {spent} of {limit} {part}; the setting is `{}`",
    part.setting()
)]
pub struct Spent {
    /// Which part.
    pub part: PursePart,
    /// What was drawn.
    pub spent: u64,
    /// Of how much.
    pub limit: u64,
}

/// What a tree of runs drew from its purse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PurseReport {
    /// Runs below the parent's, each attempt one.
    pub descendants: u64,
    /// Model turns, those that failed among them.
    pub turns: u64,
    /// Tool calls, delegations among them.
    pub tool_calls: u64,
    /// Tokens, all kinds together.
    pub tokens: u64,
    /// True where some of the tokens were estimated.
    pub estimated: bool,
    /// Cost, where there are prices.
    pub cost: Option<f64>,
    /// Fuel of all components together.
    pub fuel: u64,
    /// Wall time in milliseconds.
    pub time_ms: u64,
    /// The part that was used up first, if one was.
    pub spent: Option<Spent>,
}

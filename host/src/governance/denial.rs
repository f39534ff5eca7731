//! What a refusal says: which rule, and what would allow it. Must not decide anything.

use std::fmt;

use crate::ids::{AgentName, ToolName};

/// A refused call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// Who asked.
    pub agent: AgentName,
    /// What was asked for.
    pub tool: ToolName,
    /// The rule that refused it.
    pub rule: Rule,
}

/// The rules that refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The agent's own declaration does not ask for the tool.
    NotDeclared,
    /// The agent that delegates does not hold the tool, so it cannot lend it.
    NotHeldByParent,
    /// The policy denies the tool.
    DeniedByPolicy,
    /// The policy asks a person before each call, and there is nobody to ask.
    NobodyToAsk,
    /// The policy asks a person before each call, and the person said no.
    Refused,
    /// The delegation would be deeper than the policy allows.
    TooDeep {
        /// The depth that it would have.
        depth: u32,
        /// The deepest that is allowed: 0 is no delegation, 1 is one level.
        max_depth: u32,
    },
    /// This host does not offer the tool, and says why.
    NotOffered {
        /// Why, and what to do about it.
        reason: String,
    },
}

impl Denial {
    /// What would allow the call; applied literally, it does.
    #[must_use]
    pub fn remedy(&self) -> String {
        let Self { agent, tool, rule } = self;
        match rule {
            Rule::NotDeclared => format!(
                "add `{tool}` to the tools that `{agent}` declares (`Subagent::tools` in code, `--grant` of `deputy check`)"
            ),
            Rule::NotHeldByParent | Rule::NobodyToAsk => {
                format!("allow it with `--allow {tool}`, or `Policy::allow(\"{tool}\")` in code")
            }
            Rule::DeniedByPolicy => {
                format!(
                    "drop `--deny {tool}`, or `Policy::deny(\"{tool}\")` in code, and allow it with `--allow {tool}`"
                )
            }
            Rule::TooDeep { depth, .. } => format!("raise `max_depth` to {depth}"),
            Rule::Refused => format!("ask for something else, or allow it with `--allow {tool}`"),
            Rule::NotOffered { reason } => reason.clone(),
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, tool, rule } = self;
        let why = match rule {
            Rule::NotDeclared => "the declaration does not ask for it",
            Rule::NotHeldByParent => "the agent that delegates does not hold it",
            Rule::DeniedByPolicy => "the policy denies it",
            Rule::NobodyToAsk => "the policy asks a person before each call, and there is nobody to ask",
            Rule::Refused => "the person who was asked said no",
            Rule::NotOffered { .. } => "this host does not offer it",
            Rule::TooDeep { depth, max_depth } => {
                &format!("handoff depth {depth} exceeds `max_depth` {max_depth}")
            }
        };
        write!(f, "`{tool}` is denied to `{agent}`: {why}; {}", self.remedy())
    }
}

impl std::error::Error for Denial {}

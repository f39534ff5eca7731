//! What a refusal says: which rule, which setting, and the line that would allow it. Must not decide anything.

use std::collections::BTreeSet;
use std::fmt;

use crate::ids::{AgentName, SessionId, ToolName};

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
    NotDeclared {
        /// What it holds.
        declared: Vec<ToolName>,
    },
    /// The agent that delegates does not hold the tool, so it cannot lend it.
    NotHeldByParent {
        /// That agent.
        parent: AgentName,
        /// What it holds.
        held: Vec<ToolName>,
    },
    /// The policy denies the tool.
    DeniedByPolicy,
    /// The policy asks a person before each call, and there is nobody to ask.
    NobodyToAsk,
    /// The policy asks a person before each call, and the person said no.
    Refused,
    /// A list of allowed delegations does not have it.
    NotInAllowedTools {
        /// Which list.
        setting: ListSetting,
        /// What it has.
        allowed: Vec<ToolName>,
    },
    /// A list of denied delegations has it.
    InDeniedTools {
        /// Which list.
        setting: ListSetting,
        /// What it has.
        denied: Vec<ToolName>,
    },
    /// The delegation would be deeper than the policy allows.
    TooDeep {
        /// The depth that it would have.
        depth: u32,
        /// The deepest that is allowed: 0 is no delegation, 1 is one level.
        max_depth: u32,
    },
    /// The run continues a conversation that was begun without the tool.
    NotInSession {
        /// The conversation.
        session: SessionId,
    },
    /// The conversation that would be continued waits, further up, for this very call.
    SessionIsOpen,
    /// The tool was taken back while the run was under way.
    Revoked,
    /// This host does not offer the tool, and says why.
    NotOffered {
        /// Why, and what to do about it.
        reason: String,
    },
}

/// Where a list of delegations stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListSetting {
    /// In the policy, for all agents.
    Handoff,
    /// In the declaration of one subagent, for its own delegations.
    Subagent(AgentName),
}

impl fmt::Display for ListSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Handoff => f.write_str("handoff"),
            Self::Subagent(agent) => write!(f, "subagents.{}", key(agent)),
        }
    }
}

impl Rule {
    /// True for the rules of the handoff policy: allow, deny and depth.
    #[must_use]
    pub fn is_on_delegations(&self) -> bool {
        matches!(self, Self::NotInAllowedTools { .. } | Self::InDeniedTools { .. } | Self::TooDeep { .. })
    }
}

impl Denial {
    /// What would allow the call; applied literally, it does. Lines in backquotes with ` = ` in them are lines of
    /// `deputy.toml`, and just as well arguments of `--set`.
    #[must_use]
    pub fn remedy(&self) -> String {
        let Self { agent, tool, rule } = self;
        match rule {
            Rule::NotDeclared { declared } => {
                let line = tools_line(agent, declared, tool);
                format!("set `{line}` (`Subagent::tools` in code, `--grant` of `deputy check`)")
            }
            Rule::NotHeldByParent { parent, held } => {
                format!("set `{}` (`Subagent::tools` in code)", tools_line(parent, held, tool))
            }
            Rule::NobodyToAsk => {
                format!("allow it with `--allow {tool}`, or `Policy::allow(\"{tool}\")` in code")
            }
            Rule::DeniedByPolicy => format!(
                "drop `--deny {tool}` (`tools.deny`, or `Policy::deny(\"{tool}\")` in code), and allow it with `--allow {tool}`"
            ),
            Rule::NotInAllowedTools { setting, allowed } => {
                let names = list(allowed.iter().chain([tool]));
                format!("set `{setting}.allowed_tools = {names}`")
            }
            Rule::InDeniedTools { setting, denied } => {
                let names = list(denied.iter().filter(|name| *name != tool && name.as_str() != "*"));
                format!("set `{setting}.denied_tools = {names}`")
            }
            Rule::TooDeep { depth, .. } => format!("set `handoff.max_depth = {depth}`"),
            Rule::NotInSession { session } => {
                format!(
                    "begin a new conversation: `deputy sessions forget {session}`, or `session_mode = \"fresh\"`"
                )
            }
            Rule::SessionIsOpen => {
                "give the subagent `session_mode = \"fresh\"`, or do without this call".to_owned()
            }
            Rule::Revoked => format!("give it back with `Host::restore(\"{tool}\")` in code"),
            Rule::Refused => format!("ask for something else, or allow it with `--allow {tool}`"),
            Rule::NotOffered { reason } => reason.clone(),
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, tool, rule } = self;
        write!(f, "`{tool}` is denied to `{agent}`: ")?;
        match rule {
            Rule::NotDeclared { .. } => f.write_str("the declaration does not ask for it"),
            Rule::NotHeldByParent { parent, .. } => {
                write!(f, "`{parent}`, which delegates, does not hold it")
            }
            Rule::DeniedByPolicy => f.write_str("the policy denies it"),
            Rule::NobodyToAsk => {
                f.write_str("the policy asks a person before each call, and there is nobody to ask")
            }
            Rule::Refused => f.write_str("the person who was asked said no"),
            Rule::NotInAllowedTools { setting, .. } => write!(f, "it is not in `{setting}.allowed_tools`"),
            Rule::InDeniedTools { setting, .. } => write!(f, "it is in `{setting}.denied_tools`"),
            Rule::TooDeep { depth, max_depth } => {
                write!(f, "handoff depth {depth} exceeds `handoff.max_depth` {max_depth}")
            }
            Rule::NotInSession { session } => write!(f, "the conversation {session} was begun without it"),
            Rule::SessionIsOpen => {
                f.write_str("its conversation waits for this very call, which would wait for it in turn")
            }
            Rule::Revoked => f.write_str("it was taken back while the run was under way"),
            Rule::NotOffered { .. } => f.write_str("this host does not offer it"),
        }?;
        write!(f, "; {}", self.remedy())
    }
}

impl std::error::Error for Denial {}

/// The line of `deputy.toml` that gives `agent` one more tool.
fn tools_line(agent: &AgentName, held: &[ToolName], tool: &ToolName) -> String {
    format!("subagents.{}.tools = {}", key(agent), list(held.iter().chain([tool])))
}

/// Names as a TOML list.
fn list<'a>(names: impl Iterator<Item = &'a ToolName>) -> String {
    let names: BTreeSet<String> = names.map(|name| format!("{:?}", name.as_str())).collect();
    format!("[{}]", names.into_iter().collect::<Vec<_>>().join(", "))
}

/// A name as a TOML key: bare where it may stand bare.
fn key(name: &AgentName) -> String {
    let text = name.as_str();
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !text.is_empty() && text.chars().all(bare) { text.to_owned() } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remedy(rule: Rule) -> String {
        Denial { agent: "tide reader".into(), tool: "subagent_b".into(), rule }.remedy()
    }

    #[test]
    fn a_remedy_is_a_whole_line() {
        let allowed = vec![ToolName::from("subagent_a")];
        for (rule, line) in [
            (
                Rule::NotInAllowedTools { setting: ListSetting::Handoff, allowed: allowed.clone() },
                r#"set `handoff.allowed_tools = ["subagent_a", "subagent_b"]`"#,
            ),
            (
                Rule::InDeniedTools {
                    setting: ListSetting::Subagent("lead".into()),
                    denied: vec!["subagent_b".into(), "subagent_a".into()],
                },
                r#"set `subagents.lead.denied_tools = ["subagent_a"]`"#,
            ),
            (Rule::TooDeep { depth: 3, max_depth: 2 }, "set `handoff.max_depth = 3`"),
            (
                Rule::NotDeclared { declared: allowed },
                r#"set `subagents."tide reader".tools = ["subagent_a", "subagent_b"]` (`Subagent::tools` in code, `--grant` of `deputy check`)"#,
            ),
        ] {
            assert_eq!(remedy(rule), line);
        }
    }
}

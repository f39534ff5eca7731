//! The name of the tool that stands for a subagent where none is given. Must not check for collisions.

use crate::ids::{AgentName, ToolName};

/// `subagent_` and the name: lower-cased, every character outside `[a-z0-9_]` to `_`, runs of `_` joined, ends
/// trimmed, `agent_` put first where it would start with a digit. A name that folds to nothing gives
/// `subagent_`, which registration refuses.
#[must_use]
pub fn tool_name_for(name: &AgentName) -> ToolName {
    let mut folded = String::new();
    for c in name.as_str().to_lowercase().chars() {
        let c = if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '_' };
        if c != '_' || !folded.ends_with('_') {
            folded.push(c);
        }
    }
    let folded = folded.trim_matches('_');
    let first = if folded.starts_with(|c: char| c.is_ascii_digit()) { "agent_" } else { "" };
    ToolName::new(format!("subagent_{first}{folded}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_as_documented() {
        for (name, tool) in [
            ("code-reviewer", "subagent_code_reviewer"),
            ("Stock Desk", "subagent_stock_desk"),
            ("tide-4.8-expert", "subagent_tide_4_8_expert"),
            ("__a--b__", "subagent_a_b"),
            ("3d modeller", "subagent_agent_3d_modeller"),
            ("C# Expert", "subagent_c_expert"),
            ("评审", "subagent_"),
        ] {
            assert_eq!(tool_name_for(&name.into()).as_str(), tool, "{name}");
        }
    }
}

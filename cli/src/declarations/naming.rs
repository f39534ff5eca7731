//! The tool names of declared agents: always legal, never one that is taken. Must not choose a name for an agent that a
//! person gave one.

use std::collections::BTreeSet;

use deputy::ids::ToolName;
use deputy::sandbox::sha256;
use deputy::subagent::tool_name_for;

/// Most characters of a tool's name.
const MOST: usize = 64;

/// Digits of the hash that stands where the name itself does not do.
const DIGITS: usize = 8;

/// The tool that stands for the agent `id`, and what to say where that is not its name as it folds. Takes it.
pub(super) fn tool_name(id: &str, taken: &mut BTreeSet<String>) -> (ToolName, Option<String>) {
    let folded = tool_name_for(&id.into()).to_string();
    let fits = folded != "subagent_" && folded.len() <= MOST;
    if fits && taken.insert(folded.clone()) {
        return (folded.into(), None);
    }
    // The same on every run, whatever other files there are.
    let hash: String = sha256(id.as_bytes()).chars().take(DIGITS).collect();
    let short: String = folded.chars().take(MOST - DIGITS - 1).collect();
    let name = format!("{}_{hash}", short.trim_end_matches('_'));
    let why = if fits { "its name folds to that of another tool" } else { "its name makes no tool name" };
    let said =
        format!("the agent is called as `{name}`, since {why}; `subagents.NAME.tool_name` sets another");
    taken.insert(name.clone());
    (name.into(), Some(said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_legal_and_its_own() {
        let mut taken = BTreeSet::from(["subagent_explore".to_owned()]);
        let mut named = |id: &str| tool_name(id, &mut taken).0.to_string();
        assert_eq!(named("tide-4.8-expert"), "subagent_tide_4_8_expert");
        let odd = ["评审", "!!!", "explore", "Code Reviewer", "code-reviewer", &"long ".repeat(25)];
        let names: Vec<String> = odd.iter().map(|id| named(id)).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), odd.len(), "{names:?}");
        for name in &names {
            let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(name.starts_with("subagent_") && name.len() <= MOST && name.chars().all(legal), "{name}");
        }
        assert_eq!(tool_name("评审", &mut BTreeSet::new()).0.as_str(), names[0], "whatever else there is");
    }
}

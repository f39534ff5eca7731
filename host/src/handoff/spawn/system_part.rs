//! What a run that may spawn agents is told of them in its system text: the rules of use, and who there is. Must not
//! promise what the run does not hold.

use std::sync::Arc;

use super::super::SubagentRegistry;
use super::SpawnTool;
use crate::history::as_data;
use crate::run::RunScope;

/// Most characters of one agent's description.
const DESCRIPTION_CHARS: usize = 600;
/// Most bytes of all descriptions; those of later agents are left out.
const DESCRIPTIONS_BYTES: usize = 32 * 1024;

const RULES: &str = "\nAgents work for you beside yourself. How to use them:\n\
- `agent_spawn` makes one and gives it a task: say everything that it has to know, since it sees nothing of this conversation. \
Do small things yourself.\n\
- Tasks that do not depend on each other run side by side: spawn them in one turn with `timeout_seconds` 0, and go on.\n\
- Results come to you by themselves inside <subagent-results>, before one of your turns. Do not poll: directly after a start \
there is nothing to see. `task_output` waits for a task, `task_list` shows them all.\n\
- `agent_send` goes on with an agent that you have made, by its whole `agent_key` or its label.\n\
- Do not answer before the results are there that the answer needs, and never make one up. Stop what is not needed any more \
with `task_cancel`.\n";

/// The rules and the agents, for a run that holds `agent_spawn`; empty for any other.
pub(crate) fn system_part(registry: &Arc<dyn SubagentRegistry>, scope: &RunScope) -> String {
    if !scope.rights.holds(SpawnTool::Spawn.name()) {
        return String::new();
    }
    let all = registry.all();
    let agents: Vec<_> = all.iter().filter(|one| scope.rights.holds(one.tool().as_str())).collect();
    if agents.is_empty() {
        return String::new();
    }
    let mut text = format!("{RULES}The agents, by `agent_id`:\n");
    let mut room = DESCRIPTIONS_BYTES;
    for agent in agents {
        let name = as_data(agent.name().as_str());
        let described = as_data(agent.described().trim());
        let described = described.split_whitespace().collect::<Vec<_>>().join(" ");
        let described: String = described.chars().take(DESCRIPTION_CHARS).collect();
        room = room.saturating_sub(described.len());
        match described.as_str() {
            "" => text.push_str(&format!("- {name}\n")),
            _ if room == 0 => text.push_str(&format!("- {name}\n")),
            described => text.push_str(&format!("- {name}: {described}\n")),
        }
    }
    text
}

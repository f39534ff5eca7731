//! The agents of a run: made, found again and listed. Must not run one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::HandoffExecutor;
use super::MAX_SPAWN_DEPTH;
use super::arguments::Given;
use super::background::{Recipient, idle};
use crate::history::{ToolCall, as_data};
use crate::ids::{AgentName, SessionId};
use crate::run::RunScope;
use crate::subagent::Subagent;
use crate::task::{SpawnedAgent, TaskRecord};
use crate::tools::ToolError;

/// Most characters of a label.
const LABEL_CHARS: usize = 80;

impl HandoffExecutor {
    /// `agent_spawn`
    pub(super) async fn spawn(
        self: &Arc<Self>,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        given: &Given,
    ) -> Result<String, ToolError> {
        let subagent = self.agent(scope, given.required("agent_id")?.trim())?;
        let (task, wait) = (given.optional("task")?, given.wait_for_agent()?);
        let label = given.optional("label")?;
        if label.is_some_and(|label| label.chars().count() > LABEL_CHARS) {
            return Err(given.invalid(&format!("`label` is longer than {LABEL_CHARS} characters")));
        }
        let depth = scope.rights.depth().saturating_add(1);
        if depth > MAX_SPAWN_DEPTH {
            return Err(ToolError::Failed(format!(
                "no agent was spawned: it would stand {depth} levels below the first one, and {MAX_SPAWN_DEPTH} is the most; do the work yourself"
            )));
        }
        let to = Recipient::fresh(subagent, label);
        scope.tasks.remember(to.key.clone(), to.agent.clone());
        match task {
            None => Ok(idle(&to)),
            Some(task) => self.give(scope, call, to, task, wait).await,
        }
    }

    /// `agent_send`
    pub(super) async fn send(
        self: &Arc<Self>,
        scope: &Arc<RunScope>,
        call: &ToolCall,
        given: &Given,
    ) -> Result<String, ToolError> {
        let (key, label) = (given.optional("agent_key")?, given.optional("label")?);
        let (message, wait) = (given.required("message")?, given.wait_for_agent()?);
        let agents = known(scope).await?;
        let (key, agent) = match (key, label) {
            (Some(key), None) => by_key(&agents, key.trim())?,
            (None, Some(label)) => by_label(&agents, label.trim())?,
            (Some(_), Some(_)) => return Err(given.invalid("both `agent_key` and `label` were given")),
            (None, None) => return Err(given.invalid("neither `agent_key` nor `label` was given")),
        };
        let subagent = self.agent(scope, agent.agent.as_str())?;
        self.give(scope, call, Recipient { key, agent, subagent }, message, wait).await
    }

    /// The subagent of this id, where the run may delegate to it.
    fn agent(&self, scope: &RunScope, id: &str) -> Result<Arc<Subagent>, ToolError> {
        let all = self.registry.all();
        let named = |one: &&Arc<Subagent>| one.name().as_str() == id && scope.rights.knows(one.tool());
        if let Some(subagent) = all.iter().find(named) {
            return Ok(subagent.clone());
        }
        let known = all.iter().filter(|one| scope.rights.holds(one.tool().as_str()));
        let known: Vec<String> = known.map(|one| format!("`{}`", as_data(one.name().as_str()))).collect();
        Err(ToolError::NotFound(if known.is_empty() {
            "there is no agent that you may spawn; do the work yourself".to_owned()
        } else {
            format!("there is no agent `{}`; the agents are: {}", as_data(id), known.join(", "))
        }))
    }
}

/// `agent_list`
pub(super) async fn list(scope: &RunScope) -> Result<String, ToolError> {
    let agents = known(scope).await?;
    if agents.is_empty() {
        return Ok("You have made no agents; `agent_spawn` makes one.".to_owned());
    }
    let records = scope.tasks.list().await.map_err(ToolError::Failed)?;
    let mut text = String::new();
    for (key, agent) in &agents {
        let own: Vec<&TaskRecord> = records.iter().filter(|record| record.agent_key == *key).collect();
        let at_work: Vec<String> = own
            .iter()
            .filter(|record| !record.status.is_ended())
            .map(|record| record.id.to_string())
            .collect();
        let label =
            agent.label.as_ref().map_or_else(String::new, |label| format!("label: {}, ", as_data(label)));
        let status = match (at_work.as_slice(), own.first()) {
            ([], None) => "idle, no task yet".to_owned(),
            ([], Some(last)) => format!("idle, last task {} {}", last.id, last.status),
            (at_work, _) => format!("running, task {}", at_work.join(", ")),
        };
        text.push_str(&format!(
            "- agent_key: {key}, {label}agent_id: {}, session_id: {}, {status}\n",
            as_data(agent.agent.as_str()),
            agent.session
        ));
    }
    Ok(text)
}

/// The agents that the run made, and those that its conversation knows from runs before.
async fn known(scope: &RunScope) -> Result<BTreeMap<String, SpawnedAgent>, ToolError> {
    let mut agents = scope.tasks.agents();
    for record in scope.tasks.own().await.map_err(ToolError::Failed)? {
        agents.entry(record.agent_key.clone()).or_insert_with(|| SpawnedAgent {
            agent: AgentName::from(record.agent_id.as_str()),
            session: session_of(&record.agent_key),
            label: record.label.clone(),
        });
    }
    Ok(agents)
}

/// A key ends with what the id of its conversation ends with.
fn session_of(key: &str) -> SessionId {
    SessionId::new(format!("sub-{}", key.rsplit(':').next().unwrap_or_default()))
}

fn by_key(agents: &BTreeMap<String, SpawnedAgent>, key: &str) -> Result<(String, SpawnedAgent), ToolError> {
    let found = agents.get(key).map(|agent| (key.to_owned(), agent.clone()));
    found.ok_or_else(|| {
        ToolError::NotFound(format!(
            "no agent has the key `{}`; give the whole `agent_key` that `agent_spawn` returned (not an agent id, a session id or a task id). `agent_list` names them",
            as_data(key)
        ))
    })
}

fn by_label(
    agents: &BTreeMap<String, SpawnedAgent>,
    label: &str,
) -> Result<(String, SpawnedAgent), ToolError> {
    let mut found = agents.iter().filter(|(_, agent)| agent.label.as_deref() == Some(label));
    let shown = as_data(label);
    match (found.next(), found.next()) {
        (Some((key, agent)), None) => Ok((key.clone(), agent.clone())),
        (Some(_), Some(_)) => Err(ToolError::InvalidArguments(format!(
            "several agents have the label `{shown}`; send by `agent_key`, which `agent_list` names"
        ))),
        (None, _) => Err(ToolError::NotFound(format!(
            "no agent has the label `{shown}`; `agent_list` names those that there are"
        ))),
    }
}

//! The review itself: rights for a run, a verdict for a call, a permit for what may run.
//! An error inside a rule is a denial. Must not run what it allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::approver::{ApprovalRequest, Approver};
use super::denial::{Denial, Rule};
use super::effect::Effect;
use super::permit::Permit;
use super::policy::{Policy, Setting};
use super::rights::{Rights, RightsError};
use crate::ids::{AgentName, ToolName};

/// One level of delegation: a subagent may not delegate in its turn.
const DEFAULT_MAX_DEPTH: u32 = 1;

/// What a review says of a call before anybody is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// A person has to say yes first.
    Ask,
    /// It may not run.
    Deny(Denial),
}

/// The one place where rights and permits are made.
#[derive(Clone, Debug)]
pub struct Governance {
    policy: Policy,
    approver: Arc<dyn Approver>,
    max_depth: u32,
}

impl Governance {
    /// Governance under these rules, with questions going to `approver`.
    #[must_use]
    pub fn new(policy: Policy, approver: Arc<dyn Approver>) -> Self {
        Self { policy, approver, max_depth: DEFAULT_MAX_DEPTH }
    }

    /// The deepest delegation that is allowed: 0 is none, 1 is one level. Default: 1.
    #[must_use]
    pub fn max_depth(mut self, max_depth: u32) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// The operator's rules.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The rights of the parent agent: every tool that the policy does not deny. Of `tools` that come with a
    /// rule instead of an effect, the rights remember that rule.
    pub fn root_rights(
        &self,
        agent: AgentName,
        tools: impl IntoIterator<Item = (ToolName, Result<Effect, Rule>)>,
    ) -> Arc<Rights> {
        let (kept, cut) = self.split(&agent, tools.into_iter());
        Arc::new(Rights::new(agent, kept, cut, 0))
    }

    /// The rights of a subagent: what it declares, of that what `parent` holds, of that what the policy does
    /// not deny. An empty declaration gives empty rights; so does an absent one.
    ///
    /// # Errors
    /// [`RightsError`] where tools were declared and none is left: such a run could only make things up.
    pub fn subagent_rights(
        &self,
        agent: AgentName,
        declared: &[ToolName],
        parent: &Rights,
    ) -> Result<Arc<Rights>, RightsError> {
        let held = declared.iter().map(|tool| {
            let effect = parent.tools().get(tool).copied().ok_or_else(|| {
                // The parent's own cut says why it does not hold the tool: that is the rule to change.
                let earlier = parent.cut().iter().find(|denial| &denial.tool == tool);
                earlier.map_or(Rule::NotHeldByParent, |denial| denial.rule.clone())
            });
            (tool.clone(), effect)
        });
        let (kept, cut) = self.split(&agent, held);
        if kept.is_empty() && !declared.is_empty() {
            return Err(RightsError { agent, cut });
        }
        Ok(Arc::new(Rights::new(agent, kept, cut, parent.depth().saturating_add(1))))
    }

    /// What the rules say of a call, before anybody is asked.
    #[must_use]
    pub fn verdict(&self, rights: &Rights, tool: &ToolName) -> Verdict {
        let deny = |rule| Verdict::Deny(Denial { agent: rights.agent().clone(), tool: tool.clone(), rule });
        let Some(effect) = rights.tools().get(tool) else {
            return match rights.cut().iter().find(|denial| &denial.tool == tool) {
                Some(denial) => Verdict::Deny(denial.clone()),
                None => deny(Rule::NotDeclared),
            };
        };
        let depth = rights.depth().saturating_add(1);
        if *effect == Effect::Delegate && depth > self.max_depth {
            return deny(Rule::TooDeep { depth, max_depth: self.max_depth });
        }
        match self.policy.setting(tool, *effect) {
            Setting::Allow => Verdict::Allow,
            Setting::Ask if self.approver.is_there() => Verdict::Ask,
            Setting::Ask => deny(Rule::NobodyToAsk),
            Setting::Deny => deny(Rule::DeniedByPolicy),
        }
    }

    /// Reviews one call. The arguments go in and come out in the permit: what was allowed is what runs.
    ///
    /// # Errors
    /// A [`Denial`] that names the rule and what would allow the call.
    pub async fn review<A: Serialize + Send>(
        &self,
        rights: &Arc<Rights>,
        tool: &ToolName,
        arguments: A,
        task: &str,
    ) -> Result<Permit<A>, Denial> {
        match self.verdict(rights, tool) {
            Verdict::Allow => {}
            Verdict::Deny(denial) => return Err(denial),
            Verdict::Ask => {
                let refused =
                    || Denial { agent: rights.agent().clone(), tool: tool.clone(), rule: Rule::Refused };
                let shown = serde_json::to_string(&arguments).map_err(|_| refused())?;
                let request = ApprovalRequest {
                    agent: rights.agent().clone(),
                    tool: tool.clone(),
                    digest: digest(tool, &shown, task),
                    arguments: shown,
                    task: task.to_owned(),
                };
                if !self.approver.approve(&request).await {
                    return Err(refused());
                }
            }
        }
        // A tool that would ask first is no leave to write for whoever does not ask.
        let may_write = rights
            .tools()
            .iter()
            .any(|(tool, effect)| *effect == Effect::Write && self.verdict(rights, tool) == Verdict::Allow);
        Ok(Permit::new(tool.clone(), arguments, rights.clone(), may_write))
    }

    /// Parts tools into those that may be held and those that are cut, each with its rule.
    fn split(
        &self,
        agent: &AgentName,
        tools: impl Iterator<Item = (ToolName, Result<Effect, Rule>)>,
    ) -> (BTreeMap<ToolName, Effect>, Vec<Denial>) {
        let mut kept = BTreeMap::new();
        let mut cut = Vec::new();
        for (tool, effect) in tools {
            let rule = match effect {
                Ok(effect) if self.policy.setting(&tool, effect) == Setting::Deny => Rule::DeniedByPolicy,
                Ok(effect) => {
                    kept.insert(tool, effect);
                    continue;
                }
                Err(rule) => rule,
            };
            cut.push(Denial { agent: agent.clone(), tool, rule });
        }
        (kept, cut)
    }
}

/// SHA-256 over the parts, each with its length before it, so that no two calls share a digest.
fn digest(tool: &ToolName, arguments: &str, task: &str) -> String {
    let mut hash = Sha256::new();
    for part in [tool.as_str(), arguments, task] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

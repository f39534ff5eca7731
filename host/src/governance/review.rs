//! The review itself: rights for a run, a verdict for a call, a permit for what may run.
//! An error inside a rule is a denial. Must not run what it allows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::admission::Admission;
use super::approver::{ApprovalRequest, Approver};
use super::declaration::{Declaration, SessionRights};
use super::denial::{Denial, Rule};
use super::effect::Effect;
use super::handoff_policy::HandoffPolicy;
use super::permit::Permit;
use super::policy::{Policy, Setting};
use super::revoked::Revoked;
use super::rights::{Rights, RightsError};
use super::rules::Lists;
use crate::digest;
use crate::ids::{AgentName, ToolName};

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
    handoffs: HandoffPolicy,
    approver: Arc<dyn Approver>,
    revoked: Revoked,
}

impl Governance {
    /// Governance under these rules on tools, with questions going to `approver`, and the default rules on
    /// delegations.
    #[must_use]
    pub fn new(policy: Policy, approver: Arc<dyn Approver>) -> Self {
        Self { policy, handoffs: HandoffPolicy::default(), approver, revoked: Revoked::default() }
    }

    /// The rules on delegations.
    #[must_use]
    pub fn handoffs(mut self, handoffs: HandoffPolicy) -> Self {
        self.handoffs = handoffs;
        self
    }

    /// The operator's rules on tools.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The rules on delegations.
    #[must_use]
    pub fn handoff_policy(&self) -> &HandoffPolicy {
        &self.handoffs
    }

    /// Takes a tool back from every run, also from those under way: their next call of it is refused.
    pub fn revoke(&self, tool: ToolName) {
        self.revoked.revoke(tool);
    }

    /// Ends a revocation.
    pub fn restore(&self, tool: &ToolName) {
        self.revoked.restore(tool);
    }

    /// The rights of the parent agent: every tool that no rule denies. Of `tools` that come with a rule instead
    /// of an effect, the rights remember that rule.
    pub fn root_rights(
        &self,
        agent: AgentName,
        tools: impl IntoIterator<Item = (ToolName, Result<Effect, Rule>)>,
    ) -> Arc<Rights> {
        let (kept, cut) = self.split(&Declaration::new(agent.clone()), 0, tools);
        Arc::new(Rights::new(agent, kept, cut, 0))
    }

    /// The rights of a subagent's run: what it declares, of that what `parent` holds, of that what no rule denies
    /// and, where it continues a conversation, what that was `begun_with`. An empty declaration gives empty
    /// rights; so does an absent one.
    ///
    /// # Errors
    /// [`RightsError`] where tools were declared and none is left: such a run could only make things up.
    pub fn subagent_rights(
        &self,
        declaration: &Declaration,
        parent: &Rights,
        begun_with: Option<&SessionRights>,
    ) -> Result<Arc<Rights>, RightsError> {
        let declared = declaration.tools.names(parent);
        // A conversation that was begun deeper down stays as deep as it was.
        let depth = parent.depth().saturating_add(1).max(begun_with.map_or(0, |session| session.depth));
        let held = declared.iter().map(|tool| {
            let effect = match begun_with {
                Some(session) if !session.tools.contains(tool) => {
                    Err(Rule::NotInSession { session: session.session.clone() })
                }
                _ => parent.tools().get(tool).copied().ok_or_else(|| parent.rule_against(tool)),
            };
            (tool.clone(), effect)
        });
        let (kept, cut) = self.split(declaration, depth, held);
        let agent = declaration.agent.clone();
        if kept.is_empty() && !declared.is_empty() {
            return Err(RightsError { agent, cut });
        }
        Ok(Arc::new(Rights::new(agent, kept, cut, depth)))
    }

    /// What the rules say of a call, before anybody is asked.
    #[must_use]
    pub fn verdict(&self, rights: &Rights, tool: &ToolName) -> Verdict {
        let deny = |rule| Verdict::Deny(rights.denial(tool, rule));
        let Some(effect) = rights.tools().get(tool) else {
            return match rights.cut().iter().find(|denial| &denial.tool == tool) {
                Some(denial) => Verdict::Deny(denial.clone()),
                None => deny(Rule::NotDeclared { declared: rights.tools().keys().cloned().collect() }),
            };
        };
        if self.revoked.holds(tool) {
            return deny(Rule::Revoked);
        }
        self.setting(rights, tool, *effect)
    }

    fn setting(&self, rights: &Rights, tool: &ToolName, effect: Effect) -> Verdict {
        let deny = |rule| Verdict::Deny(rights.denial(tool, rule));
        match self.policy.setting(tool, effect) {
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
        let verdict = self.verdict(rights, tool);
        self.settle(verdict, rights, tool, &arguments, task).await?;
        // A tool that would ask first is no leave to write for whoever does not ask.
        let may_write = rights
            .tools()
            .iter()
            .any(|(tool, effect)| *effect == Effect::Write && self.verdict(rights, tool) == Verdict::Allow);
        Ok(Permit::new(tool.clone(), arguments, rights.clone(), may_write))
    }

    /// Reviews one delegation: leave for as many attempts as the policy has, each with a permit of its own.
    ///
    /// # Errors
    /// A [`Denial`] that names the rule and what would allow the call.
    pub async fn admit<A: Serialize + Send>(
        &self,
        rights: &Arc<Rights>,
        tool: &ToolName,
        arguments: A,
        task: &str,
    ) -> Result<Admission, Denial> {
        let verdict = self.verdict(rights, tool);
        self.settle(verdict, rights, tool, &arguments, task).await?;
        Ok(Admission::new(tool.clone(), rights.clone(), self.handoffs.attempts()))
    }

    /// Reviews a call of a delegation's tool that fell back to the ordinary tool of that name. The rules on
    /// delegations do not hold for it, those on tools do, and so does what the delegating run could not lend.
    ///
    /// # Errors
    /// A [`Denial`] that names the rule and what would allow the call.
    pub async fn review_fallback<A: Serialize + Send>(
        &self,
        rights: &Arc<Rights>,
        tool: &ToolName,
        effect: Effect,
        arguments: A,
        task: &str,
    ) -> Result<Permit<A>, Denial> {
        let verdict = if rights.may_fall_back(tool) && !self.revoked.holds(tool) {
            self.setting(rights, tool, effect)
        } else {
            self.verdict(rights, tool)
        };
        self.settle(verdict, rights, tool, &arguments, task).await?;
        Ok(Permit::new(tool.clone(), arguments, rights.clone(), false))
    }

    /// From a verdict to a yes or a denial: asks where it says so.
    async fn settle<A: Serialize + Send>(
        &self,
        verdict: Verdict,
        rights: &Rights,
        tool: &ToolName,
        arguments: &A,
        task: &str,
    ) -> Result<(), Denial> {
        match verdict {
            Verdict::Allow => Ok(()),
            Verdict::Deny(denial) => Err(denial),
            Verdict::Ask => {
                let refused = || rights.denial(tool, Rule::Refused);
                let shown = serde_json::to_string(arguments).map_err(|_| refused())?;
                let request = ApprovalRequest {
                    agent: rights.agent().clone(),
                    tool: tool.clone(),
                    digest: digest::of_parts(&[tool.as_str(), &shown, task]),
                    arguments: shown,
                    task: task.to_owned(),
                };
                if self.approver.approve(&request).await { Ok(()) } else { Err(refused()) }
            }
        }
    }

    /// Parts tools into those that a run at `depth` may hold and those that are cut, each with its rule.
    fn split(
        &self,
        declaration: &Declaration,
        depth: u32,
        tools: impl IntoIterator<Item = (ToolName, Result<Effect, Rule>)>,
    ) -> (BTreeMap<ToolName, Effect>, Vec<Denial>) {
        let lists = Lists::new(&self.handoffs, declaration, depth);
        let mut kept = BTreeMap::new();
        let mut cut = Vec::new();
        for (tool, effect) in tools {
            let rule = match effect {
                Ok(_) if self.revoked.holds(&tool) => Rule::Revoked,
                Ok(effect) if self.policy.setting(&tool, effect) == Setting::Deny => Rule::DeniedByPolicy,
                Ok(effect) => match lists.rule_against(&tool, effect) {
                    Some(rule) => rule,
                    None => {
                        kept.insert(tool, effect);
                        continue;
                    }
                },
                Err(rule) => rule,
            };
            cut.push(Denial { agent: declaration.agent.clone(), tool, rule });
        }
        (kept, cut)
    }
}

//! The rules that decide which delegations a run may hold: allow, deny and depth, in that order. Must not know
//! any rule on ordinary tools.

use super::declaration::Declaration;
use super::denial::{ListSetting, Rule};
use super::effect::Effect;
use super::handoff_policy::{HandoffPolicy, ToolList};
use crate::ids::ToolName;

/// The lists that hold for the delegations of one run, and how deep they would be.
pub(super) struct Lists<'a> {
    allowed: Vec<(ListSetting, &'a ToolList)>,
    denied: Vec<(ListSetting, &'a ToolList)>,
    /// None: no rule on the depth.
    max_depth: Option<u32>,
    /// The depth of a delegation of the run.
    depth: u32,
}

impl<'a> Lists<'a> {
    /// For a run at `depth` with this declaration.
    pub(super) fn new(policy: &'a HandoffPolicy, declaration: &'a Declaration, depth: u32) -> Self {
        let own = || ListSetting::Subagent(declaration.agent.clone());
        let of = |general: &'a Option<ToolList>, particular: &'a Option<ToolList>| {
            let general =
                general.as_ref().filter(|_| policy.enabled).map(|list| (ListSetting::Handoff, list));
            general.into_iter().chain(particular.as_ref().map(|list| (own(), list))).collect()
        };
        Self {
            allowed: of(&policy.allowed_tools, &declaration.allowed_tools),
            denied: of(&policy.denied_tools, &declaration.denied_tools),
            max_depth: policy.enabled.then_some(policy.max_depth),
            depth: depth.saturating_add(1),
        }
    }

    /// The first rule against holding a tool, if one is.
    pub(super) fn rule_against(&self, tool: &ToolName, effect: Effect) -> Option<Rule> {
        if effect != Effect::Delegate {
            return None;
        }
        let names = |list: &ToolList| list.names().cloned().collect();
        if let Some((setting, list)) = self.allowed.iter().find(|(_, list)| !list.covers(tool)) {
            return Some(Rule::NotInAllowedTools { setting: setting.clone(), allowed: names(list) });
        }
        if let Some((setting, list)) = self.denied.iter().find(|(_, list)| list.covers(tool)) {
            return Some(Rule::InDeniedTools { setting: setting.clone(), denied: names(list) });
        }
        let max_depth = self.max_depth?;
        (self.depth > max_depth).then_some(Rule::TooDeep { depth: self.depth, max_depth })
    }
}

//! The operator's rules on tools: allow, ask or deny, by name and by effect. Must not know runs.

use std::collections::BTreeMap;

use super::effect::Effect;
use crate::ids::ToolName;

/// What a policy says of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Runs without a question.
    Allow,
    /// Runs after a person said yes to this very call.
    Ask,
    /// Never runs.
    Deny,
}

/// The operator's rules.
///
/// Default: reading, delegating and the embedder's own tools are allowed; writing, commands and the web ask.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    by_name: BTreeMap<ToolName, Setting>,
    yes: bool,
}

impl Policy {
    /// Allows a tool without a question. A deny of the same name wins.
    #[must_use]
    pub fn allow(self, tool: impl Into<ToolName>) -> Self {
        self.set(tool.into(), Setting::Allow)
    }

    /// Asks before each call of a tool.
    #[must_use]
    pub fn ask(self, tool: impl Into<ToolName>) -> Self {
        self.set(tool.into(), Setting::Ask)
    }

    /// Denies a tool; no later rule takes that back.
    #[must_use]
    pub fn deny(self, tool: impl Into<ToolName>) -> Self {
        self.set(tool.into(), Setting::Deny)
    }

    /// Answers yes to whatever would ask. What is denied stays denied.
    #[must_use]
    pub fn yes_to_all(mut self) -> Self {
        self.yes = true;
        self
    }

    /// The rule for a tool.
    #[must_use]
    pub fn setting(&self, tool: &ToolName, effect: Effect) -> Setting {
        let by_effect = match effect {
            Effect::Read | Effect::Delegate | Effect::Manage | Effect::Native => Setting::Allow,
            Effect::Write | Effect::Shell | Effect::Web => Setting::Ask,
        };
        match self.by_name.get(tool).copied().unwrap_or(by_effect) {
            Setting::Ask if self.yes => Setting::Allow,
            setting => setting,
        }
    }

    /// The names that have a rule of their own.
    pub fn named(&self) -> impl Iterator<Item = &ToolName> {
        self.by_name.keys()
    }

    fn set(mut self, tool: ToolName, setting: Setting) -> Self {
        let slot = self.by_name.entry(tool).or_insert(setting);
        // Deny wins whatever the order in which rules are given.
        if *slot != Setting::Deny {
            *slot = setting;
        }
        self
    }
}

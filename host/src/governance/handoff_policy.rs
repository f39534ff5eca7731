//! The rules on delegations: which, how deep, how often, how long, and what a refusal or a failure leads to.
//! Must not run or count anything.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use crate::history::ToolCall;
use crate::ids::ToolName;

/// The rules on delegations. Each default stands in brackets.
///
/// ```
/// use deputy::governance::{HandoffFailureAction, HandoffPolicy, ToolList};
///
/// let policy = HandoffPolicy {
///     max_depth: 2,
///     allowed_tools: Some(ToolList::of(["subagent_explore"])),
///     on_error: HandoffFailureAction::TellModel,
///     ..HandoffPolicy::default()
/// };
/// assert_eq!(policy.attempts(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct HandoffPolicy {
    /// False switches off the lists, the depth, the filter, retries and what follows a refusal or a failure
    /// (both then fail); events and the timeout stay \[true\].
    pub enabled: bool,
    /// The deepest delegation: 0 is none, 1 is one level \[1\].
    pub max_depth: u32,
    /// Attempts after the first one \[0\].
    pub max_retries: u32,
    /// Wall time of one attempt, from the moment its guest starts \[none\].
    pub timeout: Option<Duration>,
    /// Only these delegations, by the tools that stand for them \[none: all\].
    pub allowed_tools: Option<ToolList>,
    /// Never these delegations \[none\].
    pub denied_tools: Option<ToolList>,
    /// What a refused delegation leads to \[fail\].
    pub on_denied: HandoffFailureAction,
    /// What a failed delegation leads to once its attempts are used up \[fail\].
    pub on_error: HandoffFailureAction,
    /// Rewrites an admitted call before its task is read from it \[none\].
    pub input_filter: Option<InputFilter>,
    /// Whether an attempt that wrote, ran a command, sent a request or delegated may be made again \[false\]:
    /// what it did could be done twice.
    pub retry_after_side_effects: bool,
    /// By which tools the parent's model reaches its subagents \[both\].
    pub surface: DelegationSurface,
}

/// By which tools a parent's model reaches its subagents. The grants are the same either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelegationSurface {
    /// One tool for each subagent, which answers when the subagent has ended.
    Tools,
    /// `agent_spawn` and its fellows, which start subagents in the background as well.
    Spawn,
    /// Both.
    #[default]
    Both,
    /// None: the parent has no subagents.
    None,
}

impl DelegationSurface {
    /// True where each subagent has a tool of its own.
    #[must_use]
    pub fn has_tools(self) -> bool {
        matches!(self, Self::Tools | Self::Both)
    }

    /// True where there are the tools that spawn.
    #[must_use]
    pub fn has_spawn(self) -> bool {
        matches!(self, Self::Spawn | Self::Both)
    }
}

/// What a refused or failed delegation leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoffFailureAction {
    /// The delegating run ends with the error.
    #[default]
    Fail,
    /// The executor of ordinary tools gets the same call.
    FallbackToPrimary,
    /// The model reads the error as the result of its call, and goes on.
    TellModel,
}

impl Default for HandoffPolicy {
    fn default() -> Self {
        Self {
            enabled: true,
            max_depth: 1,
            max_retries: 0,
            timeout: None,
            allowed_tools: None,
            denied_tools: None,
            on_denied: HandoffFailureAction::Fail,
            on_error: HandoffFailureAction::Fail,
            input_filter: None,
            retry_after_side_effects: false,
            surface: DelegationSurface::default(),
        }
    }
}

impl HandoffPolicy {
    /// The defaults, but with refusals and failures told to the model: what the `deputy` command starts from.
    #[must_use]
    pub fn telling_the_model() -> Self {
        let tell = HandoffFailureAction::TellModel;
        Self { on_denied: tell, on_error: tell, ..Self::default() }
    }

    /// Attempts in all, the first one among them.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        if self.enabled { self.max_retries.saturating_add(1) } else { 1 }
    }

    /// What a refusal leads to.
    #[must_use]
    pub fn after_denial(&self) -> HandoffFailureAction {
        if self.enabled { self.on_denied } else { HandoffFailureAction::Fail }
    }

    /// What a failure leads to.
    #[must_use]
    pub fn after_error(&self) -> HandoffFailureAction {
        if self.enabled { self.on_error } else { HandoffFailureAction::Fail }
    }

    /// The call as the filter leaves it.
    ///
    /// # Errors
    /// [`FilterPanicked`]: what it would have left out is not known, so nothing may run.
    pub fn filtered(&self, call: &ToolCall) -> Result<ToolCall, FilterPanicked> {
        match &self.input_filter {
            Some(filter) if self.enabled => filter.apply(call),
            _ => Ok(call.clone()),
        }
    }
}

/// Names of tools that stand for subagents. `*` stands for all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolList(BTreeSet<ToolName>);

impl ToolList {
    /// A list of these names. Empty: none.
    #[must_use]
    pub fn of<T: Into<ToolName>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// True where the list has exactly this name, or `*`.
    #[must_use]
    pub fn covers(&self, tool: &ToolName) -> bool {
        self.0.iter().any(|name| name == tool || name.as_str() == "*")
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &ToolName> {
        self.0.iter()
    }
}

/// Rewrites the call of a delegation: to leave out what a subagent must not see, to shorten, to add rules.
#[derive(Clone)]
pub struct InputFilter(Arc<Filter>);

/// The input filter panicked on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the input filter (`handoff.input_filter`) panicked on the call; this is a fault of the filter")]
pub struct FilterPanicked;

type Filter = dyn Fn(&ToolCall) -> Option<ToolCall> + Send + Sync;

impl InputFilter {
    /// A filter; where it returns nothing the call stays as it was.
    pub fn new(filter: impl Fn(&ToolCall) -> Option<ToolCall> + Send + Sync + 'static) -> Self {
        Self(Arc::new(filter))
    }

    /// The arguments may change, who is asked may not: the call was admitted under its name.
    fn apply(&self, call: &ToolCall) -> Result<ToolCall, FilterPanicked> {
        // The filter is the embedder's code, and the call that it gets a model's: a panic must not end the host.
        let filtered = std::panic::catch_unwind(AssertUnwindSafe(|| (self.0)(call)));
        Ok(match filtered.map_err(|_| FilterPanicked)? {
            Some(filtered) => {
                ToolCall { id: call.id.clone(), name: call.name.clone(), arguments: filtered.arguments }
            }
            None => call.clone(),
        })
    }
}

impl fmt::Debug for InputFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputFilter")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> ToolCall {
        ToolCall { id: "c".into(), name: "subagent_a".into(), arguments: r#"{"task":"t"}"#.into() }
    }

    #[test]
    fn a_disabled_policy_keeps_its_timeout_and_nothing_else() {
        let policy = HandoffPolicy {
            enabled: false,
            max_retries: 3,
            on_error: HandoffFailureAction::TellModel,
            on_denied: HandoffFailureAction::FallbackToPrimary,
            input_filter: Some(InputFilter::new(|call| {
                Some(ToolCall { arguments: "x".into(), ..call.clone() })
            })),
            ..HandoffPolicy::default()
        };
        assert_eq!(policy.attempts(), 1);
        assert_eq!((policy.after_error(), policy.after_denial()), Default::default());
        assert_eq!(policy.filtered(&call()), Ok(call()));
    }

    #[test]
    fn a_filter_changes_arguments_and_never_who_is_asked() {
        let with = |filter: fn(&ToolCall) -> Option<ToolCall>| HandoffPolicy {
            input_filter: Some(InputFilter::new(filter)),
            ..HandoffPolicy::default()
        };
        let other = |_: &ToolCall| {
            Some(ToolCall { id: "d".into(), name: "subagent_b".into(), arguments: "x".into() })
        };
        assert_eq!(with(other).filtered(&call()), Ok(ToolCall { arguments: "x".into(), ..call() }));
        assert_eq!(with(|_| None).filtered(&call()), Ok(call()), "nothing leaves the call as it was");
    }

    #[test]
    fn a_list_covers_exact_names_or_all() {
        let list = ToolList::of(["subagent_a"]);
        assert!(list.covers(&"subagent_a".into()));
        assert!(!list.covers(&"subagent_A".into()) && !list.covers(&"subagent".into()));
        assert!(ToolList::of(["*"]).covers(&"anything".into()));
        assert!(!ToolList::default().covers(&"*".into()));
    }
}

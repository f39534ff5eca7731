//! What a stored conversation is found by, and whose it is. Must not look for one.

use serde::Serialize;

use crate::ids::{SessionId, ToolName, UserId};

/// What begins the key of an agent's own conversation: no tool can be called so.
const AGENT: &str = "agent:";

/// Whose conversation with which tool. At most one is stored of each key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SessionKey {
    /// The tool whose calls share the conversation.
    pub tool: ToolName,
    /// The user whom it is held for: users never see each other's.
    pub user: UserId,
}

impl SessionKey {
    /// The key of a parent agent's own conversation. Unlike a subagent's, there may be many for one user.
    #[must_use]
    pub fn of_agent(session: &SessionId, user: UserId) -> Self {
        Self { tool: ToolName::new(format!("{AGENT}{session}")), user }
    }

    /// True for a parent agent's own conversation.
    #[must_use]
    pub fn is_of_agent(&self) -> bool {
        self.tool.as_str().starts_with(AGENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::SessionMode;

    #[test]
    fn a_mode_is_fresh_unless_said_and_named_the_same_everywhere() {
        assert_eq!(SessionMode::default(), SessionMode::Fresh);
        for mode in [SessionMode::Fresh, SessionMode::Reuse] {
            assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        }
    }

    #[test]
    fn an_agents_conversation_is_told_from_a_subagents() {
        let session = SessionId::fresh();
        assert!(SessionKey::of_agent(&session, UserId::default()).is_of_agent());
        assert!(!SessionKey { tool: "subagent_agent".into(), user: UserId::default() }.is_of_agent());
    }
}

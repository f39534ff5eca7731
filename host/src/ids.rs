//! Names and numbers that tell things apart, each a type of its own. Must know no other module.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// Declares a text id: cheap to clone, compared and printed as its text.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::new(text)
            }
        }
    };
}

text_id!(
    /// One run of one agent, parent or subagent. Unique in time and space (UUID v7).
    RunId
);
text_id!(
    /// One delegation, whatever its attempts. Unique in time and space (UUID v7).
    HandoffId
);
text_id!(
    /// One conversation, whatever runs continue it. Unique in time and space (UUID v7).
    SessionId
);
text_id!(
    /// Whom a run works for: conversations of one user are never continued for another.
    UserId
);
text_id!(
    /// One tool call, as the model named it, or made up where it did not.
    CallId
);
text_id!(
    /// The name of a tool as a model calls it. Compared exactly: there are no near matches.
    ToolName
);
text_id!(
    /// The name of an agent: `parent`, or a subagent's.
    AgentName
);

impl RunId {
    /// A new id.
    #[must_use]
    pub fn fresh() -> Self {
        Self::new(uuid::Uuid::now_v7().to_string())
    }
}

impl HandoffId {
    /// A new id.
    #[must_use]
    pub fn fresh() -> Self {
        Self::new(uuid::Uuid::now_v7().to_string())
    }
}

impl SessionId {
    /// A new id.
    #[must_use]
    pub fn fresh() -> Self {
        Self::new(uuid::Uuid::now_v7().to_string())
    }

    /// A new id of a subagent's conversation: `sub-` and a UUID.
    #[must_use]
    pub fn fresh_sub() -> Self {
        Self::new(format!("sub-{}", uuid::Uuid::now_v7()))
    }
}

impl Default for UserId {
    /// `local`: whoever runs the host.
    fn default() -> Self {
        Self::from("local")
    }
}

impl CallId {
    /// An id for a call that came without one.
    #[must_use]
    pub fn made_up() -> Self {
        Self::new(format!("call_{}", uuid::Uuid::now_v7().simple()))
    }
}

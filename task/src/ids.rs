//! The names of tasks and of the sessions told about them. Must know no other module.

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
    /// One background task, whatever its attempts. Unique in time and space (UUID v7).
    TaskId
);
text_id!(
    /// One session: the history into which the results of its tasks are drained.
    SessionId
);

impl TaskId {
    /// A new id; later ones sort after earlier ones.
    #[must_use]
    pub fn fresh() -> Self {
        Self::new(uuid::Uuid::now_v7().to_string())
    }
}

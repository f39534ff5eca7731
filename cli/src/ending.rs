//! How the command ends: an ending, its exit code, and errors that carry one. Must not print but through render.

use std::process::ExitCode;

use deputy::event::RunStatus;

use crate::render;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// 0
    Answered,
    /// 1
    Failed,
    /// 2
    Usage,
    /// 3
    Denied,
    /// 4
    Partial,
    /// 130 or 143: 128 and the signal's number.
    Interrupted(u8),
}

impl Ending {
    /// The ending of a run.
    pub(crate) fn of(status: RunStatus, signal: Option<u8>) -> Self {
        match (status, signal) {
            (RunStatus::Cancelled, Some(signal)) => Self::Interrupted(signal),
            (RunStatus::Answered, _) => Self::Answered,
            (RunStatus::Partial, _) => Self::Partial,
            (RunStatus::Denied, _) => Self::Denied,
            _ => Self::Failed,
        }
    }

    /// Tells an error and says how the command ends for it.
    pub(crate) fn told(error: &anyhow::Error) -> Self {
        render::error(&format!("{error:#}"));
        Self::of_error(error)
    }

    /// How the command ends for an error.
    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        error.downcast_ref::<Ends>().map_or(Self::Usage, |ends| ends.ending)
    }

    /// The word of `--output json`.
    pub(crate) fn status(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed | Self::Usage => "failed",
            Self::Denied => "denied",
            Self::Partial => "partial",
            Self::Interrupted(_) => "cancelled",
        }
    }

    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Answered => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Denied => 3,
            Self::Partial => 4,
            Self::Interrupted(signal) => 128u8.saturating_add(signal),
        }
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(ending.code())
    }
}

/// An error that ends the command in a certain way; others end it as wrong usage.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Ends {
    ending: Ending,
    text: String,
}

/// An error with its ending.
pub(crate) fn ends(ending: Ending, text: &(impl ToString + ?Sized)) -> anyhow::Error {
    Ends { ending, text: text.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_code() {
        for (status, signal, code) in [
            (RunStatus::Answered, None, 0),
            (RunStatus::Failed, None, 1),
            (RunStatus::TimedOut, None, 1),
            (RunStatus::Denied, None, 3),
            (RunStatus::Partial, None, 4),
            (RunStatus::Cancelled, Some(2), 130),
            (RunStatus::Cancelled, Some(15), 143),
            // A run that was done before the signal reached it is done.
            (RunStatus::Answered, Some(2), 0),
        ] {
            assert_eq!(Ending::of(status, signal).code(), code, "{status:?}");
        }
        assert_eq!(Ending::of_error(&anyhow::anyhow!("x")).code(), 2);
        assert_eq!(Ending::of_error(&ends(Ending::Failed, "x").context("y")).code(), 1);
    }
}

//! How long a command may run: what the call asks for within what the host allows. Measures nothing.

use std::time::Duration;

use crate::tools::{ToolError, ToolLimits};

/// A time limit and whether it is less than was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeLimit {
    /// How long the command may run.
    pub(super) limit: Duration,
    /// What was asked for, where that was more.
    pub(super) asked: Option<Duration>,
}

/// The limit of one call.
pub(super) fn resolve(timeout_ms: Option<u64>, limits: &ToolLimits) -> Result<TimeLimit, ToolError> {
    let longest = limits.command_time_max;
    match timeout_ms.map(Duration::from_millis) {
        None => Ok(TimeLimit { limit: limits.command_time.min(longest), asked: None }),
        Some(Duration::ZERO) => Err(ToolError::InvalidArguments(
            "`timeout_ms` is 0, which leaves no time to run; give at least 1 or leave it out".to_owned(),
        )),
        Some(asked) if asked > longest => Ok(TimeLimit { limit: longest, asked: Some(asked) }),
        Some(asked) => Ok(TimeLimit { limit: asked, asked: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ToolLimits = ToolLimits {
        result_bytes: 0,
        file_bytes: 0,
        items: 0,
        line_bytes: 0,
        command_time: Duration::from_secs(5),
        command_time_max: Duration::from_secs(9),
    };

    #[test]
    fn a_call_gets_what_it_asks_for_up_to_the_longest() {
        let limit = |seconds, asked| Ok(TimeLimit { limit: Duration::from_secs(seconds), asked });
        assert_eq!(resolve(None, &LIMITS), limit(5, None));
        assert_eq!(resolve(Some(7000), &LIMITS), limit(7, None));
        assert_eq!(resolve(Some(9000), &LIMITS), limit(9, None));
        assert_eq!(resolve(Some(9001), &LIMITS), limit(9, Some(Duration::from_millis(9001))));
        assert_eq!(resolve(Some(u64::MAX), &LIMITS), limit(9, Some(Duration::from_millis(u64::MAX))));
    }

    #[test]
    fn no_time_at_all_is_refused() {
        assert!(matches!(resolve(Some(0), &LIMITS), Err(ToolError::InvalidArguments(_))));
    }

    #[test]
    fn the_default_never_exceeds_the_longest() {
        let limits = ToolLimits { command_time: Duration::from_secs(50), ..LIMITS };
        assert_eq!(resolve(None, &limits).unwrap().limit, Duration::from_secs(9));
    }
}

//! How long a server asks us to wait. Must not wait.

use std::time::{Duration, SystemTime};

/// The longest wait that a server can ask for; more would look like a dead program.
const LONGEST: Duration = Duration::from_secs(60);

/// The wait that a `Retry-After` value asks for at the time `now`: seconds or a date, at most a minute.
/// None where it is neither.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    let wait = match value.parse::<f64>() {
        Ok(seconds) if seconds.is_nan() => return None,
        Ok(seconds) => Duration::from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64())),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or(Duration::ZERO),
    };
    Some(wait.min(LONGEST))
}

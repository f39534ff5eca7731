//! Runs file work on a thread that may block, and ends the wait when the run is being stopped.
//! Must not know what the work is.

use std::any::Any;
use std::time::Duration;

use super::{CallContext, ToolError};

/// How long a stopped call waits for its work to notice. Work that hangs in the file system longer than
/// this is left behind: it looks at the cancel flag once more before it takes effect.
const GRACE: Duration = Duration::from_secs(1);

/// Runs `work` with a context of its own.
///
/// # Errors
/// What the work returns; [`ToolError::Cancelled`] where the run was stopped first; [`ToolError::Failed`]
/// where the work panicked.
pub(super) async fn blocking<T, F>(context: &CallContext, work: F) -> Result<T, ToolError>
where
    T: Send + 'static,
    F: FnOnce(&CallContext) -> Result<T, ToolError> + Send + 'static,
{
    going_on(context)?;
    let owned = context.clone();
    let mut job = tokio::task::spawn_blocking(move || work(&owned));
    let ended = tokio::select! {
        ended = &mut job => ended,
        () = context.cancel.cancelled() => match tokio::time::timeout(GRACE, &mut job).await {
            Ok(ended) => ended,
            Err(_) => return Err(ToolError::Cancelled),
        },
    };
    match ended {
        Ok(result) => result,
        Err(error) if error.is_panic() => Err(ToolError::Failed(format!(
            "the tool broke off by a fault of its own ({}); nothing more is known of the call",
            panic_text(&*error.into_panic())
        ))),
        Err(_) => Err(ToolError::Cancelled),
    }
}

/// Says whether the run may go on.
///
/// # Errors
/// [`ToolError::Cancelled`] where it is being stopped.
pub(super) fn going_on(context: &CallContext) -> Result<(), ToolError> {
    if context.cancel.is_cancelled() { Err(ToolError::Cancelled) } else { Ok(()) }
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests;

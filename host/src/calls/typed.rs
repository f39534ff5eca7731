//! A call with typed arguments: what a guest's WIT function becomes on the host. The same review, the same
//! events and the same counts as a call through JSON. Must not know WIT types.

use std::sync::Arc;

use deputy_contract::Arguments as TypedArguments;
use serde::Serialize;
use tracing::Instrument as _;

use super::CallRecord;
use crate::ids::{CallId, ToolName};
use crate::run::RunScope;
use crate::tools::{Operation, ToolError};

/// Reviews and runs one call of a built-in tool.
///
/// # Errors
/// What the guest reads: a denial, or what the tool itself said.
pub(crate) async fn typed_call<O>(
    scope: &Arc<RunScope>,
    operation: &O,
    arguments: O::Arguments,
) -> Result<O::Output, ToolError>
where
    O: Operation,
    O::Arguments: Serialize,
{
    let tool = ToolName::from(O::Arguments::SPEC.name);
    let record = CallRecord::begin(scope, CallId::made_up(), tool.clone(), || {
        serde_json::to_string(&arguments).unwrap_or_default()
    });
    let result = async {
        let permit = scope.review(&tool, arguments).await?;
        operation.run(permit, &scope.call_context()).await
    }
    .instrument(record.span())
    .await;
    record.end(result.as_ref().err());
    result
}

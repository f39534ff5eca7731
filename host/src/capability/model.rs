//! The `model` interface: a conversation that the host keeps. The history never crosses the boundary, and
//! stands where a trap of the guest cannot reach it. Must not hold a key.

use wasmtime::component::Resource;

use super::convert::guest_error_text;
use super::{Ended, GuestState};
use crate::bindings::ConversationHandle;
use crate::bindings::deputy::agent::model::{self, ModelError, Reply};
use crate::bindings::deputy::agent::types::{ToolCall as WitToolCall, ToolError, ToolSpec};
use crate::calls::CallRecord;
use crate::history::{Message, ToolCall, ToolResult};
use crate::ids::CallId;
use crate::model::ToolDescription;
use crate::tools::ToolError as HostToolError;
use crate::turn::next_turn;

/// Most bytes of a system text.
const SYSTEM_BYTES: usize = 256 * 1024;
/// Most bytes of one user message.
const MESSAGE_BYTES: usize = 1024 * 1024;
/// Most bytes that one run may put into its conversation, all together.
const CONVERSATION_BYTES: usize = 32 * 1024 * 1024;
/// Most tools of one turn.
const TOOLS: usize = 256;

type Answer<T> = wasmtime::Result<Result<T, ModelError>>;

impl model::Host for GuestState {}

impl model::HostConversation for GuestState {
    async fn open(&mut self, system: String) -> Answer<Resource<ConversationHandle>> {
        if system.len() > SYSTEM_BYTES {
            return Ok(Err(too_long("the system text", system.len(), SYSTEM_BYTES)));
        }
        if !self.record.open() {
            return Ok(Err(wrong_order("the run's conversation is open already; open it once")));
        }
        let system = format!("{system}{}", self.executor.system_part(&self.scope));
        let history = self.record.history.clone();
        let resumed = self.outside(async move { !history.lock().await.is_empty() }).await?;
        Ok(Ok(self.table.push(ConversationHandle { system, resumed })?))
    }

    async fn resumed(&mut self, conversation: Resource<ConversationHandle>) -> wasmtime::Result<bool> {
        Ok(self.table.get(&conversation)?.resumed)
    }

    async fn say(&mut self, conversation: Resource<ConversationHandle>, text: String) -> Answer<()> {
        self.table.get(&conversation)?;
        if text.len() > MESSAGE_BYTES {
            return Ok(Err(too_long("the message", text.len(), MESSAGE_BYTES)));
        }
        let mut history = self.record.history.lock().await;
        if history.pushed().saturating_add(text.len()) > CONVERSATION_BYTES {
            return Ok(Err(full()));
        }
        if !history.open_calls().is_empty() {
            return Ok(Err(wrong_order("calls of the last reply are open; answer each of them first")));
        }
        history.push(Message::user(text));
        Ok(Ok(()))
    }

    async fn complete(
        &mut self,
        conversation: Resource<ConversationHandle>,
        tools: Vec<ToolSpec>,
    ) -> Answer<Reply> {
        let system = self.table.get(&conversation)?.system.clone();
        if tools.len() > TOOLS {
            return Ok(Err(too_long("the list of tools", tools.len(), TOOLS)));
        }
        let tools: Vec<ToolDescription> = tools.into_iter().map(Into::into).collect();
        let (scope, history) = (self.scope.clone(), self.record.history.clone());
        let turn = self
            .outside(async move {
                let mut history = history.lock().await;
                if !history.open_calls().is_empty() {
                    return Err(wrong_order("calls of the last reply are open; answer each of them first"));
                }
                if history
                    .entries()
                    .last()
                    .is_none_or(|entry| matches!(entry.message(), Message::Assistant(_)))
                {
                    return Err(wrong_order("nothing was said since the last reply; say something first"));
                }
                let turn = next_turn(&scope, &system, &mut history, &tools).await?;
                history.push(Message::Assistant(turn.message.clone()));
                Ok(turn)
            })
            .await?;
        Ok(turn.map(|turn| Reply {
            text: turn.message.text(),
            calls: turn
                .message
                .calls()
                .map(|call| WitToolCall {
                    id: call.id.to_string(),
                    name: call.name.to_string(),
                    arguments: call.arguments.as_str().to_owned(),
                })
                .collect(),
            stop: turn.stop.into(),
            usage: turn.usage.into(),
        }))
    }

    async fn answer_call(
        &mut self,
        conversation: Resource<ConversationHandle>,
        call_id: String,
        outcome: Result<String, ToolError>,
    ) -> Answer<()> {
        self.table.get(&conversation)?;
        if self.scope.cancel.is_cancelled() {
            return Err(Ended.into());
        }
        let id = CallId::from(call_id);
        let mut history = self.record.history.lock().await;
        let Some(call) = history.open_calls().into_iter().find(|call| call.id == id) else {
            return Ok(Err(wrong_order(&format!("no call `{id}` of the last reply is open"))));
        };
        if history.pushed() > CONVERSATION_BYTES {
            return Ok(Err(full()));
        }
        let outcome = match outcome {
            // The guest knows of no such tool; the host knows whether it was refused one, and by which rule.
            Err(ToolError::UnknownTool(text)) => Err(self.no_such_tool(&call, text)),
            outcome => outcome.map_err(|error| guest_error_text(&error).to_owned()),
        };
        history.push(Message::Tool(match outcome {
            Ok(text) => ToolResult::ok(id, call.name, text),
            Err(text) => ToolResult::error(id, call.name, text),
        }));
        Ok(Ok(()))
    }

    async fn forget(&mut self, conversation: Resource<ConversationHandle>, keep_last: u32) -> Answer<()> {
        self.table.get(&conversation)?;
        self.record.history.lock().await.forget(usize::try_from(keep_last).unwrap_or(usize::MAX));
        Ok(Ok(()))
    }

    async fn drop(&mut self, conversation: Resource<ConversationHandle>) -> wasmtime::Result<()> {
        self.table.delete(conversation)?;
        Ok(())
    }
}

impl GuestState {
    /// What the model reads of a call of a tool that the run does not hold: the refusal where it had asked for the
    /// tool, else what the guest says. Recorded as a call either way.
    fn no_such_tool(&self, call: &ToolCall, text: String) -> String {
        let arguments = || call.arguments.as_str().to_owned();
        let record = CallRecord::begin(&self.scope, call.id.clone(), call.name.clone(), arguments);
        let denial = self.scope.rights.cut().iter().find(|denial| denial.tool == call.name);
        let error = denial.map_or(HostToolError::Other(text), |denial| HostToolError::Denied(denial.clone()));
        record.end(Some(&error));
        error.to_string()
    }
}

fn full() -> ModelError {
    ModelError::ContextFull(format!(
        "the run has put more than {CONVERSATION_BYTES} bytes into its conversation"
    ))
}

fn wrong_order(what: &str) -> ModelError {
    ModelError::WrongOrder(what.to_owned())
}

fn too_long(what: &str, is: usize, most: usize) -> ModelError {
    ModelError::Other(format!("{what} is too long: {is}, expected at most {most}"))
}

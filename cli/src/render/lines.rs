//! An event as a plain line, for logs and pipes. Must not keep state.

use deputy::event::{Event, RunStatus, ToolStatus};

use super::line;

/// The line of an event; none where it says nothing to a reader.
pub(super) fn plain(event: &Event, trace_guest: bool) -> Option<String> {
    Some(match event {
        Event::RunStart { agent, depth, task, .. } if *depth > 0 => {
            format!("{}: {}", line(agent.as_str()), head(task))
        }
        Event::ToolEnd { agent, tool, status, duration_ms, error, .. } => {
            let agent = line(agent.as_str());
            let tool = line(tool.as_str());
            match (status, error) {
                (ToolStatus::Ok, _) => format!("{agent}: {tool} ({duration_ms} ms)"),
                (_, Some(error)) => format!("{agent}: {tool}: {}", head(error)),
                (_, None) => format!("{agent}: {tool}: failed"),
            }
        }
        Event::ToolStart { agent, tool, arguments, .. } => {
            format!("{}: {} {}", line(agent.as_str()), line(tool.as_str()), head(arguments))
        }
        Event::TurnEnd { agent, turn, usage, .. } => {
            format!("{}: turn {turn} ({} tokens)", line(agent.as_str()), usage.total())
        }
        Event::ModelRetry { failures, delay_ms, error, .. } => {
            format!("model: failure {failures}, another try in {delay_ms} ms: {}", head(error))
        }
        Event::HandoffEnd(end) => {
            let agent = line(end.subagent.as_str());
            let how = if end.status == RunStatus::Answered { "answered" } else { "gave no whole answer" };
            let why = end.error.as_deref().map(|error| format!(": {}", head(error))).unwrap_or_default();
            format!(
                "{agent}: {how} after {} turns, {} calls, {} tokens, {} ms{why}",
                end.turns,
                end.tool_calls,
                end.usage.total(),
                end.duration_ms
            )
        }
        Event::Progress { agent, line: text, .. } => format!("{}: {}", line(agent.as_str()), head(text)),
        Event::Log { agent, text, .. } if trace_guest => {
            format!("{} wrote: {}", line(agent.as_str()), head(text))
        }
        Event::Warning { message } => format!("warning: {}", head(message)),
        _ => return None,
    })
}

/// The beginning of a text from outside, in one line.
pub(super) fn head(text: &str) -> String {
    const MOST: usize = 160;
    let text = line(text.trim());
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

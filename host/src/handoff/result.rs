//! What the parent's model reads of a delegation: a JSON object whose `output` is data, never speech of the host's.
//! Must not decide what a failure leads to.

use serde_json::{Map, Value, json};

use super::record::Handoff;
use crate::event::HandoffStatus;
use crate::history::{ResultCap, as_data, shortened};
use crate::sandbox::EndCause;

/// The result of a delegation that has something to show. Fits `cap`, so that nothing cuts through its frame.
pub(super) fn answer(
    handoff: &Handoff,
    status: HandoffStatus,
    output: &str,
    note: Option<&str>,
    cap: ResultCap,
) -> String {
    fitting(cap, output, |output| framed(handoff, status, None, Some(output), note))
}

/// The result of a delegation that gave no answer: why, in which conversation, and what it had by then. Fits `cap`.
pub(super) fn failure(
    handoff: &Handoff,
    status: HandoffStatus,
    cause: &str,
    partial: Option<&str>,
    note: Option<&str>,
    cap: ResultCap,
) -> String {
    let error = shortened(&as_data(cause), cap.0 / 4);
    match partial.filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            let output = format!("[partial result, from before it ended]\n{}", as_data(text));
            fitting(cap, &output, |output| framed(handoff, status, Some(&error), Some(output), note))
        }
        None => framed(handoff, status, Some(&error), None, note),
    }
}

/// The same in one line for people and for a run that this ends: what a subagent said stands in quotes.
pub(super) fn failure_line(
    handoff: &Handoff,
    status: HandoffStatus,
    cause: &str,
    partial: Option<&str>,
) -> String {
    let sum = handoff.sum();
    let mut text = format!(
        "subagent `{}` gave no answer: {} (status {status}, attempts {}, model turns {}, tool calls {}",
        as_data(handoff.subagent.name().as_str()),
        on_one_line(cause),
        sum.attempts,
        sum.turns,
        sum.tool_calls,
    );
    if let Some(session) = &sum.session {
        text.push_str(&format!(", session {session}"));
    }
    text.push(')');
    if let Some(partial) = partial.filter(|text| !text.trim().is_empty()) {
        text.push_str(&format!("; partial result: {}", json!(shortened(&as_data(partial), LINE_BYTES))));
    }
    text
}

/// Most bytes of a partial result in a line.
const LINE_BYTES: usize = 2000;

/// A line break could make what a subagent says look like a line of the host's.
fn on_one_line(text: &str) -> String {
    as_data(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Frames as much of `output` as fits `cap` with its frame.
fn fitting(cap: ResultCap, output: &str, framed: impl Fn(&str) -> String) -> String {
    let mut room = cap.0;
    loop {
        let text = framed(&shortened(output, room));
        // Escapes make text longer: what is over goes, until the whole fits.
        match text.len().checked_sub(cap.0) {
            Some(over) if over > 0 && room > 0 => room = room.saturating_sub(over.max(64)),
            _ => return text,
        }
    }
}

fn framed(
    handoff: &Handoff,
    status: HandoffStatus,
    error: Option<&str>,
    output: Option<&str>,
    note: Option<&str>,
) -> String {
    let sum = handoff.sum();
    let mut object = Map::new();
    // The id is fresh in each call, so no text from before can name it.
    object.insert("handoff_id".to_owned(), json!(handoff.id.as_str()));
    object.insert("subagent".to_owned(), json!(as_data(handoff.subagent.name().as_str())));
    object.insert("tool_name".to_owned(), json!(handoff.subagent.tool_name.as_str()));
    object.insert("status".to_owned(), json!(status));
    if let Some(error) = error {
        object.insert("error".to_owned(), json!(error));
        if let Some(session) = &sum.session {
            object.insert("session_id".to_owned(), json!(session.as_str()));
        }
    }
    if let Some(output) = output {
        object.insert("output".to_owned(), json!(output));
    }
    object.insert("steps".to_owned(), json!(sum.turns));
    object.insert("tool_calls".to_owned(), json!(sum.tool_calls));
    if sum.attempts > 1 {
        object.insert("attempts".to_owned(), json!(sum.attempts));
    }
    if !sum.cut.is_empty() {
        object.insert("not_granted".to_owned(), json!(sum.cut));
    }
    if let Some(worktree) = &sum.worktree {
        object.insert("worktree".to_owned(), worktree.clone());
    }
    if let Some(note) = note {
        object.insert("note".to_owned(), json!(note));
    }
    Value::Object(object).to_string()
}

/// A whole answer as data; `(empty)` where there is nothing to see.
pub(super) fn output(text: &str) -> String {
    let data = as_data(text);
    let nothing = text.chars().all(|c| c.is_whitespace() || crate::history::is_invisible(c));
    if nothing { "(empty)".to_owned() } else { data }
}

/// What there is of an answer, under a marker that says why it is no whole one.
pub(super) fn partial(cause: &EndCause, partial: Option<&str>) -> String {
    format!("[partial result: {}]\n{}", on_one_line(&cause.to_string()), output(partial.unwrap_or_default()))
}

//! What happened, as plain lines for logs and pipes: one for each tool call, turn and delegation that ended.
//! Must not print.

use std::collections::HashMap;

use deputy::event::{Event, HandoffEnd, HandoffStatus, ToolStatus};
use deputy::ids::{CallId, RunId};

use super::line;

/// Most characters of a text from outside that stand in one line.
const MOST: usize = 160;
/// Most characters of an error; it says at its end what to do.
const MOST_OF_ERROR: usize = 600;

/// Makes lines of events; remembers what calls were asked, to say it when they end.
#[derive(Debug, Default)]
pub(super) struct Lines {
    arguments: HashMap<(RunId, CallId), String>,
}

impl Lines {
    /// The line of an event; none where it says nothing to a reader.
    pub(super) fn hear(&mut self, event: &Event) -> Option<String> {
        Some(match event {
            Event::RunStart { agent, depth, task, .. } if *depth > 0 => {
                format!("{}: {}", line(agent.as_str()), head(task))
            }
            Event::ToolStart { run, call_id, arguments, .. } => {
                self.arguments.insert((run.clone(), call_id.clone()), head(arguments));
                return None;
            }
            Event::ToolEnd { run, agent, call_id, tool, status, duration_ms, error } => {
                let arguments = self.arguments.remove(&(run.clone(), call_id.clone())).unwrap_or_default();
                let how = match status {
                    ToolStatus::Ok => String::new(),
                    ToolStatus::Error => format!(" failed{}", because(error.as_deref())),
                    ToolStatus::Denied => format!(" denied{}", because(error.as_deref())),
                };
                let (agent, tool) = (line(agent.as_str()), line(tool.as_str()));
                format!("{agent}: {tool} {arguments} ({duration_ms} ms){how}")
            }
            Event::TurnEnd { agent, turn, usage, .. } => {
                format!("{}: turn {turn} ({} tokens)", line(agent.as_str()), usage.total())
            }
            Event::ModelRetry { failures, delay_ms, error, .. } => {
                format!("model: failure {failures}, another try in {delay_ms} ms: {}", head(error))
            }
            Event::HandoffEnd(end) => ended(end),
            Event::Progress { agent, line: text, .. } => format!("{}: {}", line(agent.as_str()), head(text)),
            Event::Warning { message } => format!("warning: {}", head(message)),
            _ => return None,
        })
    }
}

/// How a delegation ended.
pub(super) fn ended(end: &HandoffEnd) -> String {
    let agent = line(end.subagent.as_str());
    let how = match end.status {
        HandoffStatus::Completed => "answered",
        HandoffStatus::Denied => "was refused",
        HandoffStatus::Fallback => "gave no answer, and an ordinary tool was called in its place,",
        _ => "gave no whole answer",
    };
    let tries = if end.attempts > 1 { format!("{} attempts, ", end.attempts) } else { String::new() };
    format!(
        "{agent}: {how} after {tries}{} turns, {} calls, {} tokens, {} ms{}",
        end.turns,
        end.tool_calls,
        end.usage.total(),
        end.duration_ms,
        because(end.error.as_deref())
    )
}

fn because(error: Option<&str>) -> String {
    error.map(|error| format!(": {}", cut(error, MOST_OF_ERROR))).unwrap_or_default()
}

/// The beginning of a text from outside, in one line.
pub(super) fn head(text: &str) -> String {
    cut(text, MOST)
}

fn cut(text: &str, most: usize) -> String {
    let text = line(text.trim());
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(call: &str, arguments: &str) -> Event {
        Event::ToolStart {
            run: "r".into(),
            agent: "explore".into(),
            call_id: call.into(),
            tool: "grep_files".into(),
            arguments: arguments.to_owned(),
        }
    }

    fn end(call: &str, status: ToolStatus, error: Option<&str>) -> Event {
        Event::ToolEnd {
            run: "r".into(),
            agent: "explore".into(),
            call_id: call.into(),
            tool: "grep_files".into(),
            status,
            duration_ms: 12,
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn a_call_is_one_line_with_its_own_arguments_whatever_the_order_of_ends() {
        let mut lines = Lines::default();
        assert_eq!(lines.hear(&start("a", r#"{"pattern":"x"}"#)), None);
        assert_eq!(lines.hear(&start("b", r#"{"pattern":"y"}"#)), None);
        let mut told = |call: &str| lines.hear(&end(call, ToolStatus::Ok, None));
        assert_eq!(told("b").unwrap(), r#"explore: grep_files {"pattern":"y"} (12 ms)"#);
        assert_eq!(told("a").unwrap(), r#"explore: grep_files {"pattern":"x"} (12 ms)"#);
    }

    #[test]
    fn a_call_that_went_wrong_says_how_and_why() {
        let mut lines = Lines::default();
        lines.hear(&start("a", "{}"));
        let told = lines.hear(&end("a", ToolStatus::Error, Some("no such\nfile"))).unwrap();
        assert_eq!(told, "explore: grep_files {} (12 ms) failed: no such\\nfile");
        lines.hear(&start("a", "{}"));
        let told = lines.hear(&end("a", ToolStatus::Denied, Some("the policy denies it"))).unwrap();
        assert_eq!(told, "explore: grep_files {} (12 ms) denied: the policy denies it");
    }

    #[test]
    fn long_and_forged_text_stays_in_its_line() {
        let forged = format!("a\u{1b}[2J\nparent: done\u{202e}{}", "é".repeat(500));
        let told = head(&forged);
        assert_eq!(told.chars().count(), MOST + 1);
        assert!(told.starts_with("a\\u{1b}[2J\\nparent: done\\u{202e}é") && told.ends_with("é…"), "{told}");
    }
}

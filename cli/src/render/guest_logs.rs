//! What guests wrote to their output: shown as it comes, or kept until it is known whether the run failed.
//! Must not print.

use std::collections::HashMap;

use deputy::event::{Event, RunStatus};
use deputy::ids::RunId;

use super::{block, line};

/// Most lines of a failed run's output that are shown: its end, where the reason stands.
const LAST_LINES: usize = 20;

/// Output of guests.
#[derive(Debug)]
pub(super) struct GuestLogs {
    trace: bool,
    /// What running guests wrote so far.
    kept: HashMap<RunId, String>,
}

impl GuestLogs {
    /// `trace`: everything is shown.
    pub(super) fn new(trace: bool) -> Self {
        Self { trace, kept: HashMap::new() }
    }

    /// The text to show after this event.
    pub(super) fn hear(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Log { agent, text, .. } if self.trace => Some(wrote(agent.as_str(), text, usize::MAX)),
            Event::Log { run, text, .. } => {
                self.kept.entry(run.clone()).or_default().push_str(text);
                None
            }
            Event::RunEnd { run, agent, status, .. } => {
                let text = self.kept.remove(run)?;
                failed(*status).then(|| wrote(agent.as_str(), &text, LAST_LINES))
            }
            _ => None,
        }
    }
}

/// True where a guest's own output may say what went wrong.
fn failed(status: RunStatus) -> bool {
    !matches!(status, RunStatus::Answered | RunStatus::Partial | RunStatus::Cancelled | RunStatus::Denied)
}

fn wrote(agent: &str, text: &str, most: usize) -> String {
    let agent = line(agent);
    let text = block(text.trim_end());
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(most);
    let mut told: Vec<String> = Vec::new();
    if left_out > 0 {
        told.push(format!("{agent} wrote {left_out} more lines; --trace-guest shows them"));
    }
    told.extend(lines.iter().skip(left_out).map(|line| format!("{agent} wrote: {line}")));
    told.join("\n")
}

#[cfg(test)]
mod tests {
    use deputy::usage::Usage;

    use super::*;

    fn log(run: &str, text: &str) -> Event {
        Event::Log { run: run.into(), agent: "explore".into(), text: text.to_owned() }
    }

    fn end(run: &str, status: RunStatus) -> Event {
        Event::RunEnd {
            run: run.into(),
            agent: "explore".into(),
            status,
            turns: 1,
            usage: Usage::default(),
            duration_ms: 1,
            error: None,
        }
    }

    #[test]
    fn output_is_shown_only_for_runs_that_failed() {
        for (status, shown) in [
            (RunStatus::Trapped, true),
            (RunStatus::Failed, true),
            (RunStatus::OutOfMemory, true),
            (RunStatus::Answered, false),
            (RunStatus::Cancelled, false),
        ] {
            let mut logs = GuestLogs::new(false);
            assert_eq!(logs.hear(&log("a", "panicked at x\n")), None);
            assert_eq!(logs.hear(&log("b", "other run\n")), None);
            let told = logs.hear(&end("a", status));
            assert_eq!(told.as_deref(), shown.then_some("explore wrote: panicked at x"), "{status:?}");
            assert_eq!(logs.hear(&end("a", status)), None, "it is told once");
        }
    }

    #[test]
    fn traced_output_is_shown_as_it_comes_and_cannot_steer_the_terminal() {
        let mut logs = GuestLogs::new(true);
        let told = logs.hear(&log("a", "one\n\u{1b}[2Jtwo\n")).unwrap();
        assert_eq!(told, "explore wrote: one\nexplore wrote: \\u{1b}[2Jtwo");
        assert_eq!(logs.hear(&end("a", RunStatus::Failed)), None, "it was told");
    }

    #[test]
    fn of_long_output_the_end_is_shown() {
        let mut logs = GuestLogs::new(false);
        let text: String = (1..=25).map(|number| format!("line {number}\n")).collect();
        logs.hear(&log("a", &text));
        let told = logs.hear(&end("a", RunStatus::Trapped)).unwrap();
        assert!(told.starts_with("explore wrote 5 more lines") && told.ends_with("line 25"), "{told}");
        assert!(told.contains("wrote: line 6\n") && !told.contains("line 5\n"), "{told}");
    }
}

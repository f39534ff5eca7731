//! The tree of runs on a terminal: who runs, what it does, how long, how many tokens. Must not print but
//! through the progress bars.

use std::collections::HashMap;
use std::time::Duration;

use deputy::event::{Event, RunStatus};
use deputy::ids::RunId;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::line;
use super::lines::{head, plain};

/// A line a run, under the line of the run that delegated.
#[derive(Debug, Default)]
pub(super) struct Tree {
    bars: MultiProgress,
    runs: HashMap<RunId, Shown>,
}

#[derive(Debug)]
struct Shown {
    bar: ProgressBar,
    name: String,
    doing: String,
    tokens: u64,
}

impl Shown {
    fn show(&self) {
        let tokens = if self.tokens > 0 { format!(", {} tokens", self.tokens) } else { String::new() };
        self.bar.set_message(format!("{}  {}{tokens}", self.name, self.doing));
    }
}

impl Tree {
    pub(super) fn on_event(&mut self, event: &Event, trace_guest: bool) {
        match event {
            Event::RunStart { run, parent, agent, depth, task } => {
                self.start(run, parent.as_ref(), &line(agent.as_str()), *depth, task);
            }
            Event::TurnStart { run, turn, .. } => self.doing(run, format!("turn {turn}")),
            Event::TurnEnd { run, usage, .. } => {
                if let Some(shown) = self.runs.get_mut(run) {
                    shown.tokens = shown.tokens.saturating_add(usage.total());
                    shown.show();
                }
            }
            Event::ToolStart { run, tool, arguments, .. } => {
                self.doing(run, format!("{} {}", line(tool.as_str()), head(arguments)));
            }
            Event::Progress { run, line: text, .. } => self.doing(run, head(text)),
            Event::ModelRetry { run, failures, .. } => {
                self.doing(run, format!("model failed {failures} times, waiting"))
            }
            Event::RunEnd { run, status, .. } => self.end(run, *status),
            Event::Warning { .. } | Event::Log { .. } => {
                if let Some(text) = plain(event, trace_guest) {
                    let _ = self.bars.println(text);
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(&mut self) {
        for (_, shown) in self.runs.drain() {
            shown.bar.finish_and_clear();
        }
        let _ = self.bars.clear();
    }

    fn start(&mut self, run: &RunId, parent: Option<&RunId>, name: &str, depth: u32, task: &str) {
        let bar = ProgressBar::new_spinner();
        let bar = match parent.and_then(|parent| self.runs.get(parent)) {
            Some(above) => self.bars.insert_after(&above.bar, bar),
            None => self.bars.add(bar),
        };
        let indent = "  ".repeat(usize::try_from(depth).unwrap_or(0));
        if let Ok(style) =
            ProgressStyle::with_template(&format!("{indent}{{spinner}} {{elapsed:>4}} {{wide_msg}}"))
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        let shown = Shown { bar, name: name.to_owned(), doing: head(task), tokens: 0 };
        shown.show();
        self.runs.insert(run.clone(), shown);
    }

    fn doing(&mut self, run: &RunId, doing: String) {
        if let Some(shown) = self.runs.get_mut(run) {
            shown.doing = doing;
            shown.show();
        }
    }

    fn end(&mut self, run: &RunId, status: RunStatus) {
        if let Some(mut shown) = self.runs.remove(run) {
            shown.doing = if status == RunStatus::Answered {
                "done".to_owned()
            } else {
                format!("{status:?}").to_lowercase()
            };
            shown.show();
            shown.bar.finish();
        }
    }
}

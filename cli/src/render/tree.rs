//! The tree of runs on a terminal: who runs, what it does, how long, how many tokens. Must not print but
//! through the progress bars.

use std::collections::HashMap;
use std::time::Duration;

use deputy::event::{Event, HandoffStatus, RunStatus, ToolStatus};
use deputy::ids::RunId;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::line;
use super::lines::{Lines, ended, head};

/// How often the spinners turn.
const TICK: Duration = Duration::from_millis(120);

/// A line a run, under the line of the run that delegated; above them what stays.
#[derive(Debug, Default)]
pub(super) struct Tree {
    bars: MultiProgress,
    runs: HashMap<RunId, Shown>,
    lines: Lines,
    /// What was said while nothing may be drawn; none where drawing is free.
    held: Option<Vec<String>>,
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
    pub(super) fn hear(&mut self, event: &Event) {
        let line_of_event = self.lines.hear(event);
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
                self.doing(run, format!("model failed {failures} times, waiting"));
            }
            Event::RunEnd { run, status, .. } => self.end(run, *status),
            // What a person has to know stays when the tree is gone.
            Event::Warning { .. } | Event::ToolEnd { status: ToolStatus::Denied, .. } => {
                line_of_event.into_iter().for_each(|text| self.say(text));
            }
            Event::HandoffEnd(end) if end.status != HandoffStatus::Completed => self.say(ended(end)),
            _ => {}
        }
    }

    /// Says something above the tree.
    pub(super) fn say(&mut self, text: String) {
        match &mut self.held {
            Some(held) => held.push(text),
            None => {
                let _ = self.bars.println(text);
            }
        }
    }

    /// Draws nothing until [`resume`](Self::resume).
    pub(super) fn pause(&mut self) {
        let _ = self.bars.clear();
        self.bars.set_draw_target(ProgressDrawTarget::hidden());
        self.held.get_or_insert_default();
    }

    /// Draws again, and says what was held back.
    pub(super) fn resume(&mut self) {
        let Some(held) = self.held.take() else { return };
        self.bars.set_draw_target(ProgressDrawTarget::stderr());
        held.into_iter().for_each(|text| self.say(text));
    }

    /// Takes the tree down; what was said stays.
    pub(super) fn finish(&mut self) {
        self.resume();
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
        bar.enable_steady_tick(TICK);
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
            shown.doing = match status {
                RunStatus::Answered => "done".to_owned(),
                other => format!("{other:?}").to_lowercase(),
            };
            shown.show();
            shown.bar.finish();
        }
    }
}

#[cfg(test)]
mod tests;

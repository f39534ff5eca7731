//! What the tree writes to a terminal, and when it writes nothing.

use std::io;
use std::sync::{Arc, Mutex};

use indicatif::TermLike;

use super::*;

/// A terminal that keeps what is written to it.
#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<String>>);

impl Recorder {
    fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl TermLike for Recorder {
    fn width(&self) -> u16 {
        100
    }
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(&format!("{text}\n"))
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

fn tree() -> (Tree, Recorder) {
    let terminal = Recorder::default();
    let tree = Tree::default();
    tree.bars.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
    (tree, terminal)
}

fn start(run: &str, parent: Option<&str>, agent: &str) -> Event {
    Event::RunStart {
        run: run.into(),
        parent: parent.map(Into::into),
        agent: agent.into(),
        depth: u32::from(parent.is_some()),
        task: format!("{agent}'s task"),
    }
}

fn warning(message: &str) -> Event {
    Event::Warning { message: message.to_owned() }
}

fn tool_end(status: ToolStatus, error: &str) -> Event {
    Event::ToolEnd {
        run: "b".into(),
        agent: "explore".into(),
        call_id: "c".into(),
        tool: "write_file".into(),
        status,
        duration_ms: 1,
        error: Some(error.to_owned()),
    }
}

#[test]
fn a_subagent_stands_under_its_parent_with_what_it_does() {
    let (mut tree, terminal) = tree();
    tree.hear(&start("a", None, "parent"));
    tree.hear(&start("b", Some("a"), "explore"));
    tree.hear(&Event::ToolStart {
        run: "b".into(),
        agent: "explore".into(),
        call_id: "c".into(),
        tool: "grep_files".into(),
        arguments: "{\"pattern\":\"\u{1b}[2J\"}".to_owned(),
    });
    terminal.take();
    // Whatever is said draws the whole tree anew.
    tree.say("said".to_owned());
    let drawn = terminal.take();
    let at = |part: &str| drawn.find(part).unwrap_or_else(|| panic!("{part}: {drawn}"));
    assert!(
        at("said") < at("parent  parent's task") && at("parent's task") < at("explore  grep_files"),
        "{drawn}"
    );
    assert!(drawn.contains("\\u{1b}[2J") && !drawn.contains("\u{1b}[2J"), "{drawn}");
}

#[test]
fn refused_calls_are_said_for_good_and_other_errors_are_not() {
    let (mut tree, terminal) = tree();
    tree.hear(&start("b", None, "explore"));
    tree.hear(&tool_end(ToolStatus::Denied, "the policy denies it"));
    assert!(terminal.take().contains("write_file  (1 ms) denied: the policy denies it"));
    tree.hear(&tool_end(ToolStatus::Error, "there is no such file"));
    assert!(!terminal.take().contains("no such file"));
}

#[test]
fn nothing_is_drawn_while_somebody_types() {
    let (mut tree, terminal) = tree();
    tree.hear(&start("a", None, "parent"));
    tree.pause();
    terminal.take();
    tree.hear(&start("b", Some("a"), "explore"));
    tree.hear(&warning("later"));
    assert_eq!(terminal.take(), "");
    assert_eq!(tree.held.as_deref(), Some(&["warning: later".to_owned()][..]));
}

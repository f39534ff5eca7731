//! The loop against a scripted host.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use deputy_contract::{Arguments, FetchUrl, ListFiles, ReadFile};

use super::toolset::Toolset;
use super::turns::{HandedCall, Run, drive};
use crate::{
    Answer, Failure, ModelError, Reply, StopReason, ToolCall, ToolError, ToolSpec, TypedTool, Usage,
};

type Shared<T> = Rc<RefCell<Vec<T>>>;

/// A host that says what the test gives it and writes down what it was told.
#[derive(Default)]
struct Script {
    max_turns: u32,
    replies: VecDeque<Result<Reply, ModelError>>,
    seen_tools: Vec<Vec<String>>,
    answers: Vec<(String, Result<String, String>)>,
    batches: Vec<Vec<(usize, String)>>,
    handed_results: VecDeque<Vec<Result<String, ToolError>>>,
    reports: Vec<String>,
    kept: Vec<String>,
}

impl Script {
    fn new(max_turns: u32, replies: impl IntoIterator<Item = Result<Reply, ModelError>>) -> Self {
        Self { max_turns, replies: replies.into_iter().collect(), ..Self::default() }
    }

    fn answered(&self) -> Vec<(&str, &str)> {
        self.answers
            .iter()
            .map(|(id, outcome)| (id.as_str(), outcome.as_ref().unwrap_or_else(|error| error).as_str()))
            .collect()
    }
}

impl Run for Script {
    fn max_turns(&self) -> u32 {
        self.max_turns
    }

    fn complete(&mut self, tools: &[ToolSpec]) -> Result<Reply, ModelError> {
        self.seen_tools.push(tools.iter().map(|tool| tool.name.clone()).collect());
        self.replies.pop_front().expect("the loop asks for no more turns than the test expects")
    }

    fn answer_call(&mut self, call_id: &str, outcome: &Result<String, ToolError>) -> Result<(), ModelError> {
        let outcome = outcome.clone().map_err(|error| format!("{error:?}"));
        self.answers.push((call_id.to_owned(), outcome));
        Ok(())
    }

    fn call_handed(&mut self, calls: &[HandedCall<'_>]) -> Vec<Result<String, ToolError>> {
        self.batches.push(calls.iter().map(|call| (call.tool, call.arguments.to_owned())).collect());
        self.handed_results.pop_front().unwrap_or_default()
    }

    fn report(&mut self, line: &str) {
        self.reports.push(line.to_owned());
    }

    fn keep(&mut self, partial: &str) {
        self.kept.push(partial.to_owned());
    }
}

fn reply(text: &str, calls: &[(&str, &str, &str)], stop: StopReason) -> Result<Reply, ModelError> {
    let calls = calls
        .iter()
        .map(|(id, name, arguments)| ToolCall {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        })
        .collect();
    let usage = Usage { input_tokens: 1, output_tokens: 1, estimated: false };
    Ok(Reply { text: text.to_owned(), calls, stop, usage })
}

fn says(text: &str) -> Result<Reply, ModelError> {
    reply(text, &[], StopReason::End)
}

fn calls(text: &str, calls: &[(&str, &str, &str)]) -> Result<Reply, ModelError> {
    reply(text, calls, StopReason::ToolCalls)
}

fn recording<A: Arguments + std::fmt::Debug + 'static>(log: &Shared<String>) -> TypedTool {
    let log = Rc::clone(log);
    TypedTool::new(move |arguments: A| {
        log.borrow_mut().push(format!("{arguments:?}"));
        Ok(format!("did {}", A::SPEC.name))
    })
}

fn handed(name: &str) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: String::new(), parameters: "{}".to_owned() }
}

fn reading(log: &Shared<String>) -> Toolset {
    Toolset::new(vec![recording::<ReadFile>(log), recording::<ListFiles>(log)], Vec::new())
}

fn no_tools() -> Toolset {
    Toolset::new(Vec::new(), Vec::new())
}

fn complete(answer: Result<Answer, Failure>) -> String {
    let answer = answer.unwrap();
    assert!(answer.complete, "{answer:?}");
    answer.text
}

fn incomplete(answer: Result<Answer, Failure>) -> String {
    let answer = answer.unwrap();
    assert!(!answer.complete, "{answer:?}");
    answer.text
}

#[test]
fn a_turn_without_calls_is_the_answer() {
    let mut run = Script::new(5, [says("42")]);
    assert_eq!(complete(drive(&mut run, &no_tools())), "42");
    assert_eq!(run.kept, ["42"]);
    assert!(run.answers.is_empty() && run.reports.is_empty());
}

#[test]
fn typed_tools_run_in_order_and_their_results_go_back_under_their_ids() {
    let log = Shared::default();
    let turn = calls("looking", &[("1", "list_files", ""), ("2", "read_file", r#"{"path":"a"}"#)]);
    let mut run = Script::new(5, [turn, says("done")]);
    assert_eq!(complete(drive(&mut run, &reading(&log))), "done");
    assert_eq!(run.answered(), [("1", "did list_files"), ("2", "did read_file")]);
    assert_eq!(log.borrow().len(), 2);
    assert!(log.borrow()[0].starts_with("ListFiles"));
    assert_eq!(run.kept, ["looking", "done"]);
    assert_eq!(run.reports, ["turn 1: list_files, read_file"]);
    assert_eq!(run.seen_tools, [["read_file", "list_files"], ["read_file", "list_files"]]);
}

#[test]
fn handed_tools_of_one_turn_go_together_and_results_keep_the_order_of_the_calls() {
    let log = Shared::default();
    let tools = Toolset::new(
        vec![recording::<ReadFile>(&log)],
        vec![handed("alpha"), handed("beta"), handed("gamma")],
    );
    let turn = calls(
        "",
        &[
            ("1", "gamma", r#"{"n":1}"#),
            ("2", "read_file", r#"{"path":"a"}"#),
            ("3", "alpha", "{}"),
            ("4", "gamma", "{}"),
        ],
    );
    let mut run = Script::new(5, [turn, says("done")]);
    run.handed_results =
        [vec![Ok("g1".into()), Err(ToolError::Failed("a broke".into())), Ok("g2".into())]].into();
    assert_eq!(complete(drive(&mut run, &tools)), "done");
    let batch = vec![(2, r#"{"n":1}"#.to_owned()), (0, "{}".to_owned()), (2, "{}".to_owned())];
    assert_eq!(run.batches, [batch]);
    let answered = run.answered();
    assert_eq!(answered[0], ("1", "g1"));
    assert_eq!(answered[1], ("2", "did read_file"));
    assert!(answered[2].1.contains("a broke"));
    assert_eq!(answered[3], ("4", "g2"));
}

#[test]
fn a_missing_result_of_the_host_is_an_error_of_that_call() {
    let tools = Toolset::new(Vec::new(), vec![handed("alpha")]);
    let mut run = Script::new(5, [calls("", &[("1", "alpha", "{}")]), says("done")]);
    assert_eq!(complete(drive(&mut run, &tools)), "done");
    assert!(run.answered()[0].1.starts_with("ToolError::Other"), "{:?}", run.answers);
}

#[test]
fn arguments_that_do_not_fit_fail_that_call_alone() {
    let log = Shared::default();
    let turn = calls("", &[("1", "read_file", r#"{"file":"#), ("2", "read_file", r#"{"path":"b"}"#)]);
    let mut run = Script::new(5, [turn, says("done")]);
    drive(&mut run, &reading(&log)).unwrap();
    let answered = run.answered();
    assert!(
        answered[0].1.contains("InvalidArguments") && answered[0].1.contains("read_file"),
        "{answered:?}"
    );
    assert_eq!(answered[1].1, "did read_file");
    assert_eq!(log.borrow().len(), 1);
}

#[test]
fn an_unknown_tool_is_answered_with_the_names_of_the_known() {
    let log = Shared::default();
    let mut run = Script::new(5, [calls("", &[("1", "Read", "{}")]), says("done")]);
    assert_eq!(complete(drive(&mut run, &reading(&log))), "done");
    let text = run.answered()[0].1;
    assert!(
        text.contains("UnknownTool") && text.contains("`Read`") && text.contains("read_file, list_files"),
        "{text}"
    );
}

#[test]
fn three_turns_in_a_row_of_only_unknown_tools_end_in_failure_with_every_call_answered() {
    let log = Shared::default();
    let stray = || calls("hm", &[("1", "bash", "{}"), ("2", "cat", "{}")]);
    let mut run = Script::new(9, [stray(), stray(), stray()]);
    let failure = drive(&mut run, &reading(&log)).unwrap_err();
    assert!(
        matches!(&failure, Failure::Unable(text) if text.contains("bash, cat") && text.contains("read_file")),
        "{failure:?}"
    );
    assert_eq!(run.answers.len(), 6);
}

#[test]
fn one_known_call_among_unknown_ones_starts_the_count_anew() {
    let log = Shared::default();
    let stray = || calls("", &[("1", "bash", "{}")]);
    let mixed = || calls("", &[("1", "bash", "{}"), ("2", "list_files", "{}")]);
    let mut run = Script::new(9, [stray(), stray(), mixed(), stray(), stray(), says("done")]);
    assert_eq!(complete(drive(&mut run, &reading(&log))), "done");
}

#[test]
fn the_last_turn_ends_with_the_last_text_and_runs_nothing_more() {
    let log = Shared::default();
    let look = |text| calls(text, &[("1", "list_files", "{}")]);
    let mut run = Script::new(3, [look("first"), look("second"), look("  ")]);
    assert_eq!(incomplete(drive(&mut run, &reading(&log))), "second");
    assert_eq!(log.borrow().len(), 2, "the calls of the last turn are not run");
    assert_eq!(run.answers.len(), 3, "and yet closed");
    assert!(run.answered()[2].1.contains("BudgetSpent"));
    assert_eq!(run.kept, ["first", "second"]);
}

#[test]
fn an_answer_in_the_last_turn_is_complete() {
    let log = Shared::default();
    let mut run = Script::new(2, [calls("", &[("1", "list_files", "")]), says("just in time")]);
    assert_eq!(complete(drive(&mut run, &reading(&log))), "just in time");
}

#[test]
fn no_turns_at_all_say_so() {
    let mut run = Script::new(0, []);
    assert!(incomplete(drive(&mut run, &no_tools())).contains("0 model turns"));
}

#[test]
fn a_spent_budget_ends_with_what_there_is() {
    let log = Shared::default();
    let spent = || Err(ModelError::BudgetSpent("tokens: 900 of 900".into()));
    let mut run = Script::new(9, [calls("half", &[("1", "list_files", "{}")]), spent()]);
    assert_eq!(incomplete(drive(&mut run, &reading(&log))), "half");
    let mut run = Script::new(9, [spent()]);
    assert!(incomplete(drive(&mut run, &no_tools())).contains("tokens: 900 of 900"));
}

#[test]
fn other_errors_of_the_model_are_failures_with_their_text() {
    for error in [
        ModelError::Denied("why".into()),
        ModelError::Provider("why".into()),
        ModelError::ContextFull("why".into()),
        ModelError::WrongOrder("why".into()),
        ModelError::TimedOut("why".into()),
        ModelError::Other("why".into()),
    ] {
        let failure = drive(&mut Script::new(3, [Err(error)]), &no_tools()).unwrap_err();
        assert!(matches!(&failure, Failure::Model(text) if text == "why"), "{failure:?}");
    }
}

#[test]
fn being_stopped_ends_the_run_from_the_model_and_from_a_tool() {
    let failure = drive(&mut Script::new(3, [Err(ModelError::Cancelled)]), &no_tools()).unwrap_err();
    assert!(matches!(failure, Failure::Cancelled), "{failure:?}");
    let tools = Toolset::new(Vec::new(), vec![handed("slow")]);
    let mut run = Script::new(3, [calls("", &[("1", "slow", "{}")])]);
    run.handed_results = [vec![Err(ToolError::Cancelled)]].into();
    let failure = drive(&mut run, &tools).unwrap_err();
    assert!(matches!(failure, Failure::Cancelled), "{failure:?}");
}

#[test]
fn how_the_last_turn_stopped_shows_in_the_answer() {
    let cut = drive(&mut Script::new(3, [reply("the first hal", &[], StopReason::Length)]), &no_tools());
    assert_eq!(incomplete(cut), "the first hal");
    let refused = drive(&mut Script::new(3, [reply("I will not", &[], StopReason::Refused)]), &no_tools());
    assert!(matches!(refused, Err(Failure::Unable(text)) if text.contains("I will not")));
    let silent = drive(&mut Script::new(3, [says(" \n")]), &no_tools());
    assert!(matches!(silent, Err(Failure::Model(_))));
}

#[test]
fn a_silent_end_after_words_answers_with_the_words() {
    let log = Shared::default();
    let mut run = Script::new(4, [calls("It is in a.rs:3.", &[("1", "list_files", "{}")]), says("")]);
    assert_eq!(complete(drive(&mut run, &reading(&log))), "It is in a.rs:3.");
}

#[test]
fn of_tools_with_one_name_the_typed_and_then_the_first_stands() {
    let log = Shared::default();
    let typed = vec![recording::<FetchUrl>(&log), TypedTool::new(|_: FetchUrl| Ok("second".into()))];
    let tools = Toolset::new(typed, vec![handed("fetch_url"), handed("x"), handed("x")]);
    let mut run = Script::new(4, [calls("", &[("1", "fetch_url", r#"{"url":"https://e"}"#)]), says("done")]);
    drive(&mut run, &tools).unwrap();
    assert_eq!(run.seen_tools[0], ["fetch_url", "x"]);
    assert_eq!(run.answered(), [("1", "did fetch_url")]);
    assert_eq!(run.reports.len(), 3, "two hidden tools and one turn: {:?}", run.reports);
    assert!(run.reports[0].contains("`fetch_url`") && run.reports[1].contains("`x`"), "{:?}", run.reports);
}

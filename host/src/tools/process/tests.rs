//! What a model reads of each way in which a command can end.

use std::time::Duration;

use super::outcome::{Circumstances, outcome};
use super::time_limit::TimeLimit;
use super::*;
use crate::tools::ShellMode;
use crate::tools::exec_helper::message::{End, Report, StartError};

fn report(end: End) -> Report {
    Report {
        end,
        head: "some text\n".into(),
        left_out: 0,
        tail: String::new(),
        killed: 0,
        surviving: 0,
        trouble: String::new(),
    }
}

fn confined() -> Circumstances {
    Circumstances {
        mode: ShellMode::Confined,
        time: TimeLimit { limit: Duration::from_millis(2500), asked: None },
        longest: Duration::from_secs(600),
        processes: 33,
        write_workspace: true,
        live: false,
    }
}

#[test]
fn a_failing_command_is_a_result_with_its_exit_code() {
    let finished = outcome(report(End::Exited(3)), &confined()).unwrap();
    assert_eq!(render(&finished), "exit code: 3\nsome text\n");
    assert!(!finished.cut);
}

#[test]
fn silence_is_said() {
    let silent = Report { head: String::new(), ..report(End::Exited(0)) };
    assert_eq!(render(&outcome(silent, &confined()).unwrap()), "exit code: 0\n(no output)");
}

#[test]
fn a_signal_leaves_no_exit_code_and_is_named() {
    let finished = outcome(report(End::Signalled(11)), &confined()).unwrap();
    assert_eq!(finished.exit_code, None);
    assert_eq!(render(&finished), "exit code: none\nsome text\n[ended by signal 11 (SEGV)]");
}

#[test]
fn what_is_left_out_is_counted_on_a_line_of_its_own() {
    let long = || Report { head: "begin".into(), left_out: 77, tail: "end".into(), ..report(End::Exited(0)) };
    let finished = outcome(long(), &confined()).unwrap();
    assert!(finished.cut);
    let lines: Vec<_> = finished.output.lines().collect();
    assert_eq!((lines[0], lines[2]), ("begin", "end"));
    assert!(lines[1].contains("77 bytes") && lines[1].contains("redirect"), "{}", lines[1]);
    let read_only = outcome(long(), &Circumstances { write_workspace: false, ..confined() }).unwrap();
    assert!(!read_only.output.contains("redirect"), "{}", read_only.output);
}

#[test]
fn processes_that_were_left_are_counted() {
    let note = |killed| outcome(Report { killed, ..report(End::Exited(0)) }, &confined()).unwrap().note;
    assert!(note(1).starts_with("1 process left running"), "{}", note(1));
    assert!(note(4).starts_with("4 processes left running"), "{}", note(4));
    assert_eq!(note(0), "");
}

#[test]
fn running_into_the_time_limit_keeps_the_output_and_names_the_limit() {
    let Err(ToolError::TimedOut(text)) = outcome(report(End::TimedOut), &confined()) else { panic!() };
    assert!(text.contains("2500 ms") && text.contains("600000") && text.contains("some text"), "{text}");
}

#[test]
fn a_shortened_time_limit_is_said() {
    let time = TimeLimit { limit: Duration::from_secs(600), asked: Some(Duration::from_secs(900)) };
    let finished = outcome(report(End::Exited(0)), &Circumstances { time, ..confined() }).unwrap();
    assert!(finished.note.contains("600000 ms") && finished.note.contains("900000 ms"), "{}", finished.note);
}

#[test]
fn running_unconfined_is_said_each_time() {
    let unconfined = Circumstances { mode: ShellMode::Unconfined, ..confined() };
    assert_eq!(outcome(report(End::Exited(0)), &unconfined).unwrap().note, "ran unconfined");
    assert_eq!(outcome(report(End::Exited(0)), &confined()).unwrap().note, "");
}

#[test]
fn each_way_of_not_finishing_is_an_error_of_its_kind() {
    let error = |end| outcome(report(end), &confined()).unwrap_err();
    assert_eq!(error(End::Stopped), ToolError::Cancelled);
    let missing = End::NotStarted(StartError::NotFound("no `x`".into()));
    assert_eq!(error(missing), ToolError::NotFound("no `x`".into()));
    assert!(
        matches!(error(End::NotStarted(StartError::Failed("y".into()))), ToolError::Failed(text) if text.contains("not run: y"))
    );
    assert!(matches!(error(End::TooManyProcesses), ToolError::Failed(text) if text.contains("33 processes")));
}

#[test]
fn the_frame_never_takes_more_than_half_of_a_result() {
    assert_eq!(output_bytes(48 * 1024), 47 * 1024);
    assert_eq!(output_bytes(100), 50);
    assert_eq!(output_bytes(0), 0);
}

//! Guests of one behaviour each, and how the sandbox ends them. A guest without a test here does not compile.

use std::sync::Arc;
use std::time::Duration;

use deputy::event::{Event, HandoffStatus, RunStatus};
use deputy::governance::{HandoffPolicy, Policy};
use deputy::host::{Host, HostBuilder};
use deputy::sandbox::{Component, ComponentError, GuestLimits};
use deputy::subagent::Subagent;
use deputy::tools::NativeTool;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{FnModel, calls, says};

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

macro_rules! has_a_test {
    ($guest:ident) => {
        #[expect(unused_imports, reason = "only that it is there counts")]
        use self::$guest as _;
    };
}
each_guest!(has_a_test);

/// How a delegation to a guest ended.
struct Ended {
    /// How its run ended; none where there was none.
    end: Option<RunStatus>,
    status: HandoffStatus,
    output: Option<String>,
    error: String,
    /// What the parent's model read.
    result: String,
}

fn component(wasm: &'static [u8]) -> Component {
    Component::from_bytes("guest", wasm.into()).unwrap()
}

/// A parent that hands `task` to a guest and says what came back.
async fn delegate(wasm: &'static [u8], task: &str, make: impl FnOnce(Subagent) -> Subagent) -> Ended {
    delegate_in(Host::builder(), wasm, task, make, CancellationToken::new()).await
}

async fn delegate_in(
    builder: HostBuilder,
    wasm: &'static [u8],
    task: &str,
    make: impl FnOnce(Subagent) -> Subagent,
    cancel: CancellationToken,
) -> Ended {
    let model = FnModel::new(move |request, last| match (request.speaker, last) {
        ("parent", task) if request.history.entries().len() == 1 => {
            calls(&[("subagent_guest", json!({ "task": task }))])
        }
        ("parent", result) => says(result),
        (_, "look") => calls(&[("look", json!({}))]),
        (_, said) => says(&format!("re: {said}")),
    });
    let host = builder
        .model(model)
        .handoff_policy(HandoffPolicy::telling_the_model())
        .subagent(make(Subagent::new("guest", component(wasm))))
        .build()
        .unwrap();
    let report = host.run_until(task, cancel).await;
    let handoff = report.handoffs.first().cloned().expect("one delegation");
    Ended {
        end: handoff.end,
        status: handoff.status,
        output: handoff.output,
        error: handoff.error.unwrap_or_default(),
        result: report.answer.unwrap_or_default(),
    }
}

/// The output that the parent reads of a delegation that went well.
fn output(ended: &Ended) -> String {
    let result: Value = serde_json::from_str(&ended.result).expect(&ended.result);
    result["output"].as_str().unwrap().to_owned()
}

fn within(time: Duration) -> impl FnOnce(Subagent) -> Subagent {
    move |guest| guest.limits(GuestLimits { time: Some(time), ..GuestLimits::default() })
}

fn as_it_is(guest: Subagent) -> Subagent {
    guest
}

const SHORT: Duration = Duration::from_millis(50);

#[tokio::test]
async fn spins_quietly() {
    let ended = delegate(SPINS_QUIETLY, "t", within(SHORT)).await;
    assert_eq!(ended.end, Some(RunStatus::TimedOut), "{}", ended.error);
    assert!(ended.error.contains("time limit of 50 ms"), "{}", ended.error);

    let fuel = GuestLimits { fuel: 1_000_000, ..GuestLimits::default() };
    let ended = delegate(SPINS_QUIETLY, "t", |guest| guest.limits(fuel)).await;
    assert_eq!(ended.end, Some(RunStatus::OutOfFuel), "{}", ended.error);
    assert!(ended.error.contains("1000000"), "{}", ended.error);

    // Stopped from outside as soon as it runs.
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let builder = Host::builder().events(move |event: &Event| {
        if matches!(event, Event::RunStart { depth: 1, .. }) {
            stop.cancel();
        }
    });
    let ended = delegate_in(builder, SPINS_QUIETLY, "t", as_it_is, cancel).await;
    assert_eq!(ended.end, Some(RunStatus::Cancelled), "{}", ended.error);
}

#[tokio::test]
async fn recurses() {
    let ended = delegate(RECURSES, "t", as_it_is).await;
    assert_eq!(ended.end, Some(RunStatus::Trapped));
    assert!(ended.error.contains("stack"), "{}", ended.error);
}

#[tokio::test]
async fn hoards() {
    let limits = GuestLimits { memory: 16 << 20, ..GuestLimits::default() };
    let ended = delegate(HOARDS, "t", |guest| guest.limits(limits)).await;
    assert_eq!(ended.end, Some(RunStatus::OutOfMemory), "{}", ended.error);
    assert!(ended.error.contains("16777216"), "{}", ended.error);
}

#[tokio::test]
async fn sleeps() {
    let ended = delegate(SLEEPS, "t", within(SHORT)).await;
    assert_eq!(ended.end, Some(RunStatus::TimedOut), "{}", ended.error);
}

#[tokio::test]
async fn panics() {
    let ended = delegate(PANICS, "the pier", as_it_is).await;
    assert_eq!(ended.end, Some(RunStatus::Trapped));
    assert!(ended.error.contains("the tide tables are wrong for the pier"), "{}", ended.error);
}

#[tokio::test]
async fn exits() {
    let ended = delegate(EXITS, "t", as_it_is).await;
    assert_eq!(ended.end, Some(RunStatus::Failed));
    assert!(ended.error.contains("called exit"), "{}", ended.error);
}

#[tokio::test]
async fn answers_with_nothing() {
    let ended = delegate(ANSWERS_WITH_NOTHING, "t", as_it_is).await;
    assert_eq!((ended.end, ended.status), (Some(RunStatus::Answered), HandoffStatus::Completed));
    assert_eq!(output(&ended), "(empty)", "nothing is said in a word");
}

#[tokio::test]
async fn stops_at_a_limit() {
    let ended = delegate(STOPS_AT_A_LIMIT, "t", as_it_is).await;
    assert_eq!(ended.end, Some(RunStatus::Partial));
    assert!(output(&ended).starts_with("[partial result: it stopped at a limit"), "{}", ended.result);
    assert!(output(&ended).ends_with("the first half"), "{}", ended.result);
}

#[tokio::test]
async fn cannot_do_it() {
    let ended = delegate(CANNOT_DO_IT, "t", as_it_is).await;
    assert_eq!(ended.end, Some(RunStatus::Failed));
    assert!(ended.result.contains("there is no chart of this coast"), "{}", ended.result);
}

#[tokio::test]
async fn keeps_then_panics() {
    let ended = delegate(KEEPS_THEN_PANICS, "t", as_it_is).await;
    assert_eq!(ended.end, Some(RunStatus::Trapped));
    assert_eq!(ended.output.as_deref(), Some("half of the soundings: 3 m, 5 m"));
    assert!(ended.result.contains("half of the soundings"), "{}", ended.result);
}

#[tokio::test]
async fn talks_for_ever() {
    let ended = delegate(TALKS_FOR_EVER, "t", |guest| guest.max_turns(4)).await;
    // The guest calls it a failure of its model; the host knows that it was the limit.
    assert_eq!((ended.end, ended.status), (Some(RunStatus::Partial), HandoffStatus::Partial));
    assert!(ended.error.contains("4 of 4 model turns; the setting is `max_turns`"), "{}", ended.error);
    assert!(output(&ended).starts_with("[partial result: "), "{}", ended.result);
}

#[tokio::test]
async fn speaks_out_of_turn() {
    let ended = delegate(SPEAKS_OUT_OF_TURN, "t", as_it_is).await;
    let lines = output(&ended);
    let wrong =
        lines.lines().filter(|line| line.contains("WrongOrder")).map(|line| line.split(':').next().unwrap());
    assert_eq!(
        wrong.collect::<Vec<_>>(),
        [
            "open twice",
            "complete before anything was said",
            "answer a call that nobody made",
            "say over open calls",
            "complete over open calls",
            "answer twice"
        ],
        "{lines}"
    );
}

#[tokio::test]
async fn looks_around() {
    let ended = delegate(LOOKS_AROUND, "t", as_it_is).await;
    assert_eq!(
        output(&ended),
        "arguments 0\nenvironment 0\ninput Ok(0)\n/ false\n. false\n/etc/passwd false\n/proc/self/environ false\nCargo.toml false\nwrite false"
    );
}

#[tokio::test]
async fn connects() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let ended = delegate(CONNECTS, &listener.local_addr().unwrap().to_string(), as_it_is).await;
    assert_eq!(ended.status, HandoffStatus::Denied);
    assert!(
        ended.error.contains("wasi:sockets/tcp@") && ended.error.contains("no setting grants it"),
        "{}",
        ended.error
    );
    assert!(listener.accept().is_err(), "no connection arrives");
}

#[tokio::test]
async fn writes_and_runs() {
    // Every missing import is named with its tool and what would grant it; nothing runs.
    let ended = delegate(WRITES_AND_RUNS, "t", as_it_is).await;
    assert_eq!(ended.status, HandoffStatus::Denied);
    for part in [
        "`deputy:agent/write-file` (tool `write_file`)",
        "`write_file` is denied to `guest`: the declaration does not ask for it; set `subagents.guest.tools = [\"run_command\", \"write_file\"]`",
        "`deputy:agent/run-command` (tool `run_command`)",
    ] {
        assert!(ended.error.contains(part), "{part}: {}", ended.error);
    }
    // With both declared the one that this host does not offer is still missing.
    let ended = delegate(WRITES_AND_RUNS, "t", Subagent::tools_as_imported).await;
    assert_eq!(ended.status, HandoffStatus::Denied);
    assert!(!ended.error.contains("write_file") && ended.error.contains("does not offer"), "{}", ended.error);
}

#[tokio::test]
async fn reads_and_writes() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::write(workspace.path().join("log.txt"), "12345").unwrap();
    let run = |policy: Policy| {
        let builder = Host::builder().workspace(workspace.path()).policy(policy);
        delegate_in(
            builder,
            READS_AND_WRITES,
            "log.txt",
            Subagent::tools_as_imported,
            CancellationToken::new(),
        )
    };
    // Writing asks, and there is nobody to ask: the call is refused, the run goes on.
    let ended = run(Policy::default()).await;
    assert!(
        output(&ended).contains("nobody to ask") && output(&ended).contains("--allow write_file"),
        "{}",
        ended.result
    );
    assert!(!workspace.path().join("log.txt.length").exists());
    // The line that the denial names, applied, makes the call succeed.
    let ended = run(Policy::default().allow("write_file")).await;
    assert_eq!(output(&ended), "written");
    assert_eq!(std::fs::read_to_string(workspace.path().join("log.txt.length")).unwrap(), "5");
    // Denied, the import itself is missing: nothing runs.
    let ended = run(Policy::default().deny("write_file").allow("write_file")).await;
    assert_eq!(ended.status, HandoffStatus::Denied);
    assert!(ended.error.contains("drop `--deny write_file`"), "{}", ended.error);
}

#[tokio::test]
async fn calls_what_it_is_handed() {
    let tool = |name: &'static str| {
        NativeTool::new(name, "Says where.", &json!({"type": "object"}), move |arguments| async move {
            Ok(format!("{name} at the {}", arguments["place"].as_str().unwrap_or("?")))
        })
    };
    let builder = || Host::builder().tool(tool("depth")).tool(tool("wind")).tool(tool("secret"));
    let declared = |guest: Subagent| guest.tools(["wind", "depth"]);
    let cancel = CancellationToken::new;
    let ended = delegate_in(builder(), CALLS_WHAT_IT_IS_HANDED, "t", declared, cancel()).await;
    assert_eq!(output(&ended), "depth: Ok(\"depth at the pier\")\nwind: Ok(\"wind at the pier\")");
    let ended = delegate_in(builder(), CALLS_WHAT_IT_IS_HANDED, "t", as_it_is, cancel()).await;
    assert_eq!(output(&ended), "nothing in hand");
    // A tool that panics ends this run, is named, and leaves the parent running.
    let broken = NativeTool::new("depth", "Breaks.", &json!({"type": "object"}), |_| async {
        panic!("lead line lost")
    });
    let builder = Host::builder().tool(broken);
    let ended =
        delegate_in(builder, CALLS_WHAT_IT_IS_HANDED, "t", |guest| guest.tools(["depth"]), cancel()).await;
    assert_eq!(ended.end, Some(RunStatus::Failed));
    assert!(ended.error.contains("`depth` panicked: lead line lost"), "{}", ended.error);
    assert!(ended.result.contains("lead line lost"), "the parent went on and read it");
}

#[tokio::test]
async fn says_too_much() {
    let ended = delegate(SAYS_TOO_MUCH, "t", as_it_is).await;
    assert!(output(&ended).starts_with("32 MiB: ModelError::ContextFull"), "{}", ended.result);
}

#[tokio::test]
async fn writes_a_long_log() {
    let ended = delegate(WRITES_A_LONG_LOG, "t", as_it_is).await;
    let taken: u64 = match output(&ended).split(' ').next() {
        Some(taken) => taken.parse().unwrap(),
        None => panic!("{}", ended.result),
    };
    assert!(taken <= 64, "{taken} KiB");
}

/// What is not a component for this host is refused by what it is.
#[test]
fn bytes_that_are_no_subagent_are_refused_by_what_they_are() {
    let refused = |bytes: Vec<u8>| Component::from_bytes("it", bytes.into()).unwrap_err();
    let whole = PANICS;
    assert!(
        matches!(refused(Vec::new()), ComponentError::NotWebAssembly { found, .. } if found == "an empty file")
    );
    assert!(matches!(refused(b"#!/bin/sh".to_vec()), ComponentError::NotWebAssembly { .. }));
    assert!(matches!(refused(wat::parse_str("(module)").unwrap()), ComponentError::CoreModule { .. }));
    let empty = refused(wat::parse_str("(component)").unwrap());
    assert!(matches!(&empty, ComponentError::NoHandler { exports, .. } if exports.is_empty()), "{empty}");
    for length in (0..whole.len()).step_by(997) {
        let error = refused(whole[..length].to_vec());
        assert!(
            matches!(
                error,
                ComponentError::Invalid { .. }
                    | ComponentError::NotWebAssembly { .. }
                    | ComponentError::NoHandler { .. }
            ),
            "{length} bytes: {error}"
        );
    }
}

#[test]
fn a_component_for_another_contract_is_refused_with_both_versions() {
    for (version, fits) in
        [("0.1.0", true), ("0.1.9", true), ("0.2.0", false), ("1.0.0", false), ("0.0.1", false)]
    {
        let text = format!(
            "(component (component $c) (instance $i (instantiate $c)) (export \"deputy:agent/handler@{version}\" (instance $i)))"
        );
        let result = Component::from_bytes("it", wat::parse_str(text).unwrap().into());
        match result {
            Ok(_) => assert!(fits, "{version}"),
            Err(ComponentError::WitVersion { found, .. }) => assert!(!fits && found == version, "{version}"),
            Err(other) => panic!("{version}: {other}"),
        }
    }
}

#[tokio::test]
async fn many_guests_run_at_once_and_hogs_do_not_hold_up_the_others() {
    let model = FnModel::new(|request, last| match request.speaker {
        "parent" if request.history.entries().len() == 1 => {
            let hogs = (0..4).map(|_| ("subagent_hog", json!({"task": "t"})));
            let others = (0..4).map(|_| ("subagent_quick", json!({"task": "t"})));
            calls(&hogs.chain(others).collect::<Vec<_>>())
        }
        "parent" => says(last),
        _ => says("quick"),
    });
    let hog = within(SHORT)(Subagent::new("hog", component(SPINS_QUIETLY)));
    let quick = Subagent::new("quick", component(STOPS_AT_A_LIMIT));
    let host = Host::builder().model(model).subagent(hog).subagent(quick).build().unwrap();
    let report = host.run("go").await;
    let count = |status| report.handoffs.iter().filter(|handoff| handoff.end == Some(status)).count();
    assert_eq!((count(RunStatus::TimedOut), count(RunStatus::Partial)), (4, 4));
}

#[test]
fn dropping_a_host_inside_a_runtime_is_no_fault() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let host = Host::builder().model(FnModel::new(|_, _| says("x"))).build().unwrap();
        assert_eq!(host.run("t").await.status, RunStatus::Answered);
        drop(Arc::new(host));
    });
}

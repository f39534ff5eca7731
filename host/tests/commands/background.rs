//! Commands in the background: what a check says, and that nothing of one is left once it or its run has ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deputy::tools::{BackgroundCommandTool, CheckCommandTool, OperationTool, RunCommandTool, ToolError};
use serde_json::{Value, json};

use super::Test;
use super::ground::Ground;

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[Test] = &[$((stringify!($name), $name)),*];
    };
}

tests![
    output_is_seen_as_it_comes_and_the_exit_code_at_the_end,
    a_command_that_is_stopped_leaves_nothing_running,
    the_end_of_a_run_ends_its_commands_with_all_that_they_started,
    a_stopped_run_stops_its_commands,
    what_floods_is_bounded_and_marked,
    the_time_limit_holds_in_the_background,
    a_command_in_the_background_is_shut_in_like_any_other,
    a_run_that_cannot_check_starts_nothing_in_the_background,
    the_foreground_is_as_it_was,
];

async fn start(ground: &Ground, command: &str) -> Result<String, ToolError> {
    run(ground, json!({"command": command, "background": true})).await
}

async fn run(ground: &Ground, arguments: Value) -> Result<String, ToolError> {
    let plain = OperationTool::new(RunCommandTool::new(Arc::new(ground.confinement.clone())));
    ground.call_text(&BackgroundCommandTool::new(Arc::new(plain)), &arguments).await
}

async fn check(ground: &Ground, arguments: Value) -> String {
    ground.call_text(&CheckCommandTool::default(), &arguments).await.unwrap()
}

/// Checks the first command until its output so far holds `part`.
async fn until(ground: &Ground, part: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut seen = String::new();
    while !seen.contains(part) {
        assert!(Instant::now() < deadline, "no `{part}` in: {seen}");
        seen.push_str(&check(ground, json!({"command_id": "command_1"})).await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    seen
}

fn output_is_seen_as_it_comes_and_the_exit_code_at_the_end() {
    let ground = Ground::any();
    ground.block_on(async {
        let started =
            start(&ground, "echo on; while [ ! -e go ]; do sleep 0.01; done; echo off; exit 3").await;
        assert!(started.as_ref().unwrap().contains("`command_1`"), "{started:?}");
        let seen = until(&ground, "on\n").await;
        assert!(seen.contains("has been running") && !seen.contains("off"), "{seen}");
        std::fs::write(ground.path("go"), "").unwrap();
        let ended = check(&ground, json!({"command_id": "command_1", "wait_seconds": 20})).await;
        assert!(ended.contains("exit code: 3") && ended.ends_with("\noff\n"), "{ended}");
        let again = check(&ground, json!({"command_id": "command_1", "stop": true})).await;
        assert!(again.contains("exit code: 3") && again.contains("(no new output)"), "{again}");
        assert!(again.contains("nothing to stop"), "{again}");
    });
    assert_eq!(ground.processes_left(), [""; 0]);
}

fn a_command_that_is_stopped_leaves_nothing_running() {
    let ground = Ground::any();
    ground.block_on(async {
        start(&ground, "(setsid sleep 300 &); trap '' TERM; echo up; sleep 300; sleep 300").await.unwrap();
        until(&ground, "up").await;
        assert!(!ground.processes_left().is_empty());
        let stopped = check(&ground, json!({"command_id": "command_1", "stop": true})).await;
        assert!(stopped.contains("it was stopped"), "{stopped}");
        assert_eq!(ground.processes_left(), [""; 0]);
    });
}

fn the_end_of_a_run_ends_its_commands_with_all_that_they_started() {
    let ground = Ground::any();
    ground.block_on(async {
        for _ in 0..3 {
            start(&ground, "(setsid sleep 300 &); echo up; sleep 300").await.unwrap();
        }
        until(&ground, "up").await;
        ground.context.background.end().await;
        assert_eq!(ground.processes_left(), [""; 0]);
        assert_eq!(start(&ground, "true").await, Err(ToolError::Cancelled));
    });
}

fn a_stopped_run_stops_its_commands() {
    let ground = Ground::any();
    ground.block_on(async {
        start(&ground, "echo up; sleep 300").await.unwrap();
        until(&ground, "up").await;
        ground.context.cancel.cancel();
        ground.context.background.end().await;
        assert_eq!(ground.processes_left(), [""; 0]);
    });
}

fn what_floods_is_bounded_and_marked() {
    let ground = Ground::any();
    ground.block_on(async {
        start(&ground, "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo the end").await.unwrap();
        let mut seen = check(&ground, json!({"command_id": "command_1", "wait_seconds": 60})).await;
        assert!(seen.contains("bytes of output left out here"), "{}", &seen[..200]);
        let mut whole = 0;
        while seen.contains("more: check again") {
            assert!(seen.len() <= ground.context.limits.result_bytes, "{}", seen.len());
            whole += seen.len();
            seen = check(&ground, json!({"command_id": "command_1"})).await;
        }
        assert!(whole < 1_200_000, "{whole}");
        assert!(seen.ends_with("the end\n"), "{}", &seen[seen.len().saturating_sub(200)..]);
    });
}

fn the_time_limit_holds_in_the_background() {
    let ground = Ground::any();
    ground.block_on(async {
        let arguments = json!({"command": "echo up; sleep 300", "background": true, "timeout_ms": 300});
        assert!(run(&ground, arguments).await.unwrap().contains("for at most 0.3 s"));
        let ended = check(&ground, json!({"command_id": "command_1", "wait_seconds": 20})).await;
        assert!(ended.contains("time limit of 300 ms") && ended.contains("up"), "{ended}");
        assert_eq!(ground.processes_left(), [""; 0]);
        start(&ground, "true").await.unwrap();
        assert!(start(&ground, "").await.is_ok());
        let never = run(&ground, json!({"command": "true", "background": true, "timeout_ms": 0})).await;
        assert!(matches!(never, Err(ToolError::InvalidArguments(_))), "{never:?}");
        ground.context.background.end().await;
    });
}

fn a_command_in_the_background_is_shut_in_like_any_other() {
    let Ok(confinement) = super::ground::confinement() else { return };
    let outside = tempfile::tempdir().unwrap();
    let ground = Ground::with(confinement);
    ground.block_on(async {
        let line = format!("echo x > {}/x; env; cat /proc/$PPID/environ", outside.path().display());
        start(&ground, &line).await.unwrap();
        let ended = check(&ground, json!({"command_id": "command_1", "wait_seconds": 20})).await;
        assert!(!ended.contains(super::ground::CANARY), "{ended}");
        assert!(!outside.path().join("x").exists());
    });
}

fn a_run_that_cannot_check_starts_nothing_in_the_background() {
    let ground = Ground::any().without_check();
    ground.block_on(async {
        let refused = start(&ground, "sleep 300").await.unwrap_err().to_string();
        assert!(refused.contains("unknown field `background`"), "{refused}");
    });
}

fn the_foreground_is_as_it_was() {
    let ground = Ground::any();
    ground.block_on(async {
        for arguments in [json!({"command": "echo hi"}), json!({"command": "echo hi", "background": false})] {
            assert_eq!(
                run(&ground, arguments).await.unwrap().lines().take(2).collect::<Vec<_>>(),
                ["exit code: 0", "hi"]
            );
        }
        let unknown = ground.call_text(&CheckCommandTool::default(), &json!({"command_id": "x"})).await;
        assert!(matches!(unknown, Err(ToolError::NotFound(_))), "{unknown:?}");
        let long = json!({"command_id": "x", "wait_seconds": 61});
        let long = ground.call_text(&CheckCommandTool::default(), &long).await;
        assert!(matches!(long, Err(ToolError::InvalidArguments(_))), "{long:?}");
    });
}

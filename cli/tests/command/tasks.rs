//! Background tasks through the binary: another process lists, shows, awaits and stops what the store holds.

use std::process::Stdio;

use deputy_task::{
    End, NewTask, Owner, Placement, SqliteTaskStore, TaskId, TaskRecord, TaskStatus, TaskStore, now_ms,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::deputy::{Deputy, ended};

/// What a run that goes on would hold: the store of a workspace, open.
struct Seed {
    runtime: Runtime,
    store: SqliteTaskStore,
    owner: Owner,
}

impl Seed {
    fn new(deputy: &Deputy) -> Self {
        let runtime = Runtime::new().unwrap();
        let store = runtime.block_on(SqliteTaskStore::open(deputy.path(".deputy"))).unwrap();
        Self { runtime, store, owner: Owner::this_process() }
    }

    fn add(&self, id: &str, parent: Option<&str>, session: &str, lease_ms: i64) -> TaskRecord {
        let new = NewTask {
            id: id.into(),
            parent_session: session.into(),
            parent_task: parent.map(TaskId::from),
            agent_id: "explore".to_owned(),
            agent_key: "main".to_owned(),
            label: None,
            task: format!("find the tide of {id}"),
            user: None,
            placement: Placement::Running(self.owner),
            lease_until_ms: now_ms() + lease_ms,
            restart_safe: false,
        };
        self.runtime.block_on(self.store.create(new)).unwrap()
    }

    fn running(&self, id: &str) -> TaskRecord {
        self.add(id, None, "s1", 60_000)
    }

    fn finish(&self, id: &str, end: End) {
        self.runtime.block_on(self.store.finish(&id.into(), self.owner, end)).unwrap();
    }

    fn status(&self, id: &str) -> TaskStatus {
        self.runtime.block_on(self.store.get(&id.into())).unwrap().status
    }
}

fn ids(listed: &Value) -> Vec<&str> {
    listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[test]
fn where_no_task_was_recorded_none_is_listed_and_nothing_is_made() {
    let deputy = Deputy::new();
    assert_eq!(deputy.run(&["tasks"]).exits(0).stdout, "there are no tasks\n");
    assert_eq!(deputy.run(&["tasks", "list", "--json"]).exits(0).json(), json!([]));
    for command in ["show", "wait", "cancel"] {
        deputy.run(&["tasks", command, "t1"]).exits(1).says(&["there is no task `t1`"]);
    }
    assert!(!deputy.path(".deputy").exists());
    deputy.run(&["tasks", "--workspace", "nowhere"]).exits(2).says(&["nowhere"]);
}

#[test]
fn tasks_are_listed_newest_first_and_what_a_task_started_stands_below_it() {
    let deputy = Deputy::new();
    let seed = Seed::new(&deputy);
    seed.running("t1");
    seed.add("t2", None, "s2", 60_000);
    seed.add("t3", Some("t1"), "s3", 60_000);
    seed.finish("t2", End::Completed("done".to_owned()));

    let listed = deputy.run(&["tasks", "list", "--json"]).exits(0).json();
    assert_eq!(ids(&listed), ["t2", "t1", "t3"]);
    assert_eq!((&listed[2]["parent_task"], &listed[0]["status"]), (&json!("t1"), &json!("completed")));
    let text = deputy.run(&["tasks"]).exits(0).stdout;
    assert!(text.contains("\n  t3  running") && text.contains("find the tide of t3"), "{text}");

    for (arguments, found) in [
        (["--status", "running"], &["t1", "t3"][..]),
        (["--status", "all"], &["t2", "t1", "t3"]),
        (["--status", "lost"], &[]),
        (["--session", "s3"], &["t3"]),
    ] {
        let listed = deputy.run(&[&["tasks", "list", "--json"], &arguments[..]].concat()).exits(0).json();
        assert_eq!(ids(&listed), found, "{arguments:?}");
    }
    deputy.run(&["tasks", "list", "--status", "asleep"]).exits(2).says(&["pending", "all"]);
}

#[test]
fn what_a_dead_process_left_is_not_listed_as_running() {
    let deputy = Deputy::new();
    Seed::new(&deputy).add("t1", None, "s1", -1);
    let listed = deputy.run(&["tasks", "--json"]).exits(0).json();
    assert_eq!(listed[0]["status"], "failed");
    deputy.run(&["tasks", "wait", "t1"]).exits(1).says(&["the process that ran this task died"]);
}

#[test]
fn one_task_is_shown_by_the_beginning_of_its_id_with_its_answer_made_inert() {
    let deputy = Deputy::new();
    let seed = Seed::new(&deputy);
    for id in ["tide-1", "tide-2", "moon-1"] {
        seed.running(id);
    }
    let result = json!({"status": "partial", "output": "high\u{1b}[2J\nwater", "worktree": {"id": "w-1"}});
    seed.finish("moon-1", End::Completed(result.to_string()));
    seed.finish("tide-1", End::Completed("{\"no\": \"answer\"}".to_owned()));

    let shown = deputy.run(&["tasks", "show", "moon"]).exits(0).stdout;
    for part in ["moon-1", "completed", "partial", "explore", "s1", "w-1", "  high\\u{1b}[2J\n  water"] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(!shown.contains("worktree\":"), "{shown}");
    assert!(deputy.run(&["tasks", "show", "tide-1"]).exits(0).stdout.contains("  {\"no\": \"answer\"}\n"));
    let whole = deputy.run(&["tasks", "show", "moon-1", "--json"]).exits(0).json();
    assert_eq!((&whole["result"], &whole["attempts"]), (&json!(result.to_string()), &json!(1)));

    deputy.run(&["tasks", "show", "tide"]).exits(2).says(&["2 tasks begin with `tide`", "tide-1", "tide-2"]);
    deputy.run(&["tasks", "show", "moan-1"]).exits(1).says(&["no task `moan-1`", "near it are `moon-1`"]);
}

#[test]
fn a_wait_ends_with_the_task_and_tells_by_its_exit_code_how() {
    let deputy = Deputy::new();
    let seed = Seed::new(&deputy);
    for id in ["t1", "t2"] {
        seed.running(id);
    }
    let late = deputy.run(&["tasks", "wait", "t1", "--timeout", "1ms"]).exits(4);
    late.says(&["the time ran out", "t1 is still running"]);

    let waiting = deputy.command(&["tasks", "wait", "t1"]).stdout(Stdio::piped()).spawn().unwrap();
    seed.finish("t1", End::Completed(json!({"output": "low water"}).to_string()));
    let waited = ended(&waiting.wait_with_output().unwrap()).exits(0);
    assert_eq!(waited.stdout, "low water\n");

    seed.finish("t2", End::Failed { error: "no tide".to_owned(), partial: Some("so far".to_owned()) });
    let failed =
        deputy.run(&["tasks", "wait", "t2", "--timeout", "30s"]).exits(1).says(&["t2 is failed: no tide"]);
    assert_eq!(failed.stdout, "so far\n");
    assert_eq!(deputy.run(&["tasks", "wait", "t2", "--json"]).exits(1).json()["partial"], "so far");
    deputy.run(&["tasks", "wait", "t1", "--timeout", "30"]).exits(2);
}

#[test]
fn a_cancel_stops_what_is_below_as_well_and_a_second_one_finds_nothing() {
    let deputy = Deputy::new();
    let seed = Seed::new(&deputy);
    seed.running("t1");
    seed.add("t2", Some("t1"), "s1", 60_000);
    seed.running("t3");

    let stopped = deputy.run(&["tasks", "cancel", "t1"]).exits(0).stdout;
    assert_eq!(stopped, "t1 is asked to stop\nt2 is asked to stop\n");
    let again = deputy.run(&["tasks", "cancel", "t1"]).exits(0).stdout;
    assert_eq!(again, "nothing to stop: t1 is running and asked to stop already\n");
    assert!(deputy.run(&["tasks"]).stdout.contains("t1  running, stopping"));
    seed.finish("t1", End::Completed("too late".to_owned()));
    assert_eq!((seed.status("t1"), seed.status("t3")), (TaskStatus::Cancelled, TaskStatus::Running));
    let ended = deputy.run(&["tasks", "cancel", "t1", "--json"]).exits(0).json();
    assert_eq!(ended, json!({"id": "t1", "stopped": [], "status": "cancelled"}));
}

//! A host killed at any moment, again and again. Must judge only by what the dead had acknowledged.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;
use crate::{TaskFilter, TaskStatus};

/// Says to the child that it is one, and where the store lies.
const PLACE: &str = "DEPUTY_TASK_CRASH_PLACE";
const LANES: u32 = 6;

/// Lives tasks until it is killed; prints what was acknowledged. As a test of its own it does nothing.
#[test]
fn the_host_that_is_killed() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteTaskStore::open(&place).await.unwrap();
        let (store, me, place) = (&store, owner(), Path::new(&place));
        let life = |lane: u32| async move {
            loop {
                let placement =
                    if lane.is_multiple_of(2) { Placement::Held(me) } else { Placement::Running(me) };
                let id = store.create(new(TaskId::fresh().as_str(), placement)).await.unwrap().id;
                println!("\nACK created {id}");
                if lane.is_multiple_of(2) {
                    store.start(&id, me, soon()).await.unwrap();
                }
                store.finish(&id, me, completed(id.as_str())).await.unwrap();
                println!("\nACK finished {id}");
                if lane == 0 {
                    drain(store, place).await;
                }
            }
        };
        let mut lives: Vec<_> = (0..LANES).map(|lane| Box::pin(life(lane))).collect();
        delivery::join(&mut lives).await;
    });
}

/// What a parent does at the start of each turn: its history, here a file, takes up what it
/// does not hold yet, and only then is anything acknowledged.
async fn drain(store: &SqliteTaskStore, place: &Path) {
    let ended = due(store).await;
    let held = history(place);
    let mut file = OpenOptions::new().create(true).append(true).open(place.join("history")).unwrap();
    for id in &ended {
        if !held.contains_key(id.as_str()) {
            file.write_all(format!("{id}\n").as_bytes()).unwrap();
        }
    }
    store.acknowledge(&ended).await.unwrap();
}

/// How often the history holds each task.
fn history(place: &Path) -> BTreeMap<String, u32> {
    let mut held = BTreeMap::new();
    for line in fs::read_to_string(place.join("history")).unwrap_or_default().lines() {
        *held.entry(line.to_owned()).or_default() += 1;
    }
    held
}

/// Runs a host and kills it once it has acknowledged so many changes; what those were.
fn kill_after(place: &Path, acknowledged: usize) -> Vec<(String, TaskId)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["tests::crash::the_host_that_is_killed", "--exact", "--nocapture", "--test-threads=1"])
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = Vec::new();
    // What was still in the pipe when the host died had been acknowledged too.
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some((_, what)) = line.unwrap().split_once("ACK ") {
            // A line cut by the kill has an id that is too short.
            let (what, id) = what.split_once(' ').unwrap_or((what, ""));
            if id.len() == 36 {
                told.push((what.to_owned(), TaskId::from(id)));
            }
        }
        if told.len() == acknowledged {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(told.len() >= acknowledged, "the host ended by itself after {}", told.len());
    told
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_stuck_or_delivered_twice_when_hosts_are_killed() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(".deputy");
    let mut told = Vec::new();
    for acknowledged in [1, 2, 7, 20, 33, 61, 100, 140] {
        told.extend(kill_after(&place, acknowledged));
    }

    let store = SqliteTaskStore::open(&place).await.unwrap();
    for (what, id) in &told {
        let record = store.get(id).await.unwrap();
        if what == "finished" {
            assert_eq!((record.status, record.result.as_deref()), (TaskStatus::Completed, Some(id.as_str())));
        }
    }
    store.sweep(now_ms() + 60_000).await.unwrap();
    assert_eq!(store.running_count(&session()).await.unwrap(), 0, "nothing is stuck");
    drain(&store, &place).await;
    assert_eq!(due(&store).await, []);

    let held = history(&place);
    let all = store.list(&TaskFilter { limit: u32::MAX, ..TaskFilter::default() }).await.unwrap();
    assert_eq!(held.len(), all.len(), "each task was delivered");
    assert!(held.values().all(|times| *times == 1), "each once");
    assert!(told.iter().all(|(_, id)| held.contains_key(id.as_str())));
}

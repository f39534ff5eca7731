//! Tasks as a list: what a task started stands below it. Must not look anything up.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use deputy_task::{TaskRecord, TaskStatus, now_ms};
use serde_json::Value;

use crate::render;

/// Most characters of a task that a line shows.
const HEAD: usize = 60;

/// Prints records that come newest first.
pub(super) fn print(records: &[TaskRecord], as_json: bool) {
    let rows = below_their_parents(records);
    if as_json {
        let objects = rows.iter().filter_map(|(_, record)| serde_json::to_value(record).ok());
        render::json(&Value::Array(objects.collect()));
        return;
    }
    if rows.is_empty() {
        render::out("there are no tasks\n");
    }
    let now = now_ms();
    for (depth, record) in rows {
        render::out(&row(depth, record, now));
    }
}

/// Each record with its depth, right after the one that started it, where that is among them.
fn below_their_parents(records: &[TaskRecord]) -> Vec<(usize, &TaskRecord)> {
    let here: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let mut below: HashMap<Option<&str>, Vec<&TaskRecord>> = HashMap::new();
    for record in records {
        let parent = record.parent_task.as_ref().map(|id| id.as_str()).filter(|id| here.contains(id));
        below.entry(parent).or_default().push(record);
    }
    let mut rows = Vec::with_capacity(records.len());
    let mut open: Vec<(usize, &TaskRecord)> = Vec::new();
    open.extend(below.remove(&None).into_iter().flatten().rev().map(|record| (0, record)));
    while let Some((depth, record)) = open.pop() {
        rows.push((depth, record));
        let children = below.remove(&Some(record.id.as_str())).into_iter().flatten().rev();
        open.extend(children.map(|child| (depth + 1, child)));
    }
    rows
}

fn row(depth: usize, record: &TaskRecord, now: i64) -> String {
    let stopping =
        if record.cancel_requested && record.status == TaskStatus::Running { ", stopping" } else { "" };
    let since = record.started_ms.unwrap_or(record.created_ms);
    let what = record.label.as_deref().unwrap_or(&record.task);
    format!(
        "{:indent$}{}  {}{stopping}  {}  {}  {}\n",
        "",
        render::line(record.id.as_str()),
        record.status,
        took(record.ended_ms.unwrap_or(now).saturating_sub(since)),
        render::line(&record.agent_id),
        head(what),
        indent = depth.saturating_mul(2),
    )
}

/// A time in whole seconds, as people write it.
fn took(milliseconds: i64) -> String {
    let seconds = u64::try_from(milliseconds / 1000).unwrap_or_default();
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// The beginning of a text, in one line.
fn head(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or_default();
    let cut = first.char_indices().nth(HEAD).and_then(|(at, _)| first.get(..at));
    match cut {
        Some(cut) => format!("{}…", render::line(cut)),
        None => render::line(first),
    }
}

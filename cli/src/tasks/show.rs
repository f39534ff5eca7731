//! One task with all that is known of it. Must not look anything up.

use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use deputy_task::TaskRecord;
use serde_json::{Map, Value};

use crate::render;

/// Prints a record.
pub(super) fn print(record: &TaskRecord, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        render::json(&serde_json::to_value(record)?);
    } else {
        render::out(&text(record));
    }
    Ok(())
}

/// The answer in the result of a delegation; the result itself where it is no such object.
pub(super) fn output(result: &str) -> String {
    let answer = object(result).and_then(|object| object.get("output")?.as_str().map(str::to_owned));
    answer.unwrap_or_else(|| result.to_owned())
}

fn object(result: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(result).ok()
}

fn text(record: &TaskRecord) -> String {
    let stopping = record.cancel_requested && !record.status.is_ended();
    let owner = record.owner.map(|owner| format!("process {}, host {}", owner.pid, owner.host));
    let result = record.result.as_deref().and_then(object).unwrap_or_default();
    let of_result = |keys: &[&str]| {
        let mut found = result.get(*keys.first()?)?;
        for key in keys.get(1..)? {
            found = found.get(key)?;
        }
        found.as_str().map(str::to_owned)
    };
    let lines = [
        ("id", Some(record.id.to_string())),
        ("status", Some(format!("{}{}", record.status, if stopping { ", asked to stop" } else { "" }))),
        ("ended as", of_result(&["status"]).filter(|status| status != record.status.as_str())),
        ("agent", Some(record.agent_id.clone())),
        ("key", Some(record.agent_key.clone())),
        ("label", record.label.clone()),
        ("session", Some(record.parent_session.to_string())),
        ("started by", record.parent_task.as_ref().map(ToString::to_string)),
        ("topmost", record.parent_task.as_ref().map(|_| record.root.to_string())),
        ("user", record.user.clone()),
        ("owner", owner),
        ("created", Some(time(record.created_ms))),
        ("began", record.started_ms.map(time)),
        ("ended", record.ended_ms.map(time)),
        ("lease until", record.lease_until_ms.map(time)),
        ("attempts", Some(record.attempts.to_string())),
        ("may run again", Some(yes_or_no(record.restart_safe))),
        ("delivered", record.status.is_ended().then(|| yes_or_no(record.delivered))),
        ("worktree", of_result(&["worktree", "id"])),
        ("error", record.error.clone()),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        if let Some(value) = value {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name:<14} {}", render::line(&value));
        }
    }
    let answer = record.result.as_deref().map(output);
    for (name, body) in [
        ("task", Some(record.task.as_str())),
        ("result", answer.as_deref()),
        ("partial", record.partial.as_deref()),
    ] {
        if let Some(body) = body {
            let _ = writeln!(text, "\n{name}:");
            for line in render::block(body).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// A time as a date; the number itself where no clock of today could have written it.
fn time(milliseconds: i64) -> String {
    let since = u64::try_from(milliseconds).ok().map(Duration::from_millis);
    match since.and_then(|since| UNIX_EPOCH.checked_add(since)) {
        // Past the year 9999 the form has no digits left.
        Some(time) if milliseconds < 253_402_300_800_000 => {
            humantime::format_rfc3339_seconds(time).to_string()
        }
        _ => format!("{milliseconds} ms since 1970"),
    }
}

//! What a delegation left in a worktree of its own, as its parent reads it. Must not make or end one.

use serde_json::{Map, Value, json};

use crate::history::{as_data, shortened};
use crate::workspace::Left;
use crate::worktree::{ChangedFile, Finished, WorktreeError};

/// Most changed files that are named.
const FILES: usize = 50;

/// The part of a result that tells of a worktree; none where it was not touched. At most about `cap` bytes.
pub(super) fn told(left: &Result<Option<Left>, WorktreeError>, cap: usize) -> Option<Value> {
    match left {
        Ok(None) => None,
        Ok(Some(Left { finished: Finished::Removed, note })) => {
            note.as_ref().map(|note| json!({"changed_files": 0, "note": as_data(note)}))
        }
        Ok(Some(Left { finished: Finished::Kept { id, path, branch, diff, .. }, note })) => {
            let mut object = Map::new();
            object.insert("id".to_owned(), json!(id));
            object.insert("path".to_owned(), json!(path.display().to_string()));
            object.insert("branch".to_owned(), json!(branch));
            object.insert("changed_files".to_owned(), json!(diff.files.len()));
            object.insert("files".to_owned(), diff.files.iter().take(FILES).map(file).collect());
            object.insert("diff".to_owned(), json!(fitting(&diff.text, cap)));
            if diff.cut {
                object.insert("diff_is_cut".to_owned(), json!(true));
            }
            if let Some(note) = note {
                object.insert("note".to_owned(), json!(as_data(note)));
            }
            Some(Value::Object(object))
        }
        Err(error) => Some(json!({"error": as_data(&error.to_string())})),
    }
}

fn file(file: &ChangedFile) -> Value {
    let path = shortened(&as_data(&file.path), 300);
    if file.binary {
        return json!({"path": path, "kind": file.kind, "binary": true});
    }
    json!({"path": path, "kind": file.kind, "added": file.added, "removed": file.removed})
}

/// As much of a diff as takes `cap` bytes in JSON. It is the subagent's text: data.
fn fitting(diff: &str, cap: usize) -> String {
    let data = as_data(diff);
    let mut room = cap;
    loop {
        let text = shortened(&data, room);
        match json!(text).to_string().len().checked_sub(cap) {
            Some(over) if over > 0 && room > 0 => room = room.saturating_sub(over.max(64)),
            _ => return text,
        }
    }
}

//! Which task a person means by an id or the beginning of one. Must not guess between two.

use deputy_task::{SqliteTaskStore, TaskError, TaskFilter, TaskId, TaskRecord, TaskStore};

use crate::ending::{Ending, ends};
use crate::render;

/// How many of the newest tasks are looked through for the beginning of an id; a whole id is always found.
const LOOKED_AT: u32 = 1000;

/// Most ids that an error names.
const NAMED: usize = 4;

/// The task of this id, or the only one whose id begins so.
pub(super) async fn find(store: &SqliteTaskStore, given: &str) -> anyhow::Result<TaskRecord> {
    match store.get(&TaskId::from(given)).await {
        Err(TaskError::NotFound { .. }) => {}
        found => return Ok(found?),
    }
    let known = store.list(&TaskFilter { limit: LOOKED_AT, ..TaskFilter::default() }).await?;
    let beginning: Vec<&TaskRecord> =
        known.iter().filter(|one| !given.is_empty() && one.id.as_str().starts_with(given)).collect();
    match beginning[..] {
        [one] => Ok(one.clone()),
        [] => {
            let near = named(&near(given, &known));
            let near = if near.is_empty() { near } else { format!("; near it are {near}") };
            let given = render::line(given);
            let text =
                format!("there is no task `{given}` in this workspace{near}; `deputy tasks` lists them");
            Err(ends(Ending::Failed, &text))
        }
        _ => {
            let ids: Vec<&str> = beginning.iter().map(|one| one.id.as_str()).collect();
            let text = format!(
                "{} tasks begin with `{}`: {}; give more of the id",
                ids.len(),
                render::line(given),
                named(&ids)
            );
            Err(ends(Ending::Usage, &text))
        }
    }
}

/// The ids most like this one, the likest first.
fn near<'a>(given: &str, known: &'a [TaskRecord]) -> Vec<&'a str> {
    let likeness = |id: &str| strsim::jaro_winkler(given, id);
    let mut ids: Vec<&str> = known.iter().map(|one| one.id.as_str()).collect();
    ids.sort_by(|one, other| likeness(other).total_cmp(&likeness(one)));
    ids.truncate(NAMED - 1);
    ids
}

/// Some ids in a row, and a mark where there are more.
fn named(ids: &[&str]) -> String {
    let mut shown: Vec<String> = ids.iter().take(NAMED).map(|id| format!("`{}`", render::line(id))).collect();
    if ids.len() > NAMED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

//! `deputy worktrees`: what subagents left in worktrees of their own, for a person to look at and decide. Must not
//! delete or apply anything that was not named.

use deputy::worktree::{ChangedFile, Condition, WorktreeState, Worktrees};
use serde_json::{Value, json};

use crate::arguments::{WorktreesArguments, WorktreesCommand};
use crate::ending::Ending;
use crate::render;

/// Most bytes of a diff that is shown.
const DIFF_BYTES: usize = 16 * 1024 * 1024;

pub(crate) fn run(arguments: &WorktreesArguments) -> anyhow::Result<Ending> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let worktrees = Worktrees::open(&arguments.workspace).await?;
        match &arguments.command {
            None | Some(WorktreesCommand::List) => list(&worktrees.list().await?, arguments.json),
            Some(WorktreesCommand::Diff { id }) => {
                let diff = worktrees.diff(id, DIFF_BYTES).await?;
                if arguments.json {
                    render::json(&serde_json::to_value(&diff)?);
                } else {
                    let beside = diff.files.iter().filter(|file| !file.is_in_diff());
                    render::out(&format!(
                        "{}{}",
                        render::block(&diff.text),
                        beside.map(|file| named("not in the diff", file)).collect::<String>()
                    ));
                    if diff.cut {
                        render::warning("the diff is cut; `--json` names every file");
                    }
                }
            }
            Some(WorktreesCommand::Apply { id }) => {
                let applied = worktrees.apply(id).await?;
                if arguments.json {
                    render::json(&serde_json::to_value(&applied)?);
                } else {
                    let done = applied.files.iter().map(|file| named("applied", file));
                    let left = applied.left_out.iter().map(|file| named("left in the worktree", file));
                    render::out(&done.chain(left).collect::<String>());
                }
            }
            Some(WorktreesCommand::Discard { id }) => {
                worktrees.discard(id).await?;
                if arguments.json {
                    render::json(&json!({"id": id, "discarded": true}));
                } else {
                    render::out(&format!("{} is discarded\n", render::line(id)));
                }
            }
        }
        Ok(Ending::Answered)
    })
}

fn list(states: &[WorktreeState], as_json: bool) {
    if as_json {
        let objects = states.iter().filter_map(|state| serde_json::to_value(state).ok());
        render::json(&Value::Array(objects.collect()));
        return;
    }
    for state in states {
        let condition = match state.state {
            Condition::Clean => "clean",
            Condition::HasWork => "has work",
            Condition::InUse => "in use",
            _ => "broken",
        };
        render::out(&format!(
            "{}  {condition}, changed files: {}, branch {}\n  {}\n",
            render::line(&state.id),
            state.changed_files,
            render::line(&state.branch),
            render::line(&state.path.display().to_string())
        ));
    }
}

fn named(what: &str, file: &ChangedFile) -> String {
    format!("{what}: {}\n", render::line(&file.path))
}

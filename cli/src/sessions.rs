//! `deputy sessions`, and where conversations are kept: in the user's state directory, a folder a workspace, since a
//! cloned repository could bring conversations of its own. Must not read what was said in one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use deputy::ids::SessionId;
use deputy::session::{DirectoryStore, SessionList, SessionStore, SessionSummary};
use serde_json::{Value, json};

use crate::arguments::{SessionsArguments, SessionsCommand};
use crate::ending::{Ending, ends};
use crate::{render, state};

pub(crate) fn run(arguments: &SessionsArguments) -> anyhow::Result<Ending> {
    let store = store(&arguments.workspace)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &arguments.command {
            None => {
                list(&store.list().await?, arguments.json);
                Ok(Ending::Answered)
            }
            Some(SessionsCommand::Forget { id, .. }) => forget(&*store, id.as_deref()).await,
        }
    })
}

/// Conversations of a parent that are kept of a workspace; where there are twice as many, the oldest go.
const KEPT: usize = 100;

/// Where the conversations of a workspace are kept.
pub(crate) fn store(workspace: &Path) -> anyhow::Result<Arc<dyn SessionStore>> {
    Ok(Arc::new(DirectoryStore::open(directory(workspace)?)?))
}

/// Forgets the oldest conversations of a parent where there are very many. Those of subagents stay: each is one that
/// goes on. Reads none where there are few.
pub(crate) async fn keep_few(store: &dyn SessionStore, workspace: &Path) -> anyhow::Result<()> {
    let files = std::fs::read_dir(directory(workspace)?).map_or(0, Iterator::count);
    if files <= 2 * KEPT {
        return Ok(());
    }
    let sessions = store.list().await?.sessions;
    let own: Vec<_> = sessions.into_iter().filter(|one| one.key.is_of_agent()).collect();
    for one in own.iter().take(own.len().saturating_sub(KEPT)) {
        store.remove_of(&one.key).await?;
    }
    Ok(())
}

fn directory(workspace: &Path) -> anyhow::Result<PathBuf> {
    let canonical =
        workspace.canonicalize().with_context(|| format!("cannot find {}", workspace.display()))?;
    let state = state::directory(|name| std::env::var_os(name)).map_err(anyhow::Error::msg)?;
    let folder = deputy::sandbox::sha256(canonical.as_os_str().as_encoded_bytes());
    Ok(state.join("sessions").join(folder))
}

fn list(list: &SessionList, as_json: bool) {
    if as_json {
        let broken =
            list.unreadable.iter().map(|one| json!({"id": one.id.as_str(), "error": one.error.to_string()}));
        render::json(&Value::Array(list.sessions.iter().map(object).chain(broken).collect()));
        return;
    }
    for one in &list.sessions {
        render::out(&row(one));
    }
    for one in &list.unreadable {
        render::warning(&format!("{}: {}", one.id, one.error));
    }
}

/// The agent whose conversation it is.
fn agent(one: &SessionSummary) -> &str {
    if one.key.is_of_agent() { "parent" } else { one.key.tool.as_str() }
}

fn object(one: &SessionSummary) -> Value {
    json!({
        "id": one.id, "agent": agent(one), "user": one.key.user, "messages": one.messages, "bytes": one.bytes,
        "error": null,
    })
}

fn row(one: &SessionSummary) -> String {
    format!(
        "{}  {}  {} messages  user {}\n",
        render::line(one.id.as_str()),
        render::line(agent(one)),
        one.messages,
        render::line(one.key.user.as_str())
    )
}

/// Forgets one conversation, or all of them.
async fn forget(store: &dyn SessionStore, id: Option<&str>) -> anyhow::Result<Ending> {
    let Some(id) = id else {
        let SessionList { sessions, unreadable } = store.list().await?;
        let mut count = 0usize;
        for one in sessions {
            count += usize::from(store.remove_of(&one.key).await?);
        }
        for one in unreadable {
            count += usize::from(store.remove(&one.id).await?);
        }
        render::out(&format!("{count} conversations are forgotten\n"));
        return Ok(Ending::Answered);
    };
    if store.remove(&SessionId::from(id)).await? {
        render::out(&format!("{} is forgotten\n", render::line(id)));
        return Ok(Ending::Answered);
    }
    let unknown = anyhow!(
        "there is no conversation {} in this workspace; `deputy sessions` lists them",
        render::line(id)
    );
    Err(ends(Ending::Failed, &unknown))
}

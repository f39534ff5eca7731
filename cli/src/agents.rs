//! `deputy agents`: who is there to delegate to. Must not run or compile anything.

use anyhow::anyhow;
use deputy::calls::ToolSet;
use deputy::handoff::StaticRegistry;
use deputy::subagent::Subagent;
use deputy::tools::Builtins;
use serde_json::{Value, json};

use crate::arguments::{AgentsArguments, AgentsCommand};
use crate::ending::{Ending, ends};
use crate::inspect::{surface_json, surface_words};
use crate::render;
use crate::setup::settled;
use crate::subagents::{plugin, stock, unknown};

/// One line of the list: a subagent, or a file that makes none.
struct Listed {
    id: String,
    source: String,
    subagent: Result<Subagent, String>,
}

pub(crate) fn run(arguments: &AgentsArguments) -> anyhow::Result<Ending> {
    let listed = list(arguments)?;
    if let Some(AgentsCommand::Show { id }) = &arguments.command {
        return show(arguments, &listed, id);
    }
    if arguments.json {
        render::json(&Value::Array(listed.iter().map(object).collect()));
    } else {
        render::out(&listed.iter().map(row).collect::<String>());
    }
    match listed.iter().find_map(|one| one.subagent.as_ref().err()) {
        Some(error) => Err(ends(Ending::Failed, &error)),
        None => Ok(Ending::Answered),
    }
}

/// Takes the subagents in as a host would, so that what a host refuses is refused here.
fn list(arguments: &AgentsArguments) -> anyhow::Result<Vec<Listed>> {
    let mut tools = ToolSet::default();
    for tool in Builtins::new(None, None).all() {
        tools.add(tool)?;
    }
    let mut known = stock()?;
    let mut refused = Vec::new();
    for path in &arguments.settings.subagent {
        match plugin(path) {
            Ok(subagent) => known.push(subagent),
            Err(error) => refused.push(Listed {
                id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                source: path.display().to_string(),
                subagent: Err(error.to_string()),
            }),
        }
    }
    let mut registry = StaticRegistry::default();
    let taken_in =
        settled(&arguments.settings, known, arguments.json)?.1.into_iter().map(|subagent| Listed {
            id: subagent.name().to_string(),
            source: subagent.declared_in().to_owned(),
            subagent: registry
                .add(subagent.clone(), &tools)
                .map(|()| subagent)
                .map_err(|error| error.to_string()),
        });
    Ok(taken_in.chain(refused).collect())
}

fn object(one: &Listed) -> Value {
    match &one.subagent {
        Ok(subagent) => json!({
            "id": one.id,
            "source": one.source,
            "status": "loaded",
            "description": subagent.described(),
            "tool_name": subagent.tool().as_str(),
            "tools": subagent.declared_tools(),
            "session_mode": subagent.mode(),
            "max_turns": subagent.turn_limit(),
            "sha256": subagent.component().sha256(),
            "error": null,
        }),
        Err(error) => json!({
            "id": one.id,
            "source": one.source,
            "status": "refused",
            "description": null,
            "tool_name": null,
            "tools": [],
            "session_mode": null,
            "max_turns": null,
            "sha256": null,
            "error": error,
        }),
    }
}

fn row(one: &Listed) -> String {
    let (id, source) = (render::line(&one.id), render::line(&one.source));
    let Ok(subagent) = &one.subagent else {
        return format!("{id} ({source}): refused\n");
    };
    format!(
        "{id} ({source}, called as {})\n  {}\n  tools: {}\n",
        render::line(subagent.tool().as_str()),
        render::line(subagent.described().lines().next().unwrap_or_default()),
        render::or_nothing(subagent.declared_tools().iter().map(|tool| tool.as_str()))
    )
}

fn show(arguments: &AgentsArguments, listed: &[Listed], id: &str) -> anyhow::Result<Ending> {
    // Of two of one name the one that is there is meant.
    let mut named = listed.iter().filter(|one| one.id == id);
    let first = named.next();
    let Some(one) =
        first.filter(|one| one.subagent.is_ok()).or_else(|| named.find(|one| one.subagent.is_ok())).or(first)
    else {
        let ids: Vec<&str> = listed.iter().map(|one| one.id.as_str()).collect();
        return Err(anyhow!(unknown("subagent", id, &ids)));
    };
    let subagent = one.subagent.as_ref().map_err(|error| ends(Ending::Failed, &error))?;
    let surface = subagent.component().surface();
    if arguments.json {
        let mut shown = object(one);
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("imports".to_owned(), surface_json(surface));
        }
        render::json(&shown);
        return Ok(Ending::Answered);
    }
    render::out(&format!(
        "{}  session: {}\n  turns: {}\n\nIts component:\n{}\n{}\n",
        row(one),
        subagent.mode(),
        subagent.turn_limit().map_or_else(|| "as the host says".to_owned(), |turns| turns.to_string()),
        surface_words(surface),
        render::block(subagent.described().trim_end())
    ));
    Ok(Ending::Answered)
}

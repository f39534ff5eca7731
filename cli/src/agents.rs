//! `deputy agents`: who is there to delegate to. Must not run or compile anything.

mod listed;

use anyhow::anyhow;
use deputy::calls::ToolSet;
use deputy::handoff::StaticRegistry;
use deputy::tools::Builtins;
use serde_json::Value;

use crate::arguments::{AgentsArguments, AgentsCommand};
use crate::declarations;
use crate::ending::{Ending, ends};
use crate::inspect::{surface_json, surface_words};
use crate::render;
use crate::setup::{Settled, settled};
use crate::subagents::{plugin, unknown};
use listed::Listed;

pub(crate) fn run(arguments: &AgentsArguments) -> anyhow::Result<Ending> {
    let listed = list(arguments)?;
    if let Some(AgentsCommand::Show { id }) = &arguments.command {
        return show(arguments, &listed, id);
    }
    // Whoever names directories asks what is in them.
    let asked = |one: &&Listed| arguments.settings.agents.is_empty() || one.named || one.fatal;
    let asked: Vec<&Listed> = listed.iter().filter(asked).collect();
    if arguments.json {
        render::json(&Value::Array(asked.iter().map(|one| one.object()).collect()));
    } else {
        render::out(&asked.iter().map(|one| one.row()).collect::<String>());
    }
    // A file that was found and is refused is part of the answer; one that was named has to be right.
    match asked.iter().filter(|one| one.fatal).find_map(|one| one.subagent.as_ref().err()) {
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
    let mut plugins = Vec::new();
    let mut refused = Vec::new();
    for path in &arguments.settings.subagent {
        match plugin(path) {
            Ok(subagent) => plugins.push(subagent),
            Err(error) => refused.push(Listed::broken(path, error.to_string())),
        }
    }
    let Settled { subagents, declarations, .. } = settled(&arguments.settings, plugins, arguments.json)?;
    declarations::tell(&declarations, false);
    let mut registry = StaticRegistry::default();
    let mut listed: Vec<Listed> = subagents
        .into_iter()
        .map(|subagent| {
            let taken_in = registry.add(subagent.clone(), &tools);
            let entry = declarations.entries.iter().find(|entry| {
                entry.agent.as_ref().is_ok_and(|agent| agent.subagent.name() == subagent.name())
            });
            Listed::taken_in(subagent, taken_in, entry.map(|entry| (entry, &declarations)))
        })
        .collect();
    let refused_files = declarations.entries.iter().filter(|entry| entry.agent.is_err());
    listed.extend(refused_files.map(|entry| Listed::refused(entry, &declarations)));
    listed.extend(refused);
    Ok(listed)
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
        let mut shown = one.object();
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("prompt".to_owned(), subagent.prompt().into());
            shown.insert("imports".to_owned(), surface_json(surface));
        }
        render::json(&shown);
        return Ok(Ending::Answered);
    }
    let prompt = subagent.prompt().map(|prompt| format!("\nIts instructions:\n{}\n", render::block(prompt)));
    render::out(&format!(
        "{}  session: {}\n  turns: {}\n\nIts component:\n{}\n{}\n{}",
        one.row(),
        subagent.mode(),
        subagent.turn_limit().map_or_else(|| "as the host says".to_owned(), |turns| turns.to_string()),
        surface_words(surface),
        render::block(subagent.described().trim_end()),
        prompt.unwrap_or_default()
    ));
    Ok(Ending::Answered)
}

//! `deputy agents`: who is there to delegate to.

use anyhow::anyhow;
use deputy::subagent::Subagent;
use serde_json::{Value, json};

use crate::arguments::{AgentsArguments, AgentsCommand};
use crate::ending::{Ending, ends};
use crate::inspect::surface_json;
use crate::render;
use crate::subagents::{nearest, plugin, stock};

/// One line of the list: a subagent, or a file that is none.
struct Listed {
    id: String,
    source: String,
    subagent: Result<Subagent, String>,
}

pub(crate) fn run(arguments: &AgentsArguments) -> anyhow::Result<Ending> {
    let listed = list(arguments)?;
    match &arguments.command {
        None => {
            if arguments.json {
                render::json(&Value::Array(listed.iter().map(object).collect()));
            } else {
                render::out(&listed.iter().map(row).collect::<String>());
            }
            let refused = listed.iter().find_map(|one| one.subagent.as_ref().err());
            match refused {
                Some(error) => Err(ends(Ending::Failed, error)),
                None => Ok(Ending::Answered),
            }
        }
        Some(AgentsCommand::Show { id }) => show(arguments, &listed, id),
    }
}

fn list(arguments: &AgentsArguments) -> anyhow::Result<Vec<Listed>> {
    let stock = stock()?.into_iter().map(|subagent| Listed {
        id: subagent.name().to_string(),
        source: "built in".to_owned(),
        subagent: Ok(subagent),
    });
    let plugins = arguments.subagent.iter().map(|path| Listed {
        id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        source: path.display().to_string(),
        subagent: plugin(path).map_err(|error| error.to_string()),
    });
    Ok(stock.chain(plugins).collect())
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
            "max_turns": subagent.turn_limit(),
            "sha256": subagent.component().sha256(),
            "error": null,
        }),
        Err(error) => json!({
            "id": one.id, "source": one.source, "status": "refused", "description": null, "tool_name": null,
            "tools": [], "max_turns": null, "sha256": null, "error": error,
        }),
    }
}

fn row(one: &Listed) -> String {
    match &one.subagent {
        Ok(subagent) => {
            let tools: Vec<&str> = subagent.declared_tools().iter().map(|tool| tool.as_str()).collect();
            let description = subagent.described().lines().next().unwrap_or_default();
            format!(
                "{} ({}, called as {})\n  {}\n  tools: {}\n",
                render::line(&one.id),
                render::line(&one.source),
                render::line(subagent.tool().as_str()),
                render::line(description),
                if tools.is_empty() { "none".to_owned() } else { tools.join(", ") }
            )
        }
        Err(_) => format!("{} ({}): refused\n", render::line(&one.id), render::line(&one.source)),
    }
}

fn show(arguments: &AgentsArguments, listed: &[Listed], id: &str) -> anyhow::Result<Ending> {
    let Some(one) = listed.iter().find(|one| one.id == id) else {
        let ids = || listed.iter().map(|one| one.id.as_str());
        let hint = nearest(id, ids()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let ids: Vec<&str> = ids().collect();
        return Err(anyhow!("there is no subagent `{id}`{hint} The subagents are: {}", ids.join(", ")));
    };
    let subagent = one.subagent.as_ref().map_err(|error| ends(Ending::Failed, error))?;
    if arguments.json {
        let mut shown = object(one);
        shown["imports"] = surface_json(subagent.component().surface());
        render::json(&shown);
        return Ok(Ending::Answered);
    }
    let mut text = row(one);
    text.push_str(&format!("  turns: {}\n\n", subagent.turn_limit()));
    text.push_str(&render::block(subagent.described()));
    text.push('\n');
    render::out(&text);
    Ok(Ending::Answered)
}

//! `deputy check`: would a component run with a grant, and what is missing.

use std::sync::Arc;

use anyhow::anyhow;
use async_trait::async_trait;
use deputy::governance::{Rights, Verdict};
use deputy::host::{CheckError, Host};
use deputy::model::{Model, ModelError, Turn, TurnRequest};
use deputy::sandbox::{Component, ComponentError};
use deputy::subagent::Subagent;
use deputy_contract::ALL_TOOLS;
use serde_json::{Value, json};

use crate::arguments::CheckArguments;
use crate::ending::{Ending, ends};
use crate::environment::confinement;
use crate::run::{policy, sandbox};
use crate::subagents::{named, nearest};
use crate::{approve, render};

pub(crate) fn run(arguments: &CheckArguments) -> anyhow::Result<Ending> {
    let named = named(&arguments.component)?;
    let component =
        Component::from_bytes(&named.name, named.bytes).map_err(|error| ends(Ending::Failed, error))?;
    let mut subagent = Subagent::new(named.name.as_str(), component).tools_as_imported();
    if let Some(grant) = &arguments.grant {
        check_names(grant)?;
        subagent = subagent.tools(grant.iter().filter(|tool| !tool.is_empty()).map(String::as_str));
    }
    let confinement = confinement(arguments.shell)?;
    let confined = match &confinement {
        Ok(confinement) => confinement.describe(),
        Err(reason) => format!("not offered: {reason}"),
    };
    let mut builder = Host::builder()
        .model(Arc::new(NoModel))
        .policy(policy(&arguments.rules, false))
        .approver(approve::somebody())
        .sandbox(sandbox())
        .web(crate::run::web()?);
    builder = match confinement {
        Ok(confinement) => builder.confinement(confinement),
        Err(reason) => builder.no_confinement(reason),
    };
    let host = builder.build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let checked = runtime.block_on(host.prepare(&subagent));
    tell(arguments, &host, &subagent, &checked, &confined)
}

fn check_names(grant: &[String]) -> anyhow::Result<()> {
    let known = || ALL_TOOLS.iter().map(|tool| tool.name);
    match grant.iter().find(|name| !name.is_empty() && !known().any(|tool| tool == name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let hint =
                nearest(name, known()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let known: Vec<&str> = known().collect();
            Err(anyhow!("there is no tool `{name}`{hint} The tools are: {}", known.join(", ")))
        }
    }
}

fn tell(
    arguments: &CheckArguments,
    host: &Host,
    subagent: &Subagent,
    checked: &Result<Arc<Rights>, CheckError>,
    confined: &str,
) -> anyhow::Result<Ending> {
    let asks = |rights: &Rights| -> Vec<String> {
        let tools = rights.tools().keys();
        tools.filter(|tool| host.verdict(rights, tool) == Verdict::Ask).map(ToString::to_string).collect()
    };
    let (ending, error) = match checked {
        Ok(_) => (Ending::Answered, None),
        Err(CheckError::Component(error @ ComponentError::Compile { .. })) => {
            (Ending::Failed, Some(error.to_string()))
        }
        Err(error) => (Ending::Denied, Some(error.to_string())),
    };
    let granted: Vec<String> = match checked {
        Ok(rights) => rights.tools().keys().map(ToString::to_string).collect(),
        Err(_) => Vec::new(),
    };
    let asks = checked.as_ref().map(|rights| asks(rights)).unwrap_or_default();
    if arguments.json {
        render::json(&json!({
            "file": arguments.component,
            "sha256": subagent.component().sha256(),
            "would_run": ending == Ending::Answered,
            "granted": granted,
            "asks": asks,
            "missing": missing(checked),
            "commands": confined,
            "error": error,
        }));
        return Ok(ending);
    }
    if let Some(error) = error {
        return Err(ends(ending, error));
    }
    let or_nothing =
        |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    render::out(&format!(
        "{}: would run\n  granted      {}\n  asks first   {}\n  commands     {}\n",
        render::line(&arguments.component),
        or_nothing(granted),
        or_nothing(asks),
        render::line(confined)
    ));
    Ok(ending)
}

fn missing(checked: &Result<Arc<Rights>, CheckError>) -> Vec<Value> {
    let Err(CheckError::Component(ComponentError::NotGranted { missing, .. })) = checked else {
        return Vec::new();
    };
    let one = |import: &deputy::sandbox::MissingImport| json!({"import": import.import, "tool": import.tool.as_ref().map(ToString::to_string), "reason": import.reason});
    missing.iter().map(one).collect()
}

/// A check takes no turn.
#[derive(Debug)]
struct NoModel;

#[async_trait]
impl Model for NoModel {
    fn name(&self) -> String {
        "none".to_owned()
    }

    async fn turn(&self, _request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        Err(ModelError::Cancelled)
    }
}

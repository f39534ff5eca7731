//! `deputy check`: would a component run with a grant, and what is missing. Nothing of it runs.

mod finding;

use std::sync::Arc;

use anyhow::anyhow;
use async_trait::async_trait;
use deputy::host::Host;
use deputy::model::{Model, ModelError, Turn, TurnRequest};
use deputy::sandbox::Component;
use deputy::subagent::Subagent;
use deputy_contract::ALL_TOOLS;

use crate::approve::Somebody;
use crate::arguments::CheckArguments;
use crate::ending::{Ending, ends};
use crate::subagents::{named, unknown};
use crate::{render, settings};
use finding::Finding;

pub(crate) fn run(arguments: &CheckArguments) -> anyhow::Result<Ending> {
    let named = named(&arguments.component)?;
    let component =
        Component::from_bytes(&named.name, named.bytes).map_err(|error| ends(Ending::Failed, &error))?;
    let mut subagent = Subagent::new(named.name.as_str(), component).tools_as_imported();
    if let Some(grant) = &arguments.grant {
        check_names(grant)?;
        subagent = subagent.tools(grant.iter().filter(|tool| !tool.is_empty()).map(String::as_str));
    }
    let (host, commands) = host(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let checked = runtime.block_on(host.prepare(&subagent));
    let finding = Finding::new(&host, &subagent, checked.err(), commands, arguments.grant.is_some());
    if arguments.json {
        render::json(&finding.object());
        return Ok(finding.ending());
    }
    render::out(&finding.words());
    match finding.error() {
        Some(error) => Err(ends(finding.ending(), &error)),
        None => Ok(finding.ending()),
    }
}

/// A host like that of a run, and how it confines commands.
fn host(arguments: &CheckArguments) -> anyhow::Result<(Host, String)> {
    let builder = Host::builder()
        .model(Arc::new(NoModel))
        .policy(settings::policy(&arguments.rules, false))
        .approver(Arc::new(Somebody))
        .sandbox(settings::sandbox(arguments.json))
        .web(settings::web()?);
    let (builder, commands) = match settings::confinement(arguments.shell)? {
        Ok(confinement) => {
            let commands = confinement.describe();
            (builder.confinement(confinement), commands)
        }
        Err(reason) => {
            let commands = format!("not offered: {reason}");
            (builder.no_confinement(reason), commands)
        }
    };
    Ok((builder.build()?, commands))
}

/// A grant of a tool that there is not would be a grant of nothing.
fn check_names(grant: &[String]) -> anyhow::Result<()> {
    let known: Vec<&str> = ALL_TOOLS.iter().map(|tool| tool.name).collect();
    match grant.iter().find(|name| !name.is_empty() && !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(anyhow!(unknown("tool", name, &known))),
    }
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

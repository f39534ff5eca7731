//! `deputy check`: would a component run with a grant, and what is missing. Nothing of it runs.

mod finding;

use std::sync::Arc;

use anyhow::anyhow;
use async_trait::async_trait;
use deputy::host::{Host, HostBuilder};
use deputy::model::{Model, ModelError, Turn, TurnRequest};
use deputy::sandbox::Component;
use deputy::subagent::Subagent;
use deputy_contract::ALL_TOOLS;

use crate::approve::Somebody;
use crate::arguments::CheckArguments;
use crate::ending::{Ending, ends};
use crate::setup::Setup;
use crate::subagents::{is_file, named, unknown};
use crate::{render, settings};
use finding::Finding;

pub(crate) fn run(arguments: &CheckArguments) -> anyhow::Result<Ending> {
    let named = if is_file(&arguments.component) { Some(component(&arguments.component)?) } else { None };
    let setup = Setup::supposed(&arguments.supposed)?;
    let (builder, commands) = unrun(&setup)?;
    let host = setup.apply(builder).build()?;
    let subagent = match named {
        Some(subagent) => subagent,
        None => known(&setup, &arguments.component)?,
    };
    let subagent = match &arguments.grant {
        None => subagent,
        Some(grant) => {
            check_names(grant)?;
            let granted = grant.iter().filter(|tool| !tool.is_empty()).map(String::as_str);
            Subagent::new(subagent.name().clone(), subagent.component().clone()).tools(granted)
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let checked = runtime.block_on(host.prepare(&subagent));
    let finding = Finding::new(&host, &subagent, checked, commands, arguments.grant.is_some());
    if arguments.supposed.json {
        render::json(&finding.object());
        return Ok(finding.ending());
    }
    render::out(&finding.words());
    match finding.error() {
        Some(error) => Err(ends(finding.ending(), &error)),
        None => Ok(finding.ending()),
    }
}

/// A component file or a stock component, asking for what it imports.
fn component(given: &str) -> anyhow::Result<Subagent> {
    let named = named(given)?;
    let component =
        Component::from_bytes(&named.name, named.bytes).map_err(|error| ends(Ending::Failed, &error))?;
    Ok(Subagent::new(named.name.as_str(), component).tools_as_imported())
}

/// A subagent that a run would have, by its name.
fn known(setup: &Setup, name: &str) -> anyhow::Result<Subagent> {
    if let Some(subagent) = setup.subagents.iter().find(|one| one.name().as_str() == name) {
        return Ok(subagent.clone());
    }
    if let Some((_, error)) = setup.refused.iter().find(|(id, _)| id == name) {
        return Err(ends(Ending::Failed, error));
    }
    // The stock holds more than a run delegates to: what runs prompts, and what a configuration left out.
    component(name).map_err(|error| {
        let names: Vec<&str> = setup.subagents.iter().map(|one| one.name().as_str()).collect();
        let is_stock = deputy_stock::stock(name).is_some();
        if is_stock {
            error
        } else {
            anyhow!("{}, or a component file, whose name ends in .wasm", unknown("subagent", name, &names))
        }
    })
}

/// A builder of a host like that of a run, but without a model; and how it confines commands.
pub(crate) fn unrun(setup: &Setup) -> anyhow::Result<(HostBuilder, String)> {
    let builder = Host::builder()
        .model(Arc::new(NoModel))
        .approver(Arc::new(Somebody))
        .sandbox(settings::sandbox(true))
        .web(settings::web()?);
    Ok(match settings::confinement(setup.shell)? {
        Ok(confinement) => {
            let commands = confinement.describe();
            (builder.confinement(confinement), commands)
        }
        Err(reason) => {
            let commands = format!("not offered: {reason}");
            (builder.no_confinement(reason), commands)
        }
    })
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

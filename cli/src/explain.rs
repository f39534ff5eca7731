//! `deputy explain`: may an agent call a tool, by which rule, and what would change that. Nothing runs.

use anyhow::anyhow;
use deputy::governance::{Denial, Rule, Verdict};
use deputy::host::Host;
use deputy::ids::ToolName;
use deputy_contract::ALL_TOOLS;
use serde_json::json;

use crate::arguments::ExplainArguments;
use crate::check::unrun;
use crate::ending::{Ending, ends};
use crate::render;
use crate::setup::Setup;
use crate::subagents::unknown;

pub(crate) fn run(arguments: &ExplainArguments) -> anyhow::Result<Ending> {
    let setup = Setup::supposed(&arguments.supposed)?;
    let (builder, _) = unrun(&setup)?;
    let host = setup.apply_with_subagents(builder).build()?;
    let tool = known_tool(&host, &arguments.tool)?;
    let verdict = verdict(&host, &arguments.agent, &tool)?;
    let word = match &verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asks",
        Verdict::Deny(_) => "denied",
    };
    if arguments.supposed.json {
        let (reason, remedy) = match &verdict {
            Verdict::Deny(denial) => (Some(denial.to_string()), Some(denial.remedy())),
            _ => (None, None),
        };
        render::json(&json!({
            "agent": arguments.agent, "tool": arguments.tool, "verdict": word, "reason": reason, "remedy": remedy,
        }));
    } else {
        let (agent, tool) = (render::line(&arguments.agent), render::line(&arguments.tool));
        match &verdict {
            Verdict::Allow => render::out(&format!("`{agent}` may call `{tool}` without a question\n")),
            Verdict::Ask => render::out(&format!(
                "`{agent}` may call `{tool}` after a person said yes to that very call; `--allow {tool}` (`tools.allow`) ends the question\n"
            )),
            Verdict::Deny(_) => {}
        }
    }
    match verdict {
        Verdict::Deny(denial) if !arguments.supposed.json => Err(ends(Ending::Denied, &denial)),
        Verdict::Deny(_) => Ok(Ending::Denied),
        _ => Ok(Ending::Answered),
    }
}

/// A tool that there is, or that this host could offer.
fn known_tool(host: &Host, name: &str) -> anyhow::Result<ToolName> {
    let subagents: Vec<String> = host.subagents().map(|one| one.tool().to_string()).collect();
    let own = host.rights().tools().keys().chain(host.rights().cut().iter().map(|denial| &denial.tool));
    let built_in = ALL_TOOLS.iter().map(|tool| tool.name);
    let mut known: Vec<&str> =
        built_in.chain(own.map(ToolName::as_str)).chain(subagents.iter().map(String::as_str)).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&name) { Ok(name.into()) } else { Err(anyhow!(unknown("tool", name, &known))) }
}

/// What a review would say of the call, in the parent's run or in that of a subagent of the parent's.
fn verdict(host: &Host, agent: &str, tool: &ToolName) -> anyhow::Result<Verdict> {
    let parent = host.rights().agent().as_str();
    if agent == parent {
        return Ok(host.verdict(host.rights(), tool));
    }
    let subagents: Vec<_> = host.subagents().collect();
    let Some(subagent) = subagents.iter().find(|one| one.name().as_str() == agent) else {
        let names: Vec<&str> = subagents.iter().map(|one| one.name().as_str()).chain([parent]).collect();
        return Err(anyhow!(unknown("agent", agent, &names)));
    };
    // Whoever may not be asked at all may call nothing.
    if let refused @ Verdict::Deny(_) = host.verdict(host.rights(), subagent.tool()) {
        return Ok(refused);
    }
    Ok(match host.governance().subagent_rights(subagent.declaration(), host.rights(), None) {
        Ok(rights) => host.verdict(&rights, tool),
        Err(error) => of_cut(error.cut, agent, tool),
    })
}

/// The rule that cut the tool from a run that would have none left.
fn of_cut(cut: Vec<Denial>, agent: &str, tool: &ToolName) -> Verdict {
    let own = cut.into_iter().find(|denial| &denial.tool == tool);
    let declared = || Rule::NotDeclared { declared: Vec::new() };
    let undeclared = || Denial { agent: agent.into(), tool: tool.clone(), rule: declared() };
    Verdict::Deny(own.unwrap_or_else(undeclared))
}

//! `deputy trust`: whose `deputy.toml` and agent files count whole. Must not trust what it has not shown to be readable.

use std::path::Path;

use anyhow::bail;

use crate::arguments::TrustArguments;
use crate::config::{Config, File, NAME, Source, Stock};
use crate::declarations::{self, Candidate, Found, Trust};
use crate::ending::Ending;
use crate::render;
use crate::setup::{places, root, trust_list};
use crate::subagents::{prompt_runner, stock};
use crate::trust::Entry;

pub(crate) fn run(arguments: &TrustArguments) -> anyhow::Result<Ending> {
    let list = trust_list()?;
    let Some(directory) = &arguments.directory else {
        for entry in list.list()? {
            render::out(&format!(
                "{}  {}\n",
                entry.hash,
                render::line(&entry.directory.display().to_string())
            ));
        }
        return Ok(Ending::Answered);
    };
    let shown = render::line(&directory.display().to_string());
    if arguments.revoke {
        let was = if list.revoke(directory)? { "is no longer trusted" } else { "was not trusted" };
        render::out(&format!("{shown} {was}\n"));
        return Ok(Ending::Answered);
    }
    let root = root(directory);
    let file = File::of_workspace(directory)?;
    let source = Source::Workspace { file: file.clone(), trusted: true };
    let found = agent_files(arguments, directory, &root, source.clone())?;
    let loaded: Vec<&Candidate> = found.candidates.iter().filter(|one| one.file.is_ok()).collect();
    if file.is_none() && loaded.is_empty() {
        bail!("{shown} has no {NAME} and no agent files: there is nothing to trust");
    }
    // What cannot be read whole is told now, not in the first run.
    let stock = stock(&prompt_runner()?)?;
    let names = stock.iter().map(|one| one.name().as_str()).chain(found.candidates.iter().map(Candidate::id));
    let names: Vec<Stock<'_>> = names.map(|name| Stock { name, tools: &[] }).collect();
    Config::load(source, &[], &names)?;

    let of_file = file.as_ref().map(Entry::of).transpose()?;
    let of_agents = loaded.iter().map(|one| Entry::new(one.hash.clone(), &root));
    let entries = of_file.clone().into_iter().map(Ok).chain(of_agents).collect::<Result<Vec<_>, _>>()?;
    list.trust(&root, &entries)?;
    if let (Some(file), Some(entry)) = (&file, &of_file) {
        render::out(&format!(
            "{} counts whole as it is now (sha256 {}); a change ends that\n",
            render::line(&file.path().display().to_string()),
            entry.hash
        ));
    }
    render::out(&loaded.iter().map(|one| told(one)).collect::<String>());
    for refused in found.candidates.iter().filter_map(|one| one.file.as_ref().err()) {
        render::warning(&format!("an agent file is refused and not trusted: {refused}"));
    }
    Ok(Ending::Answered)
}

/// The agent files of a workspace, read as if all that they ask for counted.
fn agent_files(
    arguments: &TrustArguments,
    directory: &Path,
    root: &Path,
    source: Source,
) -> anyhow::Result<Found> {
    let table = Config::declarations(source, &[])?;
    let mut all = places(&arguments.agents, &table, directory, root)?;
    let [_, others] = declarations::of_workspace(directory, root);
    if !all.iter().any(|place| place.directory.canonicalize().ok() == others.directory.canonicalize().ok()) {
        all.push(others);
    }
    // What lies elsewhere is not for this workspace to trust.
    all.retain(|place| place.in_workspace && place.directory.is_dir());
    // Each by itself: which of two of one name counts is decided anew in each run.
    let mut found = Found::default();
    for place in &all {
        let one = std::slice::from_ref(place);
        let of_it = declarations::find(one, table.strict.unwrap_or(false), root, &Trust::All);
        found.candidates.extend(of_it.candidates);
    }
    Ok(found)
}

/// What a trusted file may from now on.
fn told(candidate: &Candidate) -> String {
    let Ok(agent) = &candidate.file else { return String::new() };
    let asks = candidate.standing.asks.iter().map(String::as_str);
    let asks = match candidate.standing.asks.is_empty() {
        true => "nothing that needs trust".to_owned(),
        false => render::or_nothing(asks),
    };
    format!("{}: {asks}; a change ends that\n", render::line(&agent.path.display().to_string()))
}

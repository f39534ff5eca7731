//! `deputy trust`: whose `deputy.toml` counts whole. Must not trust what it has not shown to be readable.

use anyhow::anyhow;

use crate::arguments::TrustArguments;
use crate::config::{Config, File, NAME, Source, Stock};
use crate::ending::Ending;
use crate::render;
use crate::setup::trust_list;

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
    let file = File::of_workspace(directory)?
        .ok_or_else(|| anyhow!("{shown} has no {NAME}: there is nothing to trust"))?;
    // What cannot be read whole is told now, not in the first run.
    let stock: Vec<Stock<'_>> =
        deputy_stock::STOCK.iter().map(|one| Stock { name: one.name, tools: one.tools }).collect();
    Config::load(Source::Workspace { file: Some(file.clone()), trusted: true }, &[], &stock)?;
    let entry = list.trust(&file)?;
    render::out(&format!(
        "{} counts whole as it is now (sha256 {}); a change ends that\n",
        render::line(&file.path().display().to_string()),
        entry.hash
    ));
    Ok(Ending::Answered)
}

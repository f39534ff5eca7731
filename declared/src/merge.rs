//! Puts the agents of several sources into one list. Must not read files or change an agent.

use std::collections::HashMap;

use super::{AgentFile, Found, Refused};

/// One list of the `layers`, the strongest first: project, user, built in. Of agents with one name, whatever its
/// case, the first counts and a note names both files. Refused files are all kept; where one of them would have
/// stood before a loaded agent of its name, a note says so.
#[must_use]
pub fn merge(layers: impl IntoIterator<Item = Found>) -> Found {
    let mut merged = Found::default();
    let mut first: HashMap<String, Taken> = HashMap::new();
    for layer in layers {
        merged.notes.extend(layer.notes);
        for file in layer.files {
            let id = match &file {
                Ok(AgentFile { id, .. }) | Err(Refused { id, .. }) => id.to_lowercase(),
            };
            match (&file, first.get(&id)) {
                (Ok(agent), Some(Taken::Loaded(path))) => {
                    merged.notes.push(format!(
                        "two agents are called `{}`: {path} counts, {} is left out; rename one of them",
                        agent.id,
                        agent.path.display()
                    ));
                    continue;
                }
                (Ok(agent), before) => {
                    if let Some(Taken::Refused(path)) = before {
                        merged.notes.push(format!(
                            "`{}` is taken from {}, since {path} was refused",
                            agent.id,
                            agent.path.display()
                        ));
                    }
                    first.insert(id, Taken::Loaded(agent.path.display().to_string()));
                }
                (Err(refused), None) => {
                    first.insert(id, Taken::Refused(refused.path.display().to_string()));
                }
                (Err(_), Some(_)) => {}
            }
            merged.files.push(file);
        }
    }
    merged
}

/// Who came first with a name.
enum Taken {
    Loaded(String),
    Refused(String),
}

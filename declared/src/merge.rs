//! Puts the agents of several sources into one list. Must not read files or change an agent.

use std::collections::HashMap;
use std::path::PathBuf;

use super::{AgentFile, Found, Note, Refused};

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
                    let message = format!(
                        "two agents are called `{}`: {} counts, {} is left out; rename one of them",
                        agent.id,
                        path.display(),
                        agent.path.display()
                    );
                    merged.notes.push(Note { files: vec![path.clone(), agent.path.clone()], message });
                    continue;
                }
                (Ok(agent), before) => {
                    if let Some(Taken::Refused(path)) = before {
                        let message = format!(
                            "`{}` is taken from {}, since {} was refused",
                            agent.id,
                            agent.path.display(),
                            path.display()
                        );
                        merged.notes.push(Note { files: vec![agent.path.clone(), path.clone()], message });
                    }
                    first.insert(id, Taken::Loaded(agent.path.clone()));
                }
                (Err(refused), None) => {
                    first.insert(id, Taken::Refused(refused.path.clone()));
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
    Loaded(PathBuf),
    Refused(PathBuf),
}

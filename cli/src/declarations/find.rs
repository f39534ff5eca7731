//! Reads the agent files of all places and joins them into one list. Must not make subagents of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deputy::sandbox::{Component, ComponentError, sha256};
use deputy_declared::{AgentFile, DeclaredTools, Note, Refused, Rules, discover_with, merge};

use super::standing::{Standing, Trust};
use super::{Origin, Place};
use crate::trust::hash_of_declaration;

/// What was found, before anything is made of it.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) notes: Vec<Note>,
}

impl Found {
    /// The names of all agents, refused ones among them, with the tools that they name.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.candidates.iter().map(|candidate| match &candidate.file {
            Ok(AgentFile { id, tools: DeclaredTools::Named(tools), .. }) => {
                (id.as_str(), tools.iter().map(String::as_str).collect())
            }
            _ => (candidate.id(), Vec::new()),
        })
    }
}

/// A file, and what is known of it beside its values.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) file: Result<AgentFile, Refused>,
    pub(crate) origin: Origin,
    pub(crate) standing: Standing,
    /// What trust in it is bound to.
    pub(crate) hash: String,
    /// What it runs, where that counts.
    pub(crate) component: Option<Arc<Component>>,
}

impl Candidate {
    /// What the agent is called, or would be.
    pub(crate) fn id(&self) -> &str {
        match &self.file {
            Ok(agent) => &agent.id,
            Err(refused) => &refused.id,
        }
    }
}

/// What is known of a file beside its values.
#[derive(Debug)]
struct Known {
    standing: Standing,
    hash: String,
    component: Option<Arc<Component>>,
}

/// Components that were read, each once however many files name it.
type Components = HashMap<PathBuf, Result<Arc<Component>, ComponentError>>;

/// Reads the files of `places`, the strongest first. `root` is the workspace's canonical path.
pub(crate) fn find(places: &[Place], strict: bool, root: &Path, trust: &Trust) -> Found {
    let (mut layers, mut notes, mut origins) = (Vec::new(), Vec::new(), HashMap::new());
    let (mut known, mut components) = (HashMap::new(), Components::new());
    for place in places {
        if let Some(note) = leads_out(place, root).or_else(|| missing(place)) {
            notes.push(note);
            continue;
        }
        let mut texts = HashMap::new();
        let mut rules = Rules::new(place.format);
        rules.strict = strict;
        let mut layer = discover_with(&place.directory, &rules, |path, bytes| {
            texts.insert(path.to_owned(), sha256(bytes));
        });
        for file in &mut layer.files {
            let Ok(agent) = file else { continue };
            let text = texts.get(&agent.path).map_or("", String::as_str);
            match judged(agent, place, root, text, trust, &mut components) {
                Ok(judged) => {
                    known.insert(agent.path.clone(), judged);
                }
                Err(reason) => {
                    let (path, id) = (agent.path.clone(), agent.id.clone());
                    *file = Err(Refused { path, id, line: None, reason });
                }
            }
        }
        let paths = layer.files.iter().map(|file| path_of(file).to_owned());
        origins.extend(paths.map(|path| (path, place.origin)));
        layers.push(layer);
    }
    let merged = merge(layers);
    notes.extend(merged.notes);
    let candidates = merged.files.into_iter().map(|file| {
        let origin = origins.get(path_of(&file)).copied().unwrap_or(Origin::Project);
        let known = known.remove(path_of(&file));
        let Known { standing, hash, component } = known.unwrap_or_else(|| Known {
            standing: Standing::default(),
            hash: String::new(),
            component: None,
        });
        Candidate { file, origin, standing, hash, component }
    });
    Found { candidates: candidates.collect(), notes }
}

fn path_of(file: &Result<AgentFile, Refused>) -> &Path {
    match file {
        Ok(agent) => &agent.path,
        Err(refused) => &refused.path,
    }
}

/// That a workspace's own directory is a link to another place: its files are not the workspace's.
fn leads_out(place: &Place, root: &Path) -> Option<Note> {
    let outside = place.directory.canonicalize().is_ok_and(|path| !path.starts_with(root));
    (place.origin == Origin::Project && outside).then(|| Note {
        files: vec![place.directory.clone()],
        message: format!(
            "{} is a link that leads out of the workspace and is not read: put the files there, or name their directory with --agents",
            place.directory.display()
        ),
    })
}

/// That a directory that the operator set is not there.
fn missing(place: &Place) -> Option<Note> {
    (place.origin == Origin::Setting && !place.directory.is_dir()).then(|| Note {
        files: vec![place.directory.clone()],
        message: format!(
            "`declarations.agents` names {}, which is no directory: make it, or take it out",
            place.directory.display()
        ),
    })
}

/// How far a file counts; or why it cannot count at all.
fn judged(
    agent: &AgentFile,
    place: &Place,
    root: &Path,
    text: &str,
    trust: &Trust,
    components: &mut Components,
) -> Result<Known, String> {
    let mut standing = Standing::new(agent, place, root);
    let mut component = None;
    if let Some(path) = &agent.component {
        let refused = |standing: &Standing| standing.untrusted(&format!("its component {}", path.display()));
        // Nothing that an untrusted file points at is opened before anything in its workspace is trusted.
        if place.in_workspace && !trust.is_any() {
            return Err(refused(&standing));
        }
        let read = components.entry(path.clone()).or_insert_with(|| Component::from_file(path).map(Arc::new));
        let read = read.as_ref().map_err(ToString::to_string)?;
        component = Some(read.clone());
    }
    let code = agent.component.as_deref().zip(component.as_ref().map(|read| read.sha256()));
    let hash = hash_of_declaration(&full(place, &agent.path), text, code);
    standing.trusted = !place.in_workspace || trust.holds(&hash);
    match &agent.component {
        Some(path) if !standing.trusted => {
            Err(standing.untrusted(&format!("its component {}", path.display())))
        }
        _ => Ok(Known { standing, hash, component }),
    }
}

/// The one full path of a file of a place.
fn full(place: &Place, file: &Path) -> PathBuf {
    let directory = place.directory.canonicalize().unwrap_or_else(|_| place.directory.clone());
    directory.join(file.file_name().unwrap_or_default())
}

//! Builds the linker of one run from its rights, function by function, and remembers what was compiled and
//! linked. What is not granted is not added: it is not there, rather than refused. Must not run anything.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::{HasSelf, InstancePre, Linker};

use super::component::{Component, ComponentError};
use super::engine::GuestEngine;
use super::wasi;
use crate::bindings::GeneralPre;
use crate::bindings::deputy::agent as wit;
use crate::capability::GuestState;
use crate::governance::Rights;

/// Most linked forms of one component that are remembered.
const REMEMBERED: usize = 16;

/// Tools that were linked: what the component imports and the run was granted.
type Linked = BTreeSet<String>;

/// A compiled component with its linked forms, by the tools that were linked.
pub(super) struct Compiled {
    component: wasmtime::component::Component,
    linked: Mutex<Vec<(Linked, GeneralPre<GuestState>)>>,
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiled").finish_non_exhaustive()
    }
}

/// The component, compiled and linked with what `rights` grant of its imports.
pub(super) async fn instance_pre(
    engine: &GuestEngine,
    component: &Arc<Component>,
    rights: &Rights,
) -> Result<GeneralPre<GuestState>, ComponentError> {
    let compiled = compiled(engine, component).await?;
    let wanted: Linked =
        component.imported_tools().iter().filter(|tool| rights.holds(tool)).cloned().collect();
    let mut linked = compiled.linked.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pre)) = linked.iter().find(|(tools, _)| *tools == wanted) {
        return Ok(pre.clone());
    }
    let pre = link(engine, &compiled.component, component, &wanted)
        .map_err(|error| not_compiled(component, format!("{error:#}")))?;
    if linked.len() >= REMEMBERED {
        linked.remove(0);
    }
    linked.push((wanted, pre.clone()));
    Ok(pre)
}

/// The compiled form, made once. Whoever stops waiting for it leaves it to the next run.
async fn compiled<'a>(
    engine: &GuestEngine,
    component: &'a Arc<Component>,
) -> Result<&'a Compiled, ComponentError> {
    if component.compiled.get().is_none() {
        let (engine, component) = (engine.engine().clone(), component.clone());
        let made = async move {
            component.compiled.get_or_init(|| compile(&engine, &component)).await;
        };
        // A panic in it leaves the cell empty, and is told below.
        let _ = tokio::spawn(made).await;
    }
    match component.compiled.get() {
        Some(compiled) => compiled.as_ref().map_err(Clone::clone),
        None => Err(gave_up(component)),
    }
}

/// Compiles on a thread that may block. A panic of the compiler is the file's fault.
async fn compile(engine: &wasmtime::Engine, component: &Component) -> Result<Compiled, ComponentError> {
    let (engine, bytes) = (engine.clone(), component.shared_bytes());
    let task = tokio::task::spawn_blocking(move || wasmtime::component::Component::new(&engine, &*bytes));
    match task.await {
        Ok(Ok(component)) => Ok(Compiled { component, linked: Mutex::default() }),
        Ok(Err(error)) => Err(not_compiled(component, format!("{error:#}"))),
        Err(_) => Err(gave_up(component)),
    }
}

fn gave_up(component: &Component) -> ComponentError {
    not_compiled(component, "the compiler gave up on it".to_owned())
}

fn not_compiled(component: &Component, reason: String) -> ComponentError {
    ComponentError::Compile { name: component.name().to_owned(), reason }
}

fn link(
    engine: &GuestEngine,
    compiled: &wasmtime::component::Component,
    component: &Component,
    tools: &Linked,
) -> wasmtime::Result<GeneralPre<GuestState>> {
    let mut linker: Linker<GuestState> = Linker::new(engine.engine());
    wasi::link(&mut linker)?;
    link_base(&mut linker, component)?;
    for tool in tools {
        link_tool(&mut linker, tool)?;
    }
    let pre: InstancePre<GuestState> = linker.instantiate_pre(compiled)?;
    GeneralPre::new(pre)
}

/// Adds what every subagent may have, as far as the component asks for it: its task, a model under the run's
/// limits, tools that are handed to it, and progress.
fn link_base(linker: &mut Linker<GuestState>, component: &Component) -> wasmtime::Result<()> {
    wit::types::add_to_linker::<_, HasSelf<_>>(linker, |state| state)?;
    // Every handler takes tool handles, so the type is there; its functions come with the interface.
    wit::toolbox::add_to_linker::<_, HasSelf<_>>(linker, |state| state)?;
    let surface = component.surface();
    if surface.model {
        wit::model::add_to_linker::<_, HasSelf<_>>(linker, |state| state)?;
    }
    if surface.progress {
        wit::progress::add_to_linker::<_, HasSelf<_>>(linker, |state| state)?;
    }
    Ok(())
}

/// Adds the one function of one granted tool.
fn link_tool(linker: &mut Linker<GuestState>, tool: &str) -> wasmtime::Result<()> {
    match tool {
        "read_file" => wit::read_file::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "list_files" => wit::list_files::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "find_files" => wit::find_files::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "grep_files" => wit::grep_files::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "write_file" => wit::write_file::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "edit_file" => wit::edit_file::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "run_command" => wit::run_command::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "run_program" => wit::run_program::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        "fetch_url" => wit::fetch_url::add_to_linker::<_, HasSelf<_>>(linker, |state| state),
        // A tool without a WIT function reaches a guest as a handle only.
        _ => Ok(()),
    }
}

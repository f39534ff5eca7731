//! Hosts for tests: prompt-run subagents, a shared cache of compiled code, and a record of what happened.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use deputy::event::{Event, HandoffEnd};
use deputy::host::{Host, HostBuilder};
use deputy::model::Model;
use deputy::sandbox::{Component, SandboxOptions};
use deputy::subagent::Subagent;

/// A subagent that a prompt makes: the stock component that runs prompts, under this name.
pub(crate) fn react(name: &str) -> Subagent {
    let stock = deputy_stock::STOCK.iter().find(|one| one.name == "react").expect("the stock component");
    let component = Component::from_bytes("react", stock.wasm.into()).unwrap();
    Subagent::new(name, component).description(format!("is {name}")).instructions(format!("You are {name}."))
}

/// A builder whose components are compiled once for all tests.
pub(crate) fn host(model: Arc<dyn Model>) -> HostBuilder {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compiled");
    std::fs::create_dir_all(&cache).unwrap();
    Host::builder().model(model).sandbox(SandboxOptions { cache: Some(cache), ..SandboxOptions::default() })
}

/// What a host told, in order.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    pub(crate) fn listener(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let heard = self.0.clone();
        move |event: &Event| heard.lock().unwrap().push(event.clone())
    }

    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// The records of delegations, in the order of their ends.
    pub(crate) fn handoffs(&self) -> Vec<HandoffEnd> {
        let ends = self.all().into_iter().filter_map(|event| match event {
            Event::HandoffEnd(end) => Some(end),
            _ => None,
        });
        ends.collect()
    }

    /// How many of the events are such.
    pub(crate) fn count(&self, such: impl Fn(&Event) -> bool) -> usize {
        self.all().iter().filter(|event| such(event)).count()
    }
}

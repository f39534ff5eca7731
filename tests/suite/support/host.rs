//! Hosts for tests: prompt-run subagents, a shared cache of compiled code, and a record of what happened.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use deputy::event::{Event, HandoffEnd};
use deputy::governance::HandoffPolicy;
use deputy::host::{Host, HostBuilder};
use deputy::model::{Model, TurnRequest};
use deputy::sandbox::{Component, SandboxOptions};
use deputy::subagent::Subagent;
use serde_json::Value;

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

/// The same builder with refusals and failures told to the model.
pub(crate) fn telling(builder: HostBuilder) -> HostBuilder {
    builder.handoff_policy(HandoffPolicy::telling_the_model())
}

/// The output in a delegation's result, or the result where it has none.
pub(crate) fn output(result: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(result).ok();
    parsed.and_then(|result| Some(result["output"].as_str()?.to_owned())).unwrap_or_else(|| result.to_owned())
}

/// The names of the tools that a model is offered.
pub(crate) fn offered(request: &TurnRequest<'_>) -> Vec<String> {
    request.tools.iter().map(|tool| tool.name.clone()).collect()
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

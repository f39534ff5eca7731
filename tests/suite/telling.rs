//! How what happens reaches those who want to know: a typed stream for embedders, spans for `tracing`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use deputy::event::{Event, event_stream};
use deputy::governance::HandoffPolicy;
use futures_util::StreamExt as _;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use crate::support::{FnModel, calls, host, react, says};

fn delegates_to(name: &'static str) -> Arc<FnModel> {
    FnModel::new(move |request, last| match (request.speaker, request.history.entries().len()) {
        ("parent", 1) => calls(&[(&format!("subagent_{name}"), json!({"task": "t"}))]),
        ("parent", _) => says(last),
        (_, 1) => calls(&[("list_files", json!({"path": "."})), ("list_files", json!({"path": "x"}))]),
        _ => says("done"),
    })
}

#[tokio::test]
async fn events_come_as_a_stream_that_ends_with_the_host() {
    let (listener, stream) = event_stream();
    let host = host(delegates_to("worker"))
        .subagent(react("worker").tools(["list_files"]))
        .events(listener)
        .build()
        .unwrap();
    host.run("t").await;
    drop(host);
    let events: Vec<Event> = stream.collect().await;
    let at = |such: fn(&Event) -> bool| events.iter().position(such).unwrap();
    let start = at(|event| matches!(event, Event::HandoffStart { .. }));
    let run = at(|event| matches!(event, Event::RunStart { depth: 1, .. }));
    let end = at(|event| matches!(event, Event::HandoffEnd(_)));
    assert!(start < run && run < end);
    assert!(matches!(events.last(), Some(Event::RunEnd { .. })));
}

#[tokio::test]
async fn whoever_stops_waiting_for_a_run_still_hears_its_delegations_end() {
    let model = FnModel::new(|request, _| match request.speaker {
        "parent" => calls(&[("subagent_worker", json!({"task": "t"}))]),
        _ => calls(&[("wait", json!({}))]),
    });
    let begun = Arc::new(tokio::sync::Notify::new());
    let notify = begun.clone();
    let wait = deputy::tools::NativeTool::new("wait", "Waits.", &json!({"type": "object"}), move |_| {
        notify.notify_one();
        std::future::pending()
    });
    let (listener, mut stream) = event_stream();
    let host =
        host(model).tool(wait).subagent(react("worker").tools(["wait"])).events(listener).build().unwrap();
    tokio::select! {
        report = host.run("t") => panic!("{report:?}"),
        () = begun.notified() => {}
    }
    let status = async {
        loop {
            if let Some(Event::HandoffEnd(end)) = stream.next().await {
                break end.status;
            }
        }
    };
    assert_eq!(status.await, deputy::event::HandoffStatus::Cancelled);
}

/// Every span, with its fields and the span that it stands in.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<HashMap<u64, Seen>>>);

#[derive(Clone, Default)]
struct Seen {
    name: &'static str,
    above: Option<u64>,
    fields: HashMap<&'static str, String>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let above = context.span(id).and_then(|span| span.parent()).map(|above| above.id().into_u64());
        let mut seen = Seen { name: attributes.metadata().name(), above, ..Seen::default() };
        attributes.record(&mut seen);
        self.0.lock().unwrap().insert(id.into_u64(), seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _context: Context<'_, S>) {
        if let Some(seen) = self.0.lock().unwrap().get_mut(&id.into_u64()) {
            values.record(seen);
        }
    }
}

#[test]
fn a_childs_turns_and_calls_stand_below_its_delegation_in_the_trace() {
    let spans = Spans::default();
    // Ids are given out again when spans end, so one runtime with nothing else in it.
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    let _ = tracing::subscriber::set_global_default(subscriber);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let host = host(delegates_to("traced"))
            .subagent(react("traced").tools(["list_files"]))
            .handoff_policy(HandoffPolicy::telling_the_model())
            .build()
            .unwrap();
        host.run("t").await;
    });
    let all = spans.0.lock().unwrap().clone();
    let below = |id: u64| all.iter().filter(move |(_, span)| span.above == Some(id));
    let is = |span: &Seen, name: &str| span.name == name;
    let traced = |span: &Seen| span.fields.get("subagent").is_some_and(|name| name == "traced");
    let (handoff, span) = all.iter().find(|(_, span)| is(span, "handoff") && traced(span)).expect("a span");
    assert_eq!(span.fields["status"], "completed");
    assert_eq!((span.fields["depth"].as_str(), span.fields["attempts"].as_str()), ("1", "1"));
    assert!(span.fields.contains_key("handoff_id"));
    let above = &all[&span.above.expect("a span above")];
    assert!(is(above, "run") && above.fields["agent"] == "parent");
    let (run, child) = below(*handoff).find(|(_, span)| is(span, "run")).expect("the child's run");
    assert_eq!(child.fields["agent"], "traced");
    assert_eq!(below(*run).filter(|(_, span)| is(span, "model_turn")).count(), 2);
    assert_eq!(below(*run).filter(|(_, span)| is(span, "tool_call")).count(), 2);
}

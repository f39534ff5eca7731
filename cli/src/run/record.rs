//! The one object that `--output json` prints, and the last line of `--output jsonl`. Must not judge a run.

use deputy::agent::AgentReport;
use deputy::governance::PurseReport;
use deputy::usage::Usage;
use serde_json::{Value, json};

use crate::arguments::Output;
use crate::ending::Ending;
use crate::render;

/// The record of a run that took place.
pub(super) fn of_report(report: &AgentReport, ending: Ending) -> Value {
    json!({
        "answer": report.answer,
        "status": ending.status(),
        "turns": report.turns,
        "usage": report.usage,
        "handoffs": report.handoffs,
        "session_id": report.session_id,
        "purse": report.purse,
        "error": report.error,
    })
}

/// The record of a run that did not begin.
pub(super) fn of_error(error: &anyhow::Error) -> Value {
    json!({
        "answer": null,
        "status": Ending::of_error(error).status(),
        "turns": 0,
        "usage": Usage::default(),
        "handoffs": [],
        "session_id": null,
        "purse": PurseReport::default(),
        "error": format!("{error:#}"),
    })
}

/// Prints a record where a machine reads.
pub(super) fn tell(output: Output, record: &Value) {
    match output {
        Output::Text => {}
        Output::Json => render::json_line(record),
        Output::Jsonl => render::json_line(&last_line(record)),
    }
}

/// The record as the last of the events, told apart by its name.
fn last_line(record: &Value) -> Value {
    let mut line = json!({"event": "result"});
    if let (Some(line), Some(record)) = (line.as_object_mut(), record.as_object()) {
        line.extend(record.clone());
    }
    line
}

#[cfg(test)]
mod tests {
    use deputy::event::RunStatus;

    use super::*;
    use crate::ending::ends;

    #[test]
    fn every_record_has_the_same_fields() {
        let report = AgentReport {
            answer: Some("so far".to_owned()),
            status: RunStatus::Cancelled,
            error: Some("cancelled".to_owned()),
            turns: 3,
            usage: Usage { input_tokens: 7, ..Usage::default() },
            handoffs: Vec::new(),
            session_id: "s".into(),
            purse: PurseReport::default(),
        };
        let told = of_report(&report, Ending::Interrupted(15));
        let failed = of_error(&ends(Ending::Denied, "no").context("because"));
        let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            fields(&told),
            ["answer", "status", "turns", "usage", "handoffs", "session_id", "purse", "error"]
        );
        assert_eq!(fields(&told), fields(&failed));
        assert_eq!((&told["status"], &told["turns"]), (&json!("cancelled"), &json!(3)));
        assert_eq!((&failed["status"], &failed["error"]), (&json!("denied"), &json!("because: no")));
        let last = last_line(&told);
        assert_eq!(fields(&last)[0], "event");
        assert_eq!((&last["event"], &last["answer"]), (&json!("result"), &json!("so far")));
    }
}

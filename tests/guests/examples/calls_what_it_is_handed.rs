//! Calls every tool that it is handed side by side, and lists the results.

use deputy_guest::*;

struct Guest;

impl Subagent for Guest {
    fn handle(task: Task, handed: Vec<Tool>) -> Result<Answer, Failure> {
        let _ = (&task, &handed);
        let requests: Vec<Request<'_>> =
            handed.iter().map(|tool| Request { tool, arguments: "{\"place\":\"pier\"}".to_owned() }).collect();
        let results = call_all(&requests);
        let lines: Vec<String> = handed
            .iter()
            .zip(results)
            .map(|(tool, result)| format!("{}: {result:?}", tool.spec().name))
            .collect();
        let text = if lines.is_empty() { "nothing in hand".to_owned() } else { lines.join("\n") };
        Ok(Answer { text, complete: true })
    }
}

deputy_guest::export!(Guest, description = "Calls every tool that it is handed side by side, and lists the results.");

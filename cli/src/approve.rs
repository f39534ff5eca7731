//! Asks the person at the terminal about one call. Must not remember an answer for another one.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::Arc;

use async_trait::async_trait;
use deputy::governance::{ApprovalRequest, Approver, DenyAll};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::render::{self, Live};

/// The person, where there is a terminal to ask at.
pub(crate) fn approver(live: &Live, stop: &CancellationToken) -> Arc<dyn Approver> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        Arc::new(Person { live: live.clone(), stop: stop.clone(), one_at_a_time: Mutex::new(()) })
    } else {
        Arc::new(DenyAll)
    }
}

/// The person at the terminal.
#[derive(Debug)]
struct Person {
    live: Live,
    /// A run that is being stopped waits for no answer.
    stop: CancellationToken,
    one_at_a_time: Mutex<()>,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest) -> bool {
        let _one = self.one_at_a_time.lock().await;
        if self.stop.is_cancelled() {
            return false;
        }
        let _paused = self.live.pause();
        // What was typed before the question is no answer to it.
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        render::note(&question(request));
        let answer = tokio::task::spawn_blocking(|| {
            let mut answer = String::new();
            io::stdin().lock().read_line(&mut answer).map(|_| answer)
        });
        tokio::select! {
            answer = answer => matches!(answer, Ok(Ok(answer)) if is_yes(&answer)),
            () = self.stop.cancelled() => {
                render::note("\n");
                false
            }
        }
    }
}

/// All of what a yes is to: nothing of the arguments is left out.
fn question(request: &ApprovalRequest) -> String {
    // A parent's arguments come as the text that its model sent, so as a JSON string: a person reads the text.
    let sent = serde_json::from_str::<String>(&request.arguments);
    let arguments = sent.as_deref().unwrap_or(&request.arguments);
    format!(
        "allow {} to run `{}` with {}? [y/N] ",
        render::line(request.agent.as_str()),
        render::line(request.tool.as_str()),
        render::line(arguments)
    )
}

/// Anything but a plain yes is a no.
fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Somebody who could be asked: for a check, which asks nobody.
#[derive(Debug)]
pub(crate) struct Somebody;

#[async_trait]
impl Approver for Somebody {
    async fn approve(&self, _request: &ApprovalRequest) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_one() {
        for (answer, yes) in [
            ("y\n", true),
            ("YES\r\n", true),
            (" y \n", true),
            ("", false),
            ("\n", false),
            ("n\n", false),
            ("yn\n", false),
            ("yes please\n", false),
            ("\u{1b}y\n", false),
        ] {
            assert_eq!(is_yes(answer), yes, "{answer:?}");
        }
    }

    fn request(arguments: String) -> ApprovalRequest {
        ApprovalRequest {
            agent: "explore".into(),
            tool: "run_command".into(),
            arguments,
            task: "t".to_owned(),
            digest: "d".to_owned(),
        }
    }

    #[test]
    fn the_question_shows_every_argument_and_hides_nothing() {
        let long = "x".repeat(5000);
        let arguments = format!("{{\"command\":\"echo {long}\u{202e}\u{1b}[8m; rm -rf .\"}}");
        let question = question(&request(arguments));
        assert!(
            question.starts_with("allow explore to run `run_command` with {\"command\":\"echo x"),
            "{question}"
        );
        assert!(question.ends_with("\\u{202e}\\u{1b}[8m; rm -rf .\"}? [y/N] "), "{question}");
    }

    #[test]
    fn arguments_that_come_as_text_are_shown_as_that_text() {
        let text = r#"{"command":"printf '\n'"}"#;
        let asked = question(&request(serde_json::to_string(text).unwrap()));
        assert_eq!(asked, format!("allow explore to run `run_command` with {text}? [y/N] "));
        assert_eq!(question(&request(text.to_owned())), asked);
    }
}

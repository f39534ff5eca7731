use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_util::sync::CancellationToken;

use super::*;
use crate::history::{AssistantMessage, History, Message};
use crate::model::{NoObserver, StopReason, TurnObserver};
use crate::usage::Usage;

/// Fails with each error in turn, then answers.
#[derive(Debug)]
struct Failing {
    errors: Vec<ModelError>,
    asked: AtomicU32,
}

impl Failing {
    fn new(errors: Vec<ModelError>) -> Self {
        Self { errors, asked: AtomicU32::new(0) }
    }
}

#[async_trait]
impl Model for Failing {
    fn name(&self) -> String {
        "failing".to_owned()
    }

    async fn turn(&self, _: TurnRequest<'_>) -> Result<Turn, ModelError> {
        let at = self.asked.fetch_add(1, Ordering::Relaxed) as usize;
        match self.errors.get(at) {
            Some(error) => Err(error.clone()),
            None => Ok(Turn {
                message: AssistantMessage::text_only("fine"),
                stop: StopReason::End,
                usage: Usage::default(),
            }),
        }
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<(u32, Duration)>>);

impl TurnObserver for Heard {
    fn retry(&self, failures: u32, delay: Duration, _: &ModelError) {
        self.0.lock().unwrap().push((failures, delay));
    }
}

fn status(status: u16, retry_after: Option<Duration>) -> ModelError {
    ModelError::Status { url: "http://x".to_owned(), status, message: String::new(), retry_after }
}

fn broken() -> ModelError {
    ModelError::Incomplete { reason: "closed".to_owned() }
}

fn policy(attempts: u32) -> RetryPolicy {
    RetryPolicy { attempts, first_delay: Duration::from_millis(1) }
}

async fn ask(
    model: &dyn Model,
    cancel: &CancellationToken,
    observer: &dyn TurnObserver,
) -> Result<Turn, ModelError> {
    let mut history = History::new();
    history.push(Message::user("hi"));
    model
        .turn(TurnRequest {
            speaker: "parent",
            system: "",
            history: &history,
            tools: &[],
            parallel_tool_calls: true,
            cancel,
            observer,
        })
        .await
}

#[tokio::test]
async fn failures_that_may_pass_are_tried_again_after_growing_pauses() {
    let model = Arc::new(Failing::new(vec![status(529, None), broken(), status(429, None)]));
    let heard = Heard::default();
    let answer = ask(&Retrying::new(model.clone(), policy(4)), &CancellationToken::new(), &heard).await;
    assert_eq!(answer.unwrap().message.text(), "fine");
    assert_eq!(model.asked.load(Ordering::Relaxed), 4);
    let told = heard.0.into_inner().unwrap();
    assert_eq!(told, [(1, 1), (2, 2), (3, 4)].map(|(at, ms)| (at, Duration::from_millis(ms))));
}

#[tokio::test]
async fn too_many_failures_in_a_row_end_with_the_last_one() {
    let model = Arc::new(Failing::new(vec![broken(), broken(), status(503, None), broken()]));
    let retrying = Retrying::new(model.clone(), policy(3));
    let cancel = CancellationToken::new();
    match ask(&retrying, &cancel, &NoObserver).await {
        Err(ModelError::GaveUp { failures: 3, last }) => {
            assert!(matches!(*last, ModelError::Status { status: 503, .. }), "{last}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(model.asked.load(Ordering::Relaxed), 3);
    assert!(ask(&retrying, &cancel, &NoObserver).await.is_ok(), "each turn counts anew");
}

#[tokio::test]
async fn failures_that_stay_are_not_tried_again() {
    let lasting = [400, 401, 403, 404, 413, 422, 301].map(|code| status(code, None));
    for error in lasting.into_iter().chain([ModelError::Cancelled, ModelError::Script("x".to_owned())]) {
        let model = Arc::new(Failing::new(vec![error.clone()]));
        let answer =
            ask(&Retrying::new(model.clone(), policy(5)), &CancellationToken::new(), &NoObserver).await;
        assert_eq!(answer.unwrap_err().to_string(), error.to_string());
        assert_eq!(model.asked.load(Ordering::Relaxed), 1, "{error}");
    }
}

#[tokio::test]
async fn one_attempt_gives_the_failure_itself() {
    for attempts in [0, 1] {
        let retrying = Retrying::new(Failing::new(vec![broken()]), policy(attempts));
        let answer = ask(&retrying, &CancellationToken::new(), &NoObserver).await;
        assert!(matches!(answer, Err(ModelError::Incomplete { .. })), "{answer:?}");
    }
}

#[tokio::test]
async fn a_cancel_during_the_pause_ends_it_at_once() {
    /// Cancels as soon as a pause begins.
    struct Cancels(CancellationToken);
    impl TurnObserver for Cancels {
        fn retry(&self, _: u32, _: Duration, _: &ModelError) {
            self.0.cancel();
        }
    }
    let model = Arc::new(Failing::new(vec![broken(), broken()]));
    let policy = RetryPolicy { attempts: 3, first_delay: Duration::from_secs(3600) };
    let cancel = CancellationToken::new();
    let answer = ask(&Retrying::new(model.clone(), policy), &cancel, &Cancels(cancel.clone())).await;
    assert!(matches!(answer, Err(ModelError::Cancelled)), "{answer:?}");
    assert_eq!(model.asked.load(Ordering::Relaxed), 1);
}

#[test]
fn pauses_double_and_follow_the_server_where_it_wants_more() {
    let policy = RetryPolicy::default();
    let seconds = |failures, asked: Option<u64>| {
        policy.pause(failures, &status(429, asked.map(Duration::from_secs))).as_secs()
    };
    let pauses: Vec<u64> = [1, 2, 3, 4, 40, u32::MAX].map(|failures| seconds(failures, None)).to_vec();
    assert_eq!(pauses, [1, 2, 4, 8, 60, 60]);
    assert_eq!(seconds(1, Some(20)), 20);
    assert_eq!(seconds(3, Some(2)), 4);
}

//! A model whose turns wait where a test wants them to: each speaker may have a gate that the test opens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use deputy::history::Message;
use deputy::model::{Model, ModelError, Turn, TurnRequest};
use tokio::sync::Semaphore;

type Answer = dyn Fn(&TurnRequest<'_>, &str) -> Result<Turn, ModelError> + Send + Sync;

/// The gates of a model, one a speaker. A speaker without one never waits.
#[derive(Clone, Default)]
pub(crate) struct Gates(Arc<Mutex<HashMap<String, Arc<Semaphore>>>>);

impl Gates {
    /// Gates that are shut for these speakers.
    pub(crate) fn shut(speakers: &[&str]) -> Self {
        let gates = speakers.iter().map(|one| ((*one).to_owned(), Arc::new(Semaphore::new(0))));
        Self(Arc::new(Mutex::new(gates.collect())))
    }

    /// Lets so many turns of a speaker through.
    pub(crate) fn open(&self, speaker: &str, turns: usize) {
        self.0.lock().unwrap()[speaker].add_permits(turns);
    }

    fn of(&self, speaker: &str) -> Option<Arc<Semaphore>> {
        self.0.lock().unwrap().get(speaker).cloned()
    }
}

/// A model made of a closure, behind gates. Remembers who took turns.
pub(crate) struct GatedModel {
    gates: Gates,
    answer: Box<Answer>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl GatedModel {
    pub(crate) fn new(
        gates: &Gates,
        answer: impl Fn(&TurnRequest<'_>, &str) -> Result<Turn, ModelError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { gates: gates.clone(), answer: Box::new(answer), asked: Arc::default() })
    }

    /// Requests that came of a speaker, those that still wait among them.
    pub(crate) fn asked(&self, speaker: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|one| *one == speaker).count()
    }
}

impl fmt::Debug for GatedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GatedModel")
    }
}

#[async_trait::async_trait]
impl Model for GatedModel {
    fn name(&self) -> String {
        "gated".to_owned()
    }

    async fn turn(&self, request: TurnRequest<'_>) -> Result<Turn, ModelError> {
        self.asked.lock().unwrap().push(request.speaker.to_owned());
        if let Some(gate) = self.gates.of(request.speaker) {
            tokio::select! {
                permit = gate.acquire() => permit.unwrap().forget(),
                () = request.cancel.cancelled() => return Err(ModelError::Cancelled),
            }
        }
        let last = request.history.entries().last().expect("something was said");
        let text = match last.message() {
            Message::User { text } => text.clone(),
            Message::Tool(result) => result.text.clone(),
            Message::Assistant(_) => panic!("a turn follows a user message or results"),
        };
        (self.answer)(&request, &text)
    }
}

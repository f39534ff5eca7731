//! Connects the models that subagents have of their own. Must not choose a model.

use std::collections::HashMap;
use std::sync::Arc;

use deputy::model::{Model, ModelConfig};

use crate::environment::{Variables, connected, own_model};
use crate::render;
use crate::setup::Setup;

/// Gives each subagent its own model, connected once for all that name it. Where one cannot be had, the subagent keeps
/// the parent's, and that is said.
pub(super) fn connect_own(setup: &mut Setup, of_run: &ModelConfig, variables: &Variables<'_>, quiet: bool) {
    let mut clients: HashMap<String, Option<Arc<dyn Model>>> = HashMap::new();
    for (name, spec) in &setup.models {
        let client = clients.entry(spec.to_string()).or_insert_with(|| {
            let client = connected(own_model(spec.clone(), of_run, variables));
            if let (Err(error), false) = (&client, quiet) {
                render::warning(&format!(
                    "`{name}` and all others that ask for the model `{spec}` run with the parent's: {error:#}"
                ));
            }
            client.ok()
        });
        let subagent = setup.subagents.iter_mut().find(|one| one.name() == name);
        if let (Some(subagent), Some(client)) = (subagent, client) {
            *subagent = subagent.clone().model(client.clone());
        }
    }
}

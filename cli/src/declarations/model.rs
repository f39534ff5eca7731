//! What a file's `model` is here: one of ours, or a word of another product. Must not connect anything.

use deputy::model::ModelSpec;

/// The model that `written` names; or what to say where it names none of this host.
pub(super) fn named(written: &str) -> Result<ModelSpec, String> {
    written.trim().parse().map_err(|_| {
        format!(
            "the model `{}` is none of this host (expected openai:NAME, anthropic:NAME, ollama:NAME or scripted:FILE): the agent runs with the parent's model",
            written.escape_debug()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_products_are_no_models() {
        for word in
            ["sonnet", "opus", "haiku", "gpt-4o", "qwen3-max", "Claude Sonnet 4", "openai/gpt-4o", "a:b"]
        {
            assert!(named(word).unwrap_err().contains(word), "{word}");
        }
        assert_eq!(named(" openai:gpt-4o-mini ").unwrap().to_string(), "openai:gpt-4o-mini");
        assert_eq!(named("anthropic:claude-sonnet-4-5").unwrap().to_string(), "anthropic:claude-sonnet-4-5");
    }
}

//! Keys and tokens: values that cannot be printed by accident. Must know no other module.

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

/// A key. `Debug` shows `***`; there is no `Display` and no serialisation.
#[derive(Clone)]
pub struct Secret(Arc<SecretString>);

impl Secret {
    /// Takes the key over.
    #[must_use]
    pub fn new(value: String) -> Self {
        Self(Arc::new(SecretString::from(value)))
    }

    /// The key itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// `text` with every occurrence of the key replaced by `***`, also where it stands as JSON writes it.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let key = self.expose();
        // A key of a few characters would redact half of any text; real keys are longer.
        if key.len() < 6 {
            return text.to_owned();
        }
        let quoted = serde_json::Value::from(key).to_string();
        let in_json = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(key);
        text.replace(key, "***").replace(in_json, "***")
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_as_it_is_and_as_json_writes_it() {
        let key = Secret::new("sk-\"quo\\ted\"".to_owned());
        for text in [
            format!("key {} sent", key.expose()),
            format!("{{\"sent\":{}}}", serde_json::json!(key.expose())),
        ] {
            let shown = key.redact(&text);
            assert!(shown.contains("***") && !shown.contains("quo"), "{shown}");
        }
        assert_eq!(Secret::new("ab".to_owned()).redact("about"), "about");
    }
}

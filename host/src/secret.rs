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

    /// `text` with every occurrence of the key replaced by `***`.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let key = self.expose();
        // A key of a few characters would redact half of any text; real keys are longer.
        if key.len() < 6 { text.to_owned() } else { text.replace(key, "***") }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

//! The bytes of the custom section `deputy:subagent`, made while compiling. Must not run in a guest.
//!
//! The section is a JSON object: `description` (without white space around it; absent where none was given),
//! `sdk` (the version of this crate) and `wit` (the version of the WIT package).

use deputy_contract::WIT_VERSION;

/// How many bytes [`json`] gives for the same description.
#[must_use]
pub const fn length(description: Option<&str>) -> usize {
    // A writer without room only counts.
    object::<0>(description).written
}

/// The section's content. `N` is [`length`] of the same description.
#[must_use]
pub const fn json<const N: usize>(description: Option<&str>) -> [u8; N] {
    object::<N>(description).bytes
}

const fn object<const N: usize>(description: Option<&str>) -> Writer<N> {
    let mut writer = Writer { bytes: [0; N], written: 0 };
    writer.raw("{");
    if let Some(text) = description {
        writer.raw("\"description\":");
        writer.string(text.trim_ascii());
        writer.raw(",");
    }
    writer.raw("\"sdk\":");
    writer.string(env!("CARGO_PKG_VERSION"));
    writer.raw(",\"wit\":");
    writer.string(WIT_VERSION);
    writer.raw("}");
    writer
}

struct Writer<const N: usize> {
    bytes: [u8; N],
    written: usize,
}

impl<const N: usize> Writer<N> {
    const fn raw(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let Some((&byte, tail)) = rest.split_first() {
            self.byte(byte);
            rest = tail;
        }
    }

    /// A JSON string: quotes, backslashes and control characters escaped, all else as it is.
    const fn string(&mut self, text: &str) {
        self.byte(b'"');
        let mut rest = text.as_bytes();
        while let Some((&byte, tail)) = rest.split_first() {
            match byte {
                b'"' | b'\\' => {
                    self.byte(b'\\');
                    self.byte(byte);
                }
                0..0x20 => {
                    self.raw("\\u00");
                    self.byte(hex_digit(byte >> 4));
                    self.byte(hex_digit(byte & 0xf));
                }
                _ => self.byte(byte),
            }
            rest = tail;
        }
        self.byte(b'"');
    }

    #[expect(clippy::indexing_slicing, reason = "compared with the length one line before")]
    const fn byte(&mut self, byte: u8) {
        if self.written < N {
            self.bytes[self.written] = byte;
        }
        self.written += 1;
    }
}

const fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as object};

    fn parsed<const N: usize>(description: Option<&str>) -> Value {
        assert_eq!(super::length(description), N);
        serde_json::from_slice(&super::json::<N>(description)).unwrap()
    }

    #[test]
    fn any_description_reads_back_as_it_was_given() {
        const TEXT: &str = "\n Says \"no\" \\ twice,\nthen\tрrésumé 猫 \u{1}\u{1f}\u{7f}.\n";
        const LENGTH: usize = super::length(Some(TEXT));
        let section = parsed::<LENGTH>(Some(TEXT));
        assert_eq!(
            section,
            object!({"description": TEXT.trim(), "sdk": env!("CARGO_PKG_VERSION"), "wit": "0.1.0"})
        );
    }

    #[test]
    fn no_description_leaves_the_field_out() {
        const LENGTH: usize = super::length(None);
        assert_eq!(parsed::<LENGTH>(None), object!({"sdk": env!("CARGO_PKG_VERSION"), "wit": "0.1.0"}));
    }
}

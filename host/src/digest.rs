//! SHA-256 as lower-case hexadecimal. Must know no other module.

use sha2::{Digest as _, Sha256};

/// Of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

/// Of several texts, each with its length before it, so that no two lists of texts share a digest.
pub(crate) fn of_parts(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hexadecimal(hash)
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

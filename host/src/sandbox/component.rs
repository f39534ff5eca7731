//! A component that was taken in: checked, named by the hash of its bytes, compiled at most once.
//! Must not run it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deputy_contract::{WIT_PACKAGE, WIT_VERSION};
use tokio::sync::OnceCell;

use super::refusal::{MissingImport, missing_imports};
use super::surface::Surface;
use crate::governance::Rights;

/// Most bytes of a component file.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A checked component. Compiled when it is first run.
pub struct Component {
    name: String,
    sha256: String,
    bytes: Arc<[u8]>,
    surface: Surface,
    pub(super) compiled: OnceCell<Result<super::linker::Compiled, ComponentError>>,
}

/// Why a component was not taken, or may not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The file cannot be read.
    #[error("cannot read the component {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is too large.
    #[error("the component `{name}` has {bytes} bytes; expected at most {FILE_BYTES}")]
    TooLarge {
        /// The component.
        name: String,
        /// Its size.
        bytes: u64,
    },
    /// The bytes are no WebAssembly at all.
    #[error(
        "`{name}` is not WebAssembly: expected a component (a file that begins with `\\0asm`), found {found}"
    )]
    NotWebAssembly {
        /// The component.
        name: String,
        /// What it begins with.
        found: String,
    },
    /// The bytes are a core module.
    #[error(
        "`{name}` is a core WebAssembly module; expected a component: build it for `wasm32-wasip2`, or wrap it with `wasm-tools component new`"
    )]
    CoreModule {
        /// The component.
        name: String,
    },
    /// The bytes do not make a valid component.
    #[error("`{name}` is not a valid component (truncated or damaged?): {reason}")]
    Invalid {
        /// The component.
        name: String,
        /// What the parser said.
        reason: String,
    },
    /// The component was built for another version of the contract.
    #[error(
        "`{name}` was built for {WIT_PACKAGE}@{found}; this host speaks {WIT_PACKAGE}@{WIT_VERSION}: rebuild it with a `deputy-guest` of the same version, or use a host for {found}"
    )]
    WitVersion {
        /// The component.
        name: String,
        /// The version that it names.
        found: String,
    },
    /// The component does not export what a subagent exports.
    #[error(
        "`{name}` does not export `{WIT_PACKAGE}/handler` with its function `handle`, so it is no subagent; it exports: {}",
        or_nothing(exports)
    )]
    NoHandler {
        /// The component.
        name: String,
        /// What it exports.
        exports: Vec<String>,
    },
    /// The component imports what it is not granted.
    #[error("`{name}` is refused, nothing of it ran. It imports what it is not granted:{}", list(missing))]
    NotGranted {
        /// The component.
        name: String,
        /// Each import that is missing.
        missing: Vec<MissingImport>,
    },
    /// The component did not compile.
    #[error("`{name}` cannot be compiled: {reason}")]
    Compile {
        /// The component.
        name: String,
        /// What the compiler said.
        reason: String,
    },
}

fn or_nothing(exports: &[String]) -> String {
    if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") }
}

fn list(missing: &[MissingImport]) -> String {
    missing.iter().map(|import| format!("\n  - {import}")).collect()
}

impl Component {
    /// Reads and checks a component file. `name` is what messages call it.
    ///
    /// # Errors
    /// [`ComponentError`] where it is no component for this host.
    pub fn from_file(path: &Path) -> Result<Self, ComponentError> {
        Self::from_bytes(&path.display().to_string(), Self::read_file(path)?)
    }

    /// Reads the bytes of a component file, as far as there may be a component in them.
    ///
    /// # Errors
    /// [`ComponentError`] where the file cannot be read, is no regular file, or is too large.
    pub fn read_file(path: &Path) -> Result<Arc<[u8]>, ComponentError> {
        let unreadable = |reason: String| ComponentError::Unreadable { path: path.to_owned(), reason };
        let name = path.display().to_string();
        let meta = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
        if !meta.is_file() {
            return Err(unreadable("expected a regular file".to_owned()));
        }
        if meta.len() > FILE_BYTES {
            return Err(ComponentError::TooLarge { name, bytes: meta.len() });
        }
        let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        Ok(bytes.into())
    }

    /// Checks a component that is in memory. `name` is what messages call it.
    ///
    /// # Errors
    /// [`ComponentError`] where it is no component for this host.
    pub fn from_bytes(name: &str, bytes: Arc<[u8]>) -> Result<Self, ComponentError> {
        let surface = Self::inspect(name, &bytes)?;
        check_version(name, &surface)?;
        check_handler(name, &surface)?;
        Ok(Self { name: name.to_owned(), sha256: sha256(&bytes), bytes, surface, compiled: OnceCell::new() })
    }

    /// What the bytes import and export, whether or not this host would run them.
    ///
    /// # Errors
    /// [`ComponentError`] where they are no component at all.
    pub fn inspect(name: &str, bytes: &[u8]) -> Result<Surface, ComponentError> {
        let name = name.to_owned();
        if bytes.len() as u64 > FILE_BYTES {
            return Err(ComponentError::TooLarge { name, bytes: bytes.len() as u64 });
        }
        match (bytes.get(..4), bytes.get(4..8)) {
            (Some(b"\0asm"), Some([1, 0, 0, 0])) => return Err(ComponentError::CoreModule { name }),
            (Some(b"\0asm"), Some([_, 0, 1, 0])) => {}
            (Some(b"\0asm"), None) => {
                return Err(ComponentError::Invalid {
                    name,
                    reason: "the file ends in its header".to_owned(),
                });
            }
            (Some(b"\0asm"), Some(other)) => {
                return Err(ComponentError::Invalid { name, reason: format!("unknown version {other:?}") });
            }
            _ => return Err(ComponentError::NotWebAssembly { name, found: beginning(bytes) }),
        }
        // The parser reads untrusted bytes: a panic in it is the file's fault, not the host's end.
        match std::panic::catch_unwind(|| Surface::read(bytes)) {
            Ok(Ok(surface)) => Ok(surface),
            Ok(Err(reason)) => Err(ComponentError::Invalid { name, reason }),
            Err(_) => Err(ComponentError::Invalid { name, reason: "the parser gave up on it".to_owned() }),
        }
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 of the bytes that are compiled, hex.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, shared.
    pub(super) fn shared_bytes(&self) -> Arc<[u8]> {
        self.bytes.clone()
    }

    /// What it imports and exports.
    #[must_use]
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Checks that the component imports nothing but what `rights` grant and the inert base.
    ///
    /// # Errors
    /// [`ComponentError::NotGranted`] with every missing import.
    pub fn check(&self, rights: &Rights) -> Result<(), ComponentError> {
        let missing = missing_imports(&self.surface, rights);
        if missing.is_empty() {
            return Ok(());
        }
        Err(ComponentError::NotGranted { name: self.name.clone(), missing })
    }

    /// The tools that it imports as functions.
    #[must_use]
    pub fn imported_tools(&self) -> &BTreeSet<String> {
        &self.surface.tools
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component")
            .field("name", &self.name)
            .field("sha256", &self.sha256)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// SHA-256 as lower-case hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    crate::digest::of_bytes(bytes)
}

/// Versions fit where major and minor are the same: below 1.0 a minor version may change anything.
fn check_version(name: &str, surface: &Surface) -> Result<(), ComponentError> {
    let line = |version: &str| {
        let mut parts = version.split('.');
        (parts.next().map(str::to_owned), parts.next().map(str::to_owned))
    };
    match surface.wit_versions.iter().find(|found| line(found) != line(WIT_VERSION)) {
        Some(found) => Err(ComponentError::WitVersion { name: name.to_owned(), found: found.clone() }),
        None => Ok(()),
    }
}

fn check_handler(name: &str, surface: &Surface) -> Result<(), ComponentError> {
    let handler = format!("{WIT_PACKAGE}/handler@");
    if surface.exports.iter().any(|export| export.starts_with(&handler)) {
        return Ok(());
    }
    let exports = surface.exports.iter().cloned().collect();
    Err(ComponentError::NoHandler { name: name.to_owned(), exports })
}

/// The first bytes of a file that is not what was expected, as something to recognise it by.
fn beginning(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "an empty file".to_owned();
    }
    let head = bytes.get(..bytes.len().min(16)).unwrap_or_default();
    format!("`{}`", head.escape_ascii())
}

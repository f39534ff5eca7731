//! Builds guests as `make stock` does, in a target directory of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Runs `cargo COMMAND...` for guests; answers the directory where release components lie.
pub(crate) fn cargo_guest(manifest: &Path, arguments: &[&str]) -> PathBuf {
    run(Command::new(repository().join("scripts/ensure-wasm-target")));
    let target = std::env::var_os("DEPUTY_GUEST_TARGET_DIR")
        .map_or_else(|| repository().join("target-guests"), PathBuf::from);
    let mut cargo = Command::new(repository().join("scripts/cargo-guest"));
    cargo.arg(&target).args(arguments).arg("--manifest-path").arg(manifest);
    run(cargo);
    target.join("wasm32-wasip2/release")
}

/// Runs a command to its end; its standard output.
pub(crate) fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} ended with {}:\n{error}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

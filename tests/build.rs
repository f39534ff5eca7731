//! Builds the guests of the tests for wasm32-wasip2 and lists them as constants, with a macro over their names:
//! the suite fails to compile where a guest has no test.

#![expect(clippy::expect_used, reason = "a build script that cannot go on says why and ends")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.parent().expect("the tests stand in the repository").to_owned();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // A directory of their own: the lock on the host's is held while this runs.
    let target = env::var_os("DEPUTY_GUEST_TARGET_DIR").map_or_else(|| out.join("guests"), PathBuf::from);
    for input in ["guests/Cargo.toml", "guests/examples", "../guest-sdk/src", "../contract/src", "../wit"] {
        println!("cargo::rerun-if-changed={}", here.join(input).display());
    }
    println!("cargo::rerun-if-env-changed=DEPUTY_GUEST_TARGET_DIR");

    let built = Command::new(root.join("scripts/cargo-guest"))
        .arg(&target)
        .args(["build", "--release", "--examples", "--manifest-path"])
        .arg(here.join("guests/Cargo.toml"))
        .status()
        .expect("scripts/cargo-guest can be run");
    assert!(
        built.success(),
        "the guests of the tests do not build; `make wasm-target` installs their target"
    );
    fs::write(out.join("guests.rs"), list(&here, &target)).expect("the list of guests can be written");
}

fn list(here: &Path, target: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(here.join("guests/examples"))
        .expect("the guests are there")
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    let mut text = String::new();
    for name in &names {
        let file = target.join("wasm32-wasip2/release/examples").join(format!("{name}.wasm"));
        let _ = writeln!(text, "pub(crate) const {}: &[u8] = include_bytes!({file:?});", name.to_uppercase());
    }
    let _ = writeln!(text, "macro_rules! each_guest {{ ($then:ident) => {{ {} }} }}", {
        names.iter().map(|name| format!("$then!({name});")).collect::<Vec<_>>().join(" ")
    });
    text
}

//! `deputy new`: starts a subagent's crate. Must not overwrite anything.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::arguments::NewArguments;
use crate::ending::Ending;
use crate::render;

/// The files of a new crate, with placeholders.
const TEMPLATE: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../templates/subagent/Cargo.toml")),
    ("src/lib.rs", include_str!("../templates/subagent/src/lib.rs")),
    ("README.md", include_str!("../templates/subagent/README.md")),
];

pub(crate) fn run(arguments: &NewArguments) -> anyhow::Result<Ending> {
    let name = &arguments.name;
    if !is_kebab(name) {
        bail!(
            "`{name}` cannot name a subagent: expected lower-case words joined by `-`, such as tide-reader"
        );
    }
    let directory = arguments.path.clone().unwrap_or_else(|| PathBuf::from(name));
    let taken = fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_some());
    if taken || directory.is_file() {
        bail!(
            "{} is there already and not empty: nothing was written; name another place with --path",
            directory.display()
        );
    }
    let sdk = match &arguments.sdk {
        Some(path) => {
            let path = path
                .canonicalize()
                .with_context(|| format!("there is no guest SDK at {}", path.display()))?;
            if !path.join("Cargo.toml").is_file() {
                bail!("{} is no crate: expected the directory of the guest SDK", path.display());
            }
            format!("{{ path = {} }}", quoted(&path.display().to_string()))
        }
        None => quoted(env!("CARGO_PKG_VERSION")),
    };
    for (file, text) in TEMPLATE {
        let path = directory.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        let text = text
            .replace("{{name}}", name)
            .replace("{{crate_name}}", &name.replace('-', "_"))
            .replace("{{deputy_guest}}", &sdk);
        // A file that is there after all is somebody's.
        let made = fs::File::create_new(&path).and_then(|mut made| made.write_all(text.as_bytes()));
        made.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let wasm = format!("target/wasm32-wasip2/release/{}.wasm", name.replace('-', "_"));
    render::out(&format!(
        "made {0}\n\nNext:\n  cd {0}\n  rustup target add wasm32-wasip2\n  cargo build --release --target wasm32-wasip2\n  deputy inspect {wasm}\n  deputy run --subagent {wasm} \"...\"\n",
        render::line(&directory.display().to_string())
    ));
    Ok(Ending::Answered)
}

/// A TOML string: what JSON escapes, TOML reads alike.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_kebab(name: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= 50 && name.split('-').all(word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case() {
        for name in ["a", "tide-reader", "v2-checker"] {
            assert!(is_kebab(name), "{name}");
        }
        for name in ["", "-", "Tide", "tide_reader", "tide reader", "a--b", "a-", "2a", "../x", "a/b"] {
            assert!(!is_kebab(name), "{name}");
        }
    }

    #[test]
    fn a_path_of_any_characters_is_a_toml_string() {
        assert_eq!(quoted("/a b/c"), r#""/a b/c""#);
        assert_eq!(quoted("/q\"\\\u{1}"), r#""/q\"\\\u0001""#);
    }
}

//! The rules of the code base that a machine can hold: which module may use which, who may name which crate,
//! how long a file may be, and that each file says what it is for.

use std::fs;
use std::path::{Path, PathBuf};

/// Most lines of a file before its tests.
const MOST_LINES: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every `.rs` file under `directory`, with its path relative to the repository.
fn sources(directory: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(directory)];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            // What is built, and the files that cases are made of, are no sources.
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("cases") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources under {directory}");
    found
}

/// Modules of the library in reading order, as its `lib.rs` lists them.
fn modules() -> Vec<String> {
    let lib = fs::read_to_string(root().join("host/src/lib.rs")).unwrap();
    let declared = lib.lines().filter_map(|line| {
        line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
    });
    declared.map(str::to_owned).collect()
}

/// The top module that a file of the library belongs to.
fn module_of(file: &str) -> String {
    let rest = file.strip_prefix("host/src/").unwrap();
    rest.split(['/', '.']).next().unwrap().to_owned()
}

/// What stands before a file's tests.
fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap()
}

fn is_test(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.ends_with("_tests.rs") || file.contains("/tests/")
}

#[test]
fn module_edges_point_down_the_reading_order() {
    let order = modules();
    let place = |module: &str| order.iter().position(|one| one == module);
    let mut wrong = Vec::new();
    for (file, text) in sources("host/src").iter().filter(|(file, _)| !is_test(file)) {
        let from = module_of(file);
        let Some(here) = place(&from) else { continue };
        for (at, _) in before_tests(text).match_indices("crate::") {
            let rest = &text[at + "crate::".len()..];
            let to: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if place(&to).is_some_and(|there| there < here) {
                wrong.push(format!("{file} uses `{to}`, which stands above `{from}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_are_named_only_where_they_belong() {
    let belongs: &[(&str, &[&str])] = &[
        ("wasmtime", &["host/src/bindings", "host/src/sandbox", "host/src/capability"]),
        ("reqwest", &["host/src/model", "host/src/tools/web", "host/src/tools/fetch_url"]),
        ("cap_std", &["host/src/workspace", "host/src/tools"]),
        ("landlock", &["host/src/tools"]),
        ("clap", &["cli/src"]),
        ("indicatif", &["cli/src/render"]),
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources("host/src").into_iter().chain(sources("cli/src")) {
        for (name, places) in belongs {
            let named = text.lines().any(|line| {
                let line = line.trim();
                !line.starts_with("//") && line.contains(&format!("{name}::"))
            });
            if named && !places.iter().any(|place| file.starts_with(place)) && !is_test(&file) {
                wrong.push(format!("{file} names `{name}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_guest_inherits_nothing_of_the_host() {
    for (file, text) in sources("host/src") {
        for name in [
            "inherit_env",
            "inherit_args",
            "inherit_stdio",
            "inherit_stdin",
            "inherit_network",
            "preopened_dir",
        ] {
            assert!(!text.contains(name), "{file} calls `{name}`");
        }
    }
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut wrong = Vec::new();
    for directory in
        ["host", "cli", "contract", "guest-sdk", "declared", "stock", "task", "example-agents", "tests"]
    {
        for (file, text) in sources(directory) {
            let lines = before_tests(&text).lines().count();
            if lines > MOST_LINES && !is_test(&file) {
                wrong.push(format!("{file} has {lines} lines, at most {MOST_LINES} are meant"));
            }
            let first = text.lines().find(|line| !line.starts_with("#!")).unwrap_or_default();
            if !first.starts_with("//!") && !is_test(&file) {
                wrong.push(format!("{file} does not begin with a `//!` line that says what it is for"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

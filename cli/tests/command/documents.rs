//! Every command of the documents runs: each line of a `sh` block is taken from the text and tried with the real
//! binary; a scripted model stands in for servers.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::deputy::Deputy;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

const DOCUMENTS: [&str; 6] = [
    "README.md",
    "docs/first-subagent.md",
    "docs/confinement.md",
    "docs/scripted-model.md",
    "docs/delegation.md",
    "docs/declarations.md",
];

/// The lines of all `sh` blocks of a document, comments taken off.
fn shell_lines(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap().trim().to_owned());
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Parts a command line as a shell would, as far as the documents need it.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A workspace in which the commands of the documents make sense.
fn workspace() -> Deputy {
    let wasm = deputy_stock::STOCK[0].wasm;
    let script = json!({"steps": [{"said": "", "answer": "done", "repeat": true}]}).to_string();
    let deputy = Deputy::new()
        .file("script.json", script)
        .file("reviewer.wasm", wasm)
        .file("deputy.toml", "")
        .file(".claude/agents/heron.md", "---\nname: heron\ndescription: Watches birds\n---\nCount them.\n");
    std::os::unix::fs::symlink(root(), deputy.path("deputy")).unwrap();
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(deputy.path(".")).status().unwrap();
    assert!(made.success());
    for name in ["reviewer", "tide_reader", "tide-reader"] {
        std::fs::create_dir_all(deputy.path("target/wasm32-wasip2/release")).unwrap();
        std::fs::write(deputy.path(&format!("target/wasm32-wasip2/release/{name}.wasm")), wasm).unwrap();
    }
    deputy
}

#[test]
fn every_deputy_command_of_the_documents_runs() {
    let mut tried = 0;
    for document in DOCUMENTS {
        for line in shell_lines(document).iter().filter(|line| line.starts_with("deputy ")) {
            let deputy = workspace();
            let mut words = words(line);
            words.remove(0);
            if words[0] == "run" {
                if let Some(at) = words.iter().position(|word| word == "--model") {
                    words.drain(at..at + 2);
                }
                words.splice(1..1, ["--model".to_owned(), "scripted:script.json".to_owned()]);
            }
            let words: Vec<&str> = words
                .iter()
                .map(|word| {
                    if word.starts_with("path/to/deputy/") || word.starts_with("../deputy/") {
                        "deputy/guest-sdk"
                    } else {
                        word
                    }
                })
                .collect();
            let ended = deputy.run(&words);
            let refused = ["deputy check general --grant", "deputy explain write_file --agent explore"]
                .iter()
                .any(|known| line.starts_with(known));
            assert_eq!(ended.code, if refused { 3 } else { 0 }, "{document}: {line}\n{ended:?}");
            tried += 1;
        }
    }
    assert!(tried >= 10, "{tried} commands were found");
}

#[test]
fn every_other_command_of_the_documents_is_known() {
    // What a reader types beside `deputy`; run by the demo, by the suite's own build, or by a person.
    const KNOWN: &[&str] = &["make ", "export ", "cd ", "cargo ", "rustup target add wasm32-wasip2", "git "];
    for document in DOCUMENTS.into_iter().chain(["CONTRIBUTING.md"]) {
        for line in shell_lines(document).iter().filter(|line| !line.starts_with("deputy ")) {
            assert!(
                KNOWN.iter().any(|known| line.starts_with(known)),
                "{document}: `{line}` is run by no test"
            );
            if let Some(target) = line.strip_prefix("make ") {
                let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
                assert!(makefile.contains(&format!("\n{target}:")), "there is no `make {target}`");
            }
        }
    }
}

#[test]
fn make_alone_prints_each_target_with_one_line() {
    let output = std::process::Command::new("make").current_dir(root()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for target in ["demo", "test", "build", "check", "lint", "deny", "stock"] {
        assert!(
            text.lines().any(|line| line.trim().starts_with(&format!("make {target}"))),
            "{target}: {text}"
        );
    }
}

#[test]
fn the_documented_configuration_is_taken_as_it_stands() {
    let text = std::fs::read_to_string(root().join("docs/delegation.md")).unwrap();
    let toml = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let deputy = Deputy::new().file("mine.toml", toml);
    let listed = deputy.run(&["agents", "--config", "mine.toml", "--json"]).exits(0).json();
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["general-purpose", "explore", "verify", "general", "poet"]);
    deputy.run(&["explain", "write_file", "--config", "mine.toml"]).exits(0);
}

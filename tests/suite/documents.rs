//! The documents say what is so: tests that are named exist, links lead somewhere, the example is as short as
//! it is said to be.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn sources(directory: &Path, text: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn each_promise_names_a_test_that_exists() {
    let mut all = String::new();
    for directory in
        ["host/src", "host/tests", "cli", "contract/src", "guest-sdk/src", "stock", "tests/suite"]
    {
        if root().join(directory).is_dir() {
            sources(&root().join(directory), &mut all);
        }
    }
    let specification = read("SPECIFICATION.md");
    let rows = specification.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut count = 0;
    for row in rows {
        let tests = row.rsplit('|').nth(1).unwrap();
        for name in tests.split('`').skip(1).step_by(2) {
            assert!(all.contains(&format!("fn {name}(")), "no test is called {name}");
            count += 1;
        }
    }
    assert!(count > 25, "{count} tests are named");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "SPECIFICATION.md",
        "docs/first-subagent.md",
        "docs/scripted-model.md",
        "docs/confinement.md",
        "docs/delegation.md",
    ] {
        let text = read(document);
        let place = root().join(document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            assert!(place.parent().unwrap().join(target).exists(), "{document} links to {link}");
        }
    }
}

#[test]
fn the_embedding_example_is_under_40_lines() {
    let example = read("host/examples/embed.rs");
    let lines = example
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
        .count();
    assert!(lines < 40, "{lines} lines");
}

#[test]
fn the_documents_speak_of_every_command_that_there_is() {
    let readme = read("README.md");
    for command in [
        "deputy run",
        "deputy agents",
        "deputy inspect",
        "deputy check",
        "deputy new",
        "deputy explain",
        "deputy trust",
        "deputy sessions",
        "make demo",
        "make test",
    ] {
        assert!(readme.contains(command), "{command}");
    }
}

#[tokio::test]
async fn the_documented_script_runs_as_it_stands() {
    let guide = read("docs/scripted-model.md");
    let script =
        guide.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let workspace = tempfile::tempdir().unwrap();
    fs::write(workspace.path().join("tides.txt"), "tide low\ntide high\n").unwrap();
    let model = deputy::model::ScriptedModel::parse(Path::new("example"), script).unwrap();
    let host = deputy::host::Host::builder()
        .model(std::sync::Arc::new(model))
        .workspace(workspace.path())
        .subagent(crate::delegation::stock("explore"))
        .build()
        .unwrap();
    let report = host.run("how many tides are there?").await;
    assert_eq!(report.answer.as_deref(), Some("There are tides down to line 2."), "{report:?}");
}

//! The template of `deputy new`, filled in and built: what a new author gets works as it is.

use std::fs;
use std::path::Path;

use crate::component::Component;
use crate::guest_build::{cargo_guest, repository};

#[test]
fn the_template_builds_into_a_component_that_reads_and_does_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let sdk = format!("{{ path = {:?} }}", repository().join("guest-sdk"));
    fill(&repository().join("cli/templates/subagent"), directory.path(), "change-reviewer", &sdk);
    // The versions that are known to build, so that a registry is asked for nothing new.
    fs::copy(repository().join("example-agents/Cargo.lock"), directory.path().join("Cargo.lock")).unwrap();

    let built = cargo_guest(&directory.path().join("Cargo.toml"), &["build", "--release"]);

    let component = Component::read(&fs::read(built.join("change_reviewer.wasm")).unwrap());
    assert_eq!(component.tools(), ["find_files", "grep_files", "read_file"]);
    assert!(component.section["description"].as_str().unwrap().len() > 40, "{}", component.section);
    let readme = fs::read_to_string(directory.path().join("README.md")).unwrap();
    assert!(readme.contains("# change-reviewer") && readme.contains("change_reviewer.wasm"), "{readme}");
}

/// Copies `from` to `to` with every placeholder replaced, as `deputy new` does.
fn fill(from: &Path, to: &Path, name: &str, sdk: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fill(&entry.path(), &target, name, sdk);
            continue;
        }
        let text = fs::read_to_string(entry.path())
            .unwrap()
            .replace("{{name}}", name)
            .replace("{{crate_name}}", &name.replace('-', "_"))
            .replace("{{deputy_guest}}", sdk);
        assert!(!text.contains("{{"), "{} has a placeholder that nobody fills", entry.path().display());
        fs::write(target, text).unwrap();
    }
}

use deputy_declared::{Format, Rules, read};

use super::*;

/// A workspace with a definition, a directory without one, and something beside the workspace.
fn workspace() -> (tempfile::TempDir, PathBuf) {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().canonicalize().unwrap().join("w");
    for directory in ["w/defs/heron", "w/defs/bare", "beside"] {
        std::fs::create_dir_all(base.path().join(directory)).unwrap();
    }
    std::fs::write(root.join("defs/heron/AGENTS.md"), "From the definition.\n").unwrap();
    std::fs::write(base.path().join("beside/AGENTS.md"), "From beside.").unwrap();
    std::fs::write(root.join("AGENTS.md"), "Of all.").unwrap();
    (base, root)
}

fn file(keys: &str) -> AgentFile {
    let text = format!("---\ndescription: x\n{keys}\n---\nFrom the file.\n");
    read(Path::new("subagents/heron.md"), text.as_bytes(), &Rules::new(Format::Subagents)).unwrap()
}

fn trusted() -> Standing {
    Standing { trusted: true, ..Standing::default() }
}

fn row(keys: &str, root: &Path) -> (WorkspaceMode, String) {
    let placed = placed(&file(keys), None, root, &trusted()).unwrap();
    (placed.mode, placed.instructions.unwrap_or_default())
}

#[test]
fn the_five_rows() {
    let (_base, root) = workspace();
    let inside = || WorkspaceMode::Inside("defs/heron".into());
    let (mode, text) = row("", &root);
    assert_eq!(mode, WorkspaceMode::Isolated);
    assert!(text.starts_with("From the file.\n\nYou work in a directory of your own"), "{text}");
    assert_eq!(row("workspace: shared", &root), (WorkspaceMode::Shared, "From the file.".into()));
    assert_eq!(row("workspace: worktree", &root), (WorkspaceMode::Worktree, "From the file.".into()));
    for path in ["./defs/heron", "defs/x/../heron", &root.join("defs/heron").display().to_string()] {
        let of = |mode: &str| row(&format!("workspace:\n  mode: {mode}\n  path: {path}"), &root);
        assert_eq!(of("isolated"), (inside(), "From the definition.".into()), "{path}");
        assert_eq!(of("shared"), (WorkspaceMode::Shared, "From the definition.".into()));
        assert_eq!(of("worktree"), (WorkspaceMode::Worktree, "From the definition.".into()));
    }
    assert_eq!(row("workspace:\n  path: .", &root), (WorkspaceMode::Shared, "Of all.".into()));
    assert_eq!(row("workspace:\n  path: defs/bare", &root).1, "", "an absent definition is empty");
    let missing = placed(&file("workspace:\n  path: defs/none"), None, &root, &trusted()).unwrap();
    assert!(missing.warnings[0].contains("there is no directory"), "{missing:?}");
}

#[test]
fn a_path_outside_is_the_operators_to_give() {
    let (base, root) = workspace();
    let beside = root.parent().unwrap().join("beside");
    for path in ["../beside", "defs/../../beside", &beside.display().to_string(), "/etc"] {
        let error =
            placed(&file(&format!("workspace:\n  path: {path}")), None, &root, &trusted()).unwrap_err();
        assert!(error.contains("set `subagents.heron.workspace_path = \"/"), "{error}");
    }
    let table = config::Subagent { workspace_path: Some(beside.clone()), ..config::Subagent::default() };
    let of = |keys: &str, standing: &Standing| placed(&file(keys), Some(&table), &root, standing);
    let given = of("workspace:\n  path: ../beside", &trusted()).unwrap();
    assert_eq!(given.mode, WorkspaceMode::At(beside.clone()));
    assert_eq!(given.instructions.as_deref(), Some("From beside."));
    let shared = of("workspace:\n  path: ../beside\n  mode: shared", &trusted()).unwrap();
    assert_eq!((shared.mode, shared.instructions.as_deref()), (WorkspaceMode::Shared, Some("From beside.")));
    let own_text = of("", &trusted()).unwrap();
    assert_eq!(
        (own_text.mode, own_text.instructions.as_deref()),
        (WorkspaceMode::At(beside), Some("From the file."))
    );
    // A file that nobody trusts does not get what the operator gave to another of its name.
    assert!(of("", &Standing::default()).unwrap_err().contains("which the configuration gives to that name"));
    drop(base);
}

#[test]
fn a_definition_that_leads_out_by_a_link_is_refused() {
    let (base, root) = workspace();
    std::os::unix::fs::symlink(base.path().join("beside"), root.join("defs/linked")).unwrap();
    let error = placed(&file("workspace:\n  path: defs/linked"), None, &root, &trusted()).unwrap_err();
    assert!(error.contains("leads out"), "{error}");
    std::fs::create_dir(root.join("defs/file")).unwrap();
    std::os::unix::fs::symlink(base.path().join("beside/AGENTS.md"), root.join("defs/file/AGENTS.md"))
        .unwrap();
    assert!(placed(&file("workspace:\n  path: defs/file"), None, &root, &trusted()).is_err());
}

#[test]
fn the_operators_word_on_the_mode_stands_over_the_files() {
    let (_base, root) = workspace();
    let word = |word| config::Subagent { workspace: Some(word), ..config::Subagent::default() };
    let of = |table: &config::Subagent| placed(&file("workspace: shared"), Some(table), &root, &trusted());
    assert_eq!(of(&word(WorkspaceWord::Worktree)).unwrap().mode, WorkspaceMode::Worktree);
    let isolated = of(&word(WorkspaceWord::Isolated)).unwrap();
    assert_eq!(isolated.mode, WorkspaceMode::Isolated);
    assert!(isolated.warnings[0].contains("agents/heron/workspace, in which there is nothing yet"));
}

//! The other keys and their defaults.

use std::path::PathBuf;
use std::time::Duration;

use super::*;

#[test]
fn defaults_are_as_documented() {
    let agent = with("").unwrap();
    assert_eq!((agent.id.as_str(), agent.max_turns, agent.session), ("heron", 10, SessionWord::Fresh));
    assert_eq!((agent.workspace, agent.workspace_path.clone()), (WorkspaceMode::Isolated, None));
    assert_eq!(
        (agent.timeout, agent.limits, agent.component.clone()),
        (None, DeclaredLimits::default(), None)
    );
    assert_eq!((agent.model.clone(), agent.tools_raw.clone()), (None, None));
    assert_eq!(claude("---\nname: w\ndescription: x\n---\ny").unwrap().workspace, WorkspaceMode::Shared);
}

#[test]
fn every_key_is_read() {
    let agent = with(
        "model: north:small\nmaxIters: 4\nsession: reuse\ntimeout: 2m\nlimits: {fuel: 5000, memory: 32MiB}\n\
         component: ./bird.wasm\nworkspace:\n  mode: worktree",
    )
    .unwrap();
    assert_eq!((agent.model.as_deref(), agent.max_turns), (Some("north:small"), 4));
    assert_eq!((agent.session, agent.timeout), (SessionWord::Reuse, Some(Duration::from_secs(120))));
    assert_eq!(agent.limits, DeclaredLimits { fuel: Some(5000), memory: Some(32 << 20) });
    assert_eq!(agent.component, Some(PathBuf::from("subagents/./bird.wasm")));
    assert_eq!(agent.workspace, WorkspaceMode::Worktree);
    assert_eq!(agent.warnings, []);
}

#[test]
fn spellings_of_one_key_agree_or_refuse() {
    for keys in ["max_iters: 6", "maxTurns: '6'", "max_turns: 6", "steps: 6\nmaxTurns: 6"] {
        assert_eq!(with(keys).unwrap().max_turns, 6, "{keys}");
    }
    let said = refusal("maxIters: 6\nmaxTurns: 7");
    assert!(said.contains("heron.md:4: `maxTurns`: expected what `maxIters` in line 3 says"), "{said}");
}

#[test]
fn limits_that_cannot_be_read_are_refused_at_their_line() {
    for keys in [
        "max_iters: 0",
        "max_iters: -1",
        "max_iters: lots",
        "max_iters: 2.5",
        "timeout: soon",
        "timeout: 0",
        "limits: 5",
        "limits: {fuel: many}",
        "limits: {threads: 2}",
        "limits: {memory: 1.5GiB}",
        "workspace: ./nest",
        "workspace: {mode: open}",
        "workspace: {mod: shared}",
        "workspace: [shared]",
        "workspace: {path: 3}",
        "session: forever",
        "isolation: vm",
        "workspace: shared\nisolation: worktree",
        "timeout: [1]",
        "max_iters: 1: 2",
    ] {
        let refused = with(keys).unwrap_err();
        assert!(refused.line >= Some(3), "{keys}: {refused}");
    }
}

#[test]
fn a_workspace_has_several_spellings() {
    for keys in ["workspace: shared", "workspace: {mode: Shared}", "workspace.mode: shared"] {
        assert_eq!(with(keys).unwrap().workspace, WorkspaceMode::Shared, "{keys}");
    }
    assert_eq!(with("isolation: worktree").unwrap().workspace, WorkspaceMode::Worktree);
}

#[test]
fn models_are_taken_as_they_stand() {
    for (value, model) in [
        ("inherit", None),
        ("", None),
        ("4.10", Some("4.10")),
        ("'a: b'", Some("a: b")),
        ("007", Some("007")),
        ("[one, two]", Some("one")),
    ] {
        assert_eq!(with(&format!("model: {value}")).unwrap().model.as_deref(), model, "{value}");
    }
}

#[test]
fn names_are_ids_only_for_the_other_format() {
    let text = "---\nname: wader-4.8-expert\ndescription: x\n---\ny";
    assert_eq!(claude(text).unwrap().id, "wader-4.8-expert");
    assert_eq!(subagent(text).unwrap().id, "heron");
    let unnamed = claude("---\ndescription: x\n---\ny").unwrap();
    assert_eq!(unnamed.id, "heron");
    assert!(warnings(&unnamed).contains("`name`"));
    for (name, id) in
        [("../x", "-x"), ("A/B Expert", "A-B Expert"), ("'a\\b'", "a-b"), (".NET Bird", "NET Bird")]
    {
        let agent = claude(&format!("---\nname: {name}\ndescription: x\n---\ny")).unwrap();
        assert!(agent.id == id && agent.warnings[0].line == Some(2), "{agent:?}");
    }
    for name in [".", "..", "\"a\\nb\"", "[a]"] {
        assert!(claude(&format!("---\nname: {name}\ndescription: x\n---\ny")).is_err(), "{name}");
    }
}

#[test]
fn a_description_is_required() {
    for keys in ["tools: [Read]", "description:", "description: ' '", "description: [a, b]"] {
        let refused = claude(&format!("---\nname: wader\n{keys}\n---\ny")).unwrap_err();
        assert!(refused.reason.contains("description") && refused.id == "wader", "{refused}");
    }
}

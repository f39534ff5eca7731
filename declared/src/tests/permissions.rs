//! Rules of other products, and keys without a meaning here.

use super::*;

#[test]
fn rules_that_cannot_be_kept_refuse_the_file() {
    for keys in [
        "permission: deny-all",
        "permissions:\n  bash:\n    '*': deny",
        "hooks:\n  PreToolUse: [x]",
        "deny: [Bash]",
        "permissionMode: plan",
        "permissionMode: plan\ntools: Read, Write",
        "permissionMode: dontAsk",
        "sandbox: read-only",
        "blocked_tools: Bash",
        "tool: Read",
    ] {
        let refused = with(keys).unwrap_err();
        assert!(refused.line == Some(3) && refused.reason.contains("xpected"), "{keys}: {refused}");
    }
}

#[test]
fn rules_that_would_widen_are_warnings() {
    for keys in ["permissionMode: bypassPermissions", "permissionMode: acceptEdits"] {
        let agent = with(&format!("tools: Read\n{keys}")).unwrap();
        assert_eq!(agent.tools, DeclaredTools::Named(vec!["read_file".into()]));
        assert!(warnings(&agent).contains("permissionMode"), "{keys}");
    }
    assert_eq!(with("permissionMode: plan\ntools: Read, Grep\nhooks:").unwrap().warnings, []);
}

#[test]
fn keys_without_a_meaning_are_named() {
    let agent =
        claude("---\nname: w\ndescription: x\nbackground: On\nisolated: no\ncolor: teal\n---\ny").unwrap();
    let said = warnings(&agent);
    assert!(
        said.contains("`background`") && said.contains("`isolated`") && !said.contains("color"),
        "{said}"
    );
    assert_eq!(agent.warnings[1].line, Some(5));
}

//! What every git process is told, whatever the repository's own configuration says. A table and one function.
//! Must not run anything.

/// The whole environment of a git process, but for `PATH` and the overrides. What is absent here is unset.
pub(super) const ENVIRONMENT: &[(&str, &str)] = &[
    ("LANG", "C"),
    ("LC_ALL", "C"),
    ("HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // Set and empty: no protocol is allowed.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_ADVICE", "0"),
    // The reflog wants a name; without these git would ask the resolver for one.
    ("GIT_AUTHOR_NAME", "deputy"),
    ("GIT_AUTHOR_EMAIL", "deputy@localhost"),
    ("GIT_COMMITTER_NAME", "deputy"),
    ("GIT_COMMITTER_EMAIL", "deputy@localhost"),
];

/// Settings that win over the repository's.
pub(super) const OVERRIDES: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("sequence.editor", "false"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", "false"),
    ("core.alternateRefsCommand", ""),
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.quotePath", "false"),
    ("core.safecrlf", "false"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("protocol.allow", "never"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("gpg.program", "false"),
    ("log.showSignature", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// What disarms `key`, a setting that the repository has, where it could name a program under a name of its own
/// choice: a filter, a diff or merge driver, a hook.
pub(super) fn disarmed(key: &str) -> Vec<(String, String)> {
    let Some((section, rest)) = key.split_once('.') else { return Vec::new() };
    let Some((name, variable)) = rest.rsplit_once('.') else { return Vec::new() };
    let empty = || vec![(key.to_owned(), String::new())];
    match (section, variable) {
        ("filter", "clean" | "smudge" | "process") => {
            let mut settings = empty();
            settings.push((format!("filter.{name}.required"), "false".to_owned()));
            settings
        }
        ("diff", "command" | "textconv") | ("merge", "driver") => empty(),
        ("hook", _) => vec![(format!("hook.{name}.enabled"), "false".to_owned())],
        _ => Vec::new(),
    }
}

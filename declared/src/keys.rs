//! The one table of front-matter keys: which meaning a spelling has. Must not look at values.

use super::near::distance;

/// What a key means to this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Name,
    Description,
    Tools,
    DisallowedTools,
    Model,
    MaxTurns,
    Workspace,
    WorkspaceMode,
    WorkspacePath,
    Isolation,
    Session,
    Timeout,
    Limits,
    LimitsFuel,
    LimitsMemory,
    Component,
    Url,
    /// Rules of another product that this host cannot keep, such as `permission`.
    Permission,
    PermissionMode,
    Hooks,
    /// For people and catalogues; without effect in any product.
    Decoration,
    /// Has an effect in another product and none here.
    Foreign,
    /// Not in the table.
    Unknown,
    /// Not in the table, and so like a restriction that passing over it could widen what the agent may do.
    Suspicious,
}

/// Spellings as [`fold`] leaves them.
const KEYS: &[(Key, &[&str])] = &[
    (Key::Name, &["name"]),
    (Key::Description, &["description"]),
    (Key::Tools, &["tools", "allowedtools"]),
    (Key::DisallowedTools, &["disallowedtools"]),
    (Key::Model, &["model"]),
    (Key::MaxTurns, &["maxturns", "maxiters", "maxiterations", "maxsteps", "steps"]),
    (Key::Workspace, &["workspace"]),
    (Key::WorkspaceMode, &["workspace.mode"]),
    (Key::WorkspacePath, &["workspace.path"]),
    (Key::Isolation, &["isolation"]),
    (Key::Session, &["session"]),
    (Key::Timeout, &["timeout", "timeoutseconds"]),
    (Key::Limits, &["limits"]),
    (Key::LimitsFuel, &["limits.fuel"]),
    (Key::LimitsMemory, &["limits.memory"]),
    (Key::Component, &["component"]),
    (Key::Url, &["url"]),
    (Key::Permission, &["permission", "permissions", "sandbox", "sandboxmode", "allow", "ask", "deny"]),
    (Key::PermissionMode, &["permissionmode"]),
    (Key::Hooks, &["hooks"]),
    (
        Key::Decoration,
        &[
            "aliases", "author", "category", "color", "colour", "emoji", "icon", "id", "license", "tags",
            "title", "type", "version", "vibe",
        ],
    ),
    (
        Key::Foreign,
        &[
            "agents",
            "argumenthint",
            "background",
            "capabilities",
            "dependencies",
            "disable",
            "disablemodelinvocation",
            "effort",
            "handoffs",
            "headers",
            "hidden",
            "infer",
            "initialprompt",
            "inheritprojectcontext",
            "inheritskills",
            "mcpservers",
            "memory",
            "metadata",
            "mode",
            "output",
            "reasoningeffort",
            "services",
            "skills",
            "systempromptmode",
            "target",
            "temperature",
            "thinking",
            "topp",
            "userinvocable",
            "variant",
        ],
    ),
];

/// Meanings that limit what an agent may do. Where one of these cannot be read, the file is refused.
const RESTRICTIONS: &[Key] = &[
    Key::Tools,
    Key::DisallowedTools,
    Key::MaxTurns,
    Key::Workspace,
    Key::WorkspaceMode,
    Key::WorkspacePath,
    Key::Isolation,
    Key::Session,
    Key::Timeout,
    Key::Limits,
    Key::LimitsFuel,
    Key::LimitsMemory,
    Key::Permission,
    Key::PermissionMode,
    Key::Hooks,
    Key::Suspicious,
];

/// The key that brings in the keys of another map, out of sight.
pub(super) const MERGE: &str = "<<";

/// What the key `written` means, whatever its case and its hyphens.
pub(super) fn meaning(written: &str) -> Key {
    if written == MERGE {
        return Key::Suspicious;
    }
    let folded = fold(written);
    let listed = KEYS.iter().find(|(_, spellings)| spellings.contains(&folded.as_str())).map(|(key, _)| *key);
    listed.unwrap_or_else(|| if like_a_restriction(&folded) { Key::Suspicious } else { Key::Unknown })
}

/// Whether `key` limits what an agent may do.
pub(super) fn restricts(key: Key) -> bool {
    RESTRICTIONS.contains(&key)
}

/// Lower case, and only what is no mark, blank or invisible character; the dot is kept for `workspace.mode`.
pub(super) fn fold(written: &str) -> String {
    written.chars().filter(|c| c.is_alphanumeric() || *c == '.').flat_map(char::to_lowercase).collect()
}

fn like_a_restriction(folded: &str) -> bool {
    ["tool", "permission", "sandbox", "allow", "deny", "denied", "timeout", "workspace", "limits"]
        .iter()
        .any(|part| folded.contains(part))
        || ["tools", "workspace", "limits", "timeout", "isolation", "maxturns", "maxiters", "permission"]
            .iter()
            .any(|word| distance(folded, word) == 1)
        || ["disallowedtools", "allowedtools"].iter().any(|word| distance(folded, word) <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_key_have_one_meaning() {
        for written in ["tools", "Tools", "TOOLS", "allowed-tools", "allowedTools", "to\u{200b}ols"] {
            assert_eq!(meaning(written), Key::Tools, "{written}");
        }
        for written in ["max_iters", "maxIters", "maxTurns", "max-turns"] {
            assert_eq!(meaning(written), Key::MaxTurns, "{written}");
        }
        assert_eq!(meaning("workspace.mode"), Key::WorkspaceMode);
    }

    #[test]
    fn a_mistyped_restriction_is_suspicious_and_an_odd_key_is_not() {
        for written in
            ["tolls", "tool", "tolos", "disalowed_tools", "toolset", "workspaces", "limit", "blocked-tools"]
        {
            assert_eq!(meaning(written), Key::Suspicious, "{written}");
        }
        for written in ["goals", "isolated", "user", "rules", "complexity"] {
            assert_eq!(meaning(written), Key::Unknown, "{written}");
        }
    }
}

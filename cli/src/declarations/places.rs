//! The directories in which agent files are looked for, the strongest first. Must not read a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use deputy_declared::Format;

/// Where a workspace has its agent files.
const PROJECT: &str = "subagents";

/// Where it has those of other products.
const OTHERS: &str = ".claude/agents";

/// Who named a directory, which decides how much of its files counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The operator, on the command line.
    Flag,
    /// The operator, in a configuration that counts.
    Setting,
    /// Nobody: it is the workspace's own.
    Project,
    /// The user, by having it.
    User,
}

/// A directory of agent files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) directory: PathBuf,
    pub(crate) format: Format,
    pub(crate) origin: Origin,
    /// Whether a run in the workspace, or whoever made the workspace, could have written it.
    pub(crate) in_workspace: bool,
}

impl Place {
    /// The command that trusts its files.
    pub(super) fn remedy(&self, root: &Path) -> String {
        let at = self.directory.canonicalize();
        let known = |path: &PathBuf| *path == root.join(PROJECT) || *path == root.join(OTHERS);
        match self.origin {
            Origin::Flag if !at.is_ok_and(|path| known(&path)) => {
                format!("deputy trust {} --agents {}", root.display(), self.directory.display())
            }
            Origin::Flag | Origin::Setting | Origin::Project | Origin::User => {
                format!("deputy trust {}", root.display())
            }
        }
    }
}

/// The directories of a run in `workspace`: those of the command line, those of the configuration, the workspace's
/// own, the user's. None twice. `root` is the workspace's canonical path.
///
/// # Errors
/// Where the command line names what is no directory.
pub(crate) fn all(
    flags: &[PathBuf],
    settings: &[PathBuf],
    workspace: &Path,
    root: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Vec<Place>> {
    let mut places = Vec::new();
    for directory in flags {
        if !directory.is_dir() {
            bail!("--agents {}: expected a directory of agent files, there is none", directory.display());
        }
        places.push(place(directory.clone(), Format::ClaudeAgents, Origin::Flag, root));
    }
    let settings = settings.iter().cloned();
    places.extend(settings.map(|directory| place(directory, Format::ClaudeAgents, Origin::Setting, root)));
    places.extend(of_workspace(workspace, root).into_iter().take(1));
    places.extend(of_user(variable).map(|directory| place(directory, Format::Subagents, Origin::User, root)));
    let mut seen = std::collections::HashSet::new();
    places.retain(|place| {
        seen.insert(place.directory.canonicalize().unwrap_or_else(|_| place.directory.clone()))
    });
    Ok(places)
}

/// The directories that a workspace may have: its own, and that of other products, which is read on request.
pub(crate) fn of_workspace(workspace: &Path, root: &Path) -> [Place; 2] {
    let shown = if workspace == Path::new(".") { PathBuf::new() } else { workspace.to_owned() };
    [
        place(shown.join(PROJECT), Format::Subagents, Origin::Project, root),
        place(shown.join(OTHERS), Format::ClaudeAgents, Origin::Flag, root),
    ]
}

fn place(directory: PathBuf, format: Format, origin: Origin, root: &Path) -> Place {
    let named = std::path::absolute(&directory).is_ok_and(|path| path.starts_with(root));
    let is = directory.canonicalize().is_ok_and(|path| path.starts_with(root));
    Place { directory, format, origin, in_workspace: named || is }
}

/// The user's own directory. A relative path in a variable counts as none.
fn of_user(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(base.join("deputy").join(PROJECT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_comes_first_and_none_twice() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().canonicalize().unwrap().join("w");
        let user = base.path().join("config/deputy/subagents");
        let flag = root.join(".claude/agents");
        for directory in [&flag, &user, &root.join("subagents"), &root.join("set")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        let variable = |name: &str| match name {
            "XDG_CONFIG_HOME" => Some(base.path().join("config").into_os_string()),
            _ => None,
        };
        let flags = [flag.clone(), root.join("subagents/../.claude/agents")];
        let found = all(&flags, &[root.join("set")], &root, &root, variable).unwrap();
        let seen: Vec<_> = found.iter().map(|place| (place.directory.clone(), place.origin)).collect();
        let wanted = [
            (flag, Origin::Flag),
            (root.join("set"), Origin::Setting),
            (root.join("subagents"), Origin::Project),
            (user, Origin::User),
        ];
        assert_eq!(seen, wanted);
        let inside: Vec<bool> = found.iter().map(|place| place.in_workspace).collect();
        assert_eq!(inside, [true, true, true, false]);
        let error = all(&[root.join("none")], &[], &root, &root, variable).unwrap_err().to_string();
        assert!(error.contains("none") && error.contains("--agents"), "{error}");
    }

    #[test]
    fn a_link_out_of_the_workspace_is_still_a_place_in_it() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().canonicalize().unwrap().join("w");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(base.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(base.path().join("elsewhere"), root.join("subagents")).unwrap();
        assert!(place(root.join("subagents"), Format::Subagents, Origin::Flag, &root).in_workspace);
        assert!(!place(base.path().join("elsewhere"), Format::Subagents, Origin::Flag, &root).in_workspace);
    }
}

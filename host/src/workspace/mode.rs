//! Which directory a subagent's run gets, made from the one of the run that delegates. Must not hand out anything above
//! that one, unless the operator named the directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::MetadataExt as _;

use super::Workspace;
use crate::worktree::{Finished, Worktree, WorktreeError, Worktrees};

/// Where a subagent works. What is not in its directory is not forbidden to it: it is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkspaceMode {
    /// In the directory of the run that delegates.
    #[default]
    Shared,
    /// In `agents/NAME/workspace` below that directory, made on demand and kept.
    Isolated,
    /// In this directory below that one, which has to exist.
    Inside(PathBuf),
    /// In this directory, wherever it is. For the operator to say, never for a declaration file.
    At(PathBuf),
    /// In a git worktree of its own, for each delegation a new one. What is done in it comes back as a diff and stays
    /// there until somebody applies or discards it.
    Worktree,
}

/// The directory of one delegation's runs.
#[derive(Debug)]
pub struct Opened {
    workspace: Arc<Workspace>,
    worktree: Option<(Worktrees, Worktree)>,
}

/// What a delegation left in a worktree of its own.
#[derive(Debug)]
pub struct Left {
    /// What became of the worktree.
    pub finished: Finished,
    /// What was not in it from the start, if there is something to say.
    pub note: Option<String>,
}

/// Why a subagent has no directory to work in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModeError {
    /// A name or a path that leads elsewhere.
    #[error("{what} does not name a directory inside the workspace; expected a relative path without `..`")]
    Outside {
        /// What was given.
        what: String,
    },
    /// A link stands in the way: what it leads to is not what was named.
    #[error("{} is reached through a symbolic link; replace the link by a directory", path.display())]
    Link {
        /// The directory that was named.
        path: PathBuf,
    },
    /// It is not there, or cannot be made.
    #[error("cannot use {} as the workspace of a subagent: {source}", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no worktree to be had.
    #[error("no worktree for the subagent: {0}")]
    Worktree(#[from] WorktreeError),
}

impl Opened {
    /// The directory.
    #[must_use]
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Ends the use of the directory once nothing runs in it any more. Of a worktree: removed where nothing was done
    /// in it, else kept, with a diff of at most `cap_bytes`.
    ///
    /// # Errors
    /// [`WorktreeError`] where what was done cannot be told; the worktree is kept then.
    pub async fn end(self, cap_bytes: usize) -> Result<Option<Left>, WorktreeError> {
        let Some((worktrees, worktree)) = self.worktree else { return Ok(None) };
        // Nothing may hold it open while it is compared or removed.
        drop(self.workspace);
        let note = worktree.note.clone();
        Ok(Some(Left { finished: worktrees.finish(worktree, cap_bytes).await?, note }))
    }
}

impl WorkspaceMode {
    /// The directory of a run of `agent` that was delegated to from `above`.
    ///
    /// # Errors
    /// [`ModeError`]; never the directory above in place of the one that was meant.
    pub async fn open(&self, agent: &str, above: &Arc<Workspace>) -> Result<Opened, ModeError> {
        if *self == Self::Worktree {
            let worktrees = Worktrees::open(above.path()).await?;
            let worktree = worktrees.create(agent).await?;
            let path = &worktree.working_directory;
            let workspace = Workspace::open(path).map_err(|error| unusable(path)(error.source))?;
            return Ok(Opened { workspace: Arc::new(workspace), worktree: Some((worktrees, worktree)) });
        }
        Ok(Opened { workspace: self.directory(agent, above)?, worktree: None })
    }

    fn directory(&self, agent: &str, above: &Arc<Workspace>) -> Result<Arc<Workspace>, ModeError> {
        match self {
            Self::Shared | Self::Worktree => Ok(above.clone()),
            Self::Isolated => {
                let inside = home_of(agent)?;
                above.root().create_dir_all(&inside).map_err(unusable(&above.path().join(&inside)))?;
                inner(above, &inside)
            }
            Self::Inside(path) => inner(above, &plain(path)?),
            Self::At(path) => {
                let opened = Workspace::open(path).map_err(|error| unusable(path)(error.source))?;
                Ok(Arc::new(opened))
            }
        }
    }
}

/// `agents/NAME/workspace`, where the name is one plain part of a path.
fn home_of(agent: &str) -> Result<PathBuf, ModeError> {
    let name = plain(Path::new(agent))?;
    if name.components().count() != 1 {
        return Err(ModeError::Outside { what: format!("the name `{agent}`") });
    }
    Ok(Path::new("agents").join(name).join("workspace"))
}

/// A path of nothing but names.
fn plain(path: &Path) -> Result<PathBuf, ModeError> {
    use std::path::Component::{CurDir, Normal};
    let outside = || ModeError::Outside { what: format!("`{}`", path.display()) };
    let mut names = PathBuf::new();
    for part in path.components() {
        match part {
            Normal(name) => names.push(name),
            CurDir => {}
            _ => return Err(outside()),
        }
    }
    if names.as_os_str().is_empty() { Err(outside()) } else { Ok(names) }
}

fn inner(above: &Workspace, inside: &Path) -> Result<Arc<Workspace>, ModeError> {
    let path = above.path().join(inside);
    let root = above.root().open_dir(inside).map_err(unusable(&path))?;
    // Commands start by the path: it has to be the directory that was opened, and no link in it.
    if path.canonicalize().map_err(unusable(&path))? != path {
        return Err(ModeError::Link { path });
    }
    let by_path = std::fs::metadata(&path).map_err(unusable(&path))?;
    let opened = root.dir_metadata().map_err(unusable(&path))?;
    if (std::os::unix::fs::MetadataExt::dev(&by_path), std::os::unix::fs::MetadataExt::ino(&by_path))
        != (opened.dev(), opened.ino())
    {
        return Err(ModeError::Link { path });
    }
    Ok(Arc::new(Workspace { root, path }))
}

fn unusable(path: &Path) -> impl Fn(std::io::Error) -> ModeError {
    let path = path.to_owned();
    move |source| ModeError::Unusable { path: path.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> (tempfile::TempDir, Arc<Workspace>) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("main")).unwrap();
        let workspace = Arc::new(Workspace::open(&directory.path().join("main")).unwrap());
        (directory, workspace)
    }

    #[test]
    fn an_isolated_subagent_has_a_directory_of_its_own_that_is_made_on_demand() {
        let (_directory, main) = workspace();
        let own = WorkspaceMode::Isolated.directory("tide-4.8", &main).unwrap();
        assert_eq!(own.path(), main.path().join("agents/tide-4.8/workspace"));
        std::fs::write(own.path().join("note"), "x").unwrap();
        let again = WorkspaceMode::Isolated.directory("tide-4.8", &main).unwrap();
        assert!(again.root().exists("note"), "it is kept");
        assert_eq!(WorkspaceMode::Shared.directory("any", &main).unwrap().path(), main.path());
    }

    #[test]
    fn no_name_and_no_path_leads_out_of_the_directory_above() {
        let (directory, main) = workspace();
        std::fs::create_dir_all(directory.path().join("elsewhere/workspace")).unwrap();
        for name in ["..", ".", "", "../elsewhere", "/etc", "a/b"] {
            assert!(WorkspaceMode::Isolated.directory(name, &main).is_err(), "{name:?}");
        }
        for path in ["..", "../elsewhere", "/etc", "", ".", "missing"] {
            assert!(WorkspaceMode::Inside(path.into()).directory("a", &main).is_err(), "{path:?}");
        }
        // A link that leads out, and one that stays inside: neither is what was named.
        std::os::unix::fs::symlink("../elsewhere", main.path().join("out")).unwrap();
        std::fs::create_dir_all(main.path().join("docs/workspace")).unwrap();
        std::os::unix::fs::symlink("docs", main.path().join("in")).unwrap();
        for path in ["out", "out/workspace", "in", "in/workspace"] {
            assert!(WorkspaceMode::Inside(path.into()).directory("a", &main).is_err(), "{path:?}");
        }
        std::fs::create_dir(main.path().join("agents")).unwrap();
        std::os::unix::fs::symlink("../../elsewhere", main.path().join("agents/linked")).unwrap();
        assert!(WorkspaceMode::Isolated.directory("linked", &main).is_err());
        assert!(WorkspaceMode::Inside("docs".into()).directory("a", &main).is_ok());
    }

    #[test]
    fn what_the_operator_names_is_used_wherever_it_is() {
        let (directory, main) = workspace();
        let elsewhere = directory.path().join("elsewhere");
        assert!(WorkspaceMode::At(elsewhere.clone()).directory("a", &main).is_err(), "it is not made");
        std::fs::create_dir(&elsewhere).unwrap();
        let opened = WorkspaceMode::At(elsewhere.clone()).directory("a", &main).unwrap();
        assert_eq!(opened.path(), elsewhere.canonicalize().unwrap());
    }
}

//! Finds the file that a write is to replace: the path is walked one name at a time on open directories,
//! links are resolved here and never by the system, so what was checked is what is written.
//! Must not write content.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, Metadata};

use super::blocking::going_on;
use super::open::{identity, regular};
use super::path::{WorkspacePath, io_error, openable};
use super::{CallContext, ToolError};

mod protected;

use protected::Protected;

/// Links that one path may lead through; what Linux takes.
const MOST_LINKS: u32 = 40;

/// Whether a write makes what is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Directories on the way are made, the file may be new.
    Make,
    /// The file has to exist.
    Refuse,
}

/// A place for a file: an open directory of the workspace and a name in it that is no link.
#[derive(Debug)]
pub(super) struct Target {
    /// The directory.
    pub(super) parent: Dir,
    /// Where the directory is, relative to the workspace root, all links resolved.
    pub(super) parent_path: PathBuf,
    /// The name in it.
    pub(super) name: OsString,
    /// The path as it was asked for.
    pub(super) asked: WorkspacePath,
    /// The file that is there, none where it is new.
    pub(super) existing: Option<Metadata>,
}

impl Target {
    /// Resolves `asked`.
    ///
    /// # Errors
    /// Where it leads out of the workspace, to something that is no regular file, or to what belongs to the
    /// operator; [`ToolError::NotFound`] where it is missing and `missing` says to refuse that.
    pub(super) fn resolve(
        context: &CallContext,
        asked: &WorkspacePath,
        missing: Missing,
    ) -> Result<Self, ToolError> {
        if asked.names_directory() {
            let name = asked.shown();
            return Err(ToolError::InvalidArguments(format!(
                "`{name}` names a directory; give the path of a file"
            )));
        }
        let root = context.workspace.root();
        Protected::check_words(asked.prefix(), asked)?;
        let mut walker = Walker { root, asked, stack: Vec::new(), links: 0 };
        let mut pending: VecDeque<OsString> = parts(asked.prefix()).collect();
        while let Some(part) = pending.pop_front() {
            if part == ".." {
                walker.up()?;
                continue;
            }
            let metadata = walker.look(&part)?;
            match metadata {
                Some(metadata) if metadata.is_symlink() => {
                    let target = walker.read_link(&part)?;
                    Protected::check_words(&target, asked)?;
                    for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                        pending.push_front(part);
                    }
                    if pending.is_empty() {
                        return Err(walker.directory_error());
                    }
                }
                Some(metadata) if pending.is_empty() => {
                    regular(&metadata, asked.as_path())?;
                    return walker.finish(part, Some(metadata));
                }
                Some(_) => walker.down(part)?,
                None if missing == Missing::Refuse => {
                    return Err(walker.failed(&io::ErrorKind::NotFound.into()));
                }
                None if pending.is_empty() => return walker.finish(part, None),
                None => {
                    // Everything is known of the rest of the path here: it is made whole or not at all.
                    if pending.iter().any(|part| part == "..") {
                        return Err(walker.failed(&io::ErrorKind::NotFound.into()));
                    }
                    Protected::check_identity(root, &walker.stack, None, asked)?;
                    going_on(context)?;
                    walker.make(&part)?;
                    walker.down(part)?;
                }
            }
        }
        Err(walker.directory_error())
    }

    /// The path of the file, relative to the workspace root, all links resolved.
    pub(super) fn path(&self) -> PathBuf {
        self.parent_path.join(&self.name)
    }
}

/// The names of a path and its `..`, in order.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

/// The directories from the workspace root down to where the walk is, each open.
struct Walker<'a> {
    root: &'a Dir,
    asked: &'a WorkspacePath,
    stack: Vec<(OsString, Dir)>,
    links: u32,
}

impl Walker<'_> {
    fn here(&self) -> &Dir {
        self.stack.last().map_or(self.root, |(_, dir)| dir)
    }

    fn failed(&self, error: &io::Error) -> ToolError {
        io_error("write", self.asked.as_path(), error)
    }

    fn outside(&self) -> ToolError {
        // As the open directory reports it: without an error number.
        self.failed(&io::Error::new(io::ErrorKind::PermissionDenied, "outside"))
    }

    fn directory_error(&self) -> ToolError {
        ToolError::Failed(format!("`{}` is a directory, not a file", self.asked.shown()))
    }

    fn up(&mut self) -> Result<(), ToolError> {
        if self.stack.pop().is_none() { Err(self.outside()) } else { Ok(()) }
    }

    fn look(&self, name: &OsStr) -> Result<Option<Metadata>, ToolError> {
        match self.here().symlink_metadata(name) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn read_link(&mut self, name: &OsStr) -> Result<PathBuf, ToolError> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(self.failed(&rustix::io::Errno::LOOP.into()));
        }
        let target = self.here().read_link_contents(name).map_err(|error| self.failed(&error))?;
        if target.has_root() { Err(self.outside()) } else { Ok(target) }
    }

    fn down(&mut self, name: OsString) -> Result<(), ToolError> {
        let dir = self.here().open_dir_nofollow(&name).map_err(|error| self.failed(&error))?;
        self.stack.push((name, dir));
        Ok(())
    }

    fn make(&self, name: &OsStr) -> Result<(), ToolError> {
        match self.here().create_dir(name) {
            // Another writer was faster; it will be opened as what it is.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(|error| self.failed(&error)),
        }
    }

    fn finish(self, name: OsString, existing: Option<Metadata>) -> Result<Target, ToolError> {
        Protected::check_identity(self.root, &self.stack, existing.as_ref().map(identity), self.asked)?;
        let parent_path: PathBuf = self.stack.iter().map(|(name, _)| name).collect();
        let parent = self.here().try_clone().map_err(|error| self.failed(&error))?;
        Ok(Target { parent, parent_path, name, asked: self.asked.clone(), existing })
    }
}

/// The open directory at `path`, relative to `root`, or none where it cannot be looked at.
pub(super) fn identity_of(root: &Dir, path: &Path) -> Option<super::open::Identity> {
    root.metadata(openable(path)).ok().as_ref().map(identity)
}

#[cfg(test)]
mod tests;

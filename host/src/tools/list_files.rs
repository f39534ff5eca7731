//! `list_files`: what is directly in a directory. Must not look below it, and follows no link in it.

use std::collections::BinaryHeap;
use std::ffi::OsString;

use async_trait::async_trait;
use cap_std::fs::FileType;
use deputy_contract::{ListFiles, render};

use super::blocking::{blocking, going_on};
use super::path::{WorkspacePath, io_error, shown};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The built-in `list_files`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListFilesTool;

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it leads to.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path relative to the workspace root; escaped and in double quotes where it cannot be shown as it is.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes; 0 for what is not a file.
    pub size: u64,
}

/// What is directly in a directory, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The entries, hidden ones included.
    pub entries: Vec<Entry>,
    /// True where a cap cut the list.
    pub cut: bool,
}

#[async_trait]
impl Operation for ListFilesTool {
    type Arguments = ListFiles;
    type Output = Listing;
    const EFFECT: Effect = Effect::Read;

    async fn run(&self, permit: Permit<ListFiles>, context: &CallContext) -> Result<Listing, ToolError> {
        let arguments = permit.into_arguments();
        blocking(context, move |context| list(context, &arguments)).await
    }

    fn render(&self, listing: Listing) -> String {
        let entries = listing.entries.iter().map(|entry| {
            let kind = match entry.kind {
                EntryKind::File => render::EntryKind::File(entry.size),
                EntryKind::Directory => render::EntryKind::Directory,
                EntryKind::Symlink => render::EntryKind::Symlink,
                EntryKind::Other => render::EntryKind::Other,
            };
            (entry.path.as_str(), kind)
        });
        render::listing(entries, listing.cut)
    }
}

/// Bytes that a line says beside the path: what the entry is, and how large.
const BESIDE_PATH: usize = 32;

fn list(context: &CallContext, arguments: &ListFiles) -> Result<Listing, ToolError> {
    let path = WorkspacePath::parse(&arguments.path, &context.workspace)?;
    let root = context.workspace.root();
    let failed = |error: std::io::Error| io_error("list", path.as_path(), &error);
    if !root.metadata(path.as_path()).map_err(failed)?.is_dir() {
        let name = path.shown();
        return Err(ToolError::Failed(format!(
            "`{name}` is not a directory; read_file shows what is in a file"
        )));
    }
    let dir = root.open_dir(path.as_path()).map_err(failed)?;

    // Only the first names are kept, so that a directory of any size costs no more than the cap.
    let most = context.limits.items.max(1);
    let mut first: BinaryHeap<OsString> = BinaryHeap::new();
    let mut cut = false;
    for entry in dir.entries().map_err(failed)? {
        going_on(context)?;
        first.push(entry.map_err(failed)?.file_name());
        if first.len() > most {
            first.pop();
            cut = true;
        }
    }

    let mut entries = Vec::with_capacity(first.len());
    let mut bytes = 0_usize;
    for name in first.into_sorted_vec() {
        going_on(context)?;
        // What is gone by now is not in the directory.
        let Ok(metadata) = dir.symlink_metadata(&name) else { continue };
        let kind = kind(metadata.file_type());
        let size = if kind == EntryKind::File { metadata.len() } else { 0 };
        let entry = Entry { path: shown(&path.prefix().join(&name)), kind, size };
        bytes += entry.path.len() + BESIDE_PATH;
        if bytes > context.limits.result_bytes && !entries.is_empty() {
            cut = true;
            break;
        }
        entries.push(entry);
    }
    Ok(Listing { entries, cut })
}

fn kind(kind: FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Directory
    } else if kind.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Other
    }
}

#[cfg(test)]
mod tests;

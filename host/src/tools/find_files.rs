//! `find_files`: paths of files that match a glob. Must not look into files.

use std::ops::ControlFlow;

use async_trait::async_trait;
use deputy_contract::{FindFiles, render};

use super::blocking::blocking;
use super::glob::PathGlob;
use super::path::{WorkspacePath, io_error, shown};
use super::walk::{not_a_directory, walk};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The built-in `find_files`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FindFilesTool;

/// Files that match a glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPaths {
    /// Paths relative to the workspace root, sorted; escaped and in double quotes where one cannot be shown
    /// as it is.
    pub paths: Vec<String>,
    /// True where a cap cut the list.
    pub cut: bool,
    /// What was not looked into, in words; empty where nothing was left out.
    pub note: String,
}

#[async_trait]
impl Operation for FindFilesTool {
    type Arguments = FindFiles;
    type Output = FoundPaths;
    const EFFECT: Effect = Effect::Read;

    async fn run(&self, permit: Permit<FindFiles>, context: &CallContext) -> Result<FoundPaths, ToolError> {
        let arguments = permit.into_arguments();
        blocking(context, move |context| find(context, &arguments)).await
    }

    fn render(&self, found: FoundPaths) -> String {
        render::paths(found.paths.iter().map(String::as_str), found.cut, &found.note)
    }
}

fn find(context: &CallContext, arguments: &FindFiles) -> Result<FoundPaths, ToolError> {
    let glob = PathGlob::parse(&arguments.glob)?;
    let start = under(context, arguments.under.as_deref())?;
    let metadata = context.workspace.root().metadata(start.as_path());
    if !metadata.map_err(|error| io_error("search", start.as_path(), &error))?.is_dir() {
        return Err(not_a_directory(&start));
    }
    let (mut paths, mut cut, mut bytes) = (Vec::new(), false, 0_usize);
    let notes = walk(context, &start, &mut |file| {
        if !glob.matches(file.below) {
            return Ok(ControlFlow::Continue(()));
        }
        let path = shown(file.path);
        bytes += path.len() + 1;
        let full = paths.len() >= context.limits.items || bytes > context.limits.result_bytes;
        if full && !paths.is_empty() {
            cut = true;
            return Ok(ControlFlow::Break(()));
        }
        paths.push(path);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(FoundPaths { paths, cut, note: notes.into_text() })
}

/// The place to search, the root where none was named. Some models send an empty text for none.
pub(super) fn under(context: &CallContext, under: Option<&str>) -> Result<WorkspacePath, ToolError> {
    match under {
        None | Some("") => Ok(WorkspacePath::root()),
        Some(text) => WorkspacePath::parse(text, &context.workspace),
    }
}

#[cfg(test)]
mod tests;

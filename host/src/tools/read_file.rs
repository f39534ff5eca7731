//! `read_file`: a part of a text file as a model reads it. Must not change anything.

use async_trait::async_trait;
use deputy_contract::{ReadFile, render};

use super::blocking::blocking;
use super::open::{Content, read_regular};
use super::path::WorkspacePath;
use super::text::{head, view};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The built-in `read_file`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFileTool;

/// A part of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The lines, every line end a line feed.
    pub text: String,
    /// 1-based number of the first line in `text`.
    pub first_line: u32,
    /// Lines in the file, or in as much of it as is read at all.
    pub total_lines: u32,
    /// True where a size cap cut the text.
    pub cut: bool,
    /// 1-based number of the last line in `text`; one less than `first_line` where there is none.
    pub last_line: u32,
    /// What sets the text apart from the file (another encoding, a cut); empty where nothing does.
    pub note: String,
}

#[async_trait]
impl Operation for ReadFileTool {
    type Arguments = ReadFile;
    type Output = Page;
    const EFFECT: Effect = Effect::Read;

    async fn run(&self, permit: Permit<ReadFile>, context: &CallContext) -> Result<Page, ToolError> {
        let arguments = permit.into_arguments();
        blocking(context, move |context| {
            let path = WorkspacePath::parse(&arguments.path, &context.workspace)?;
            let root = context.workspace.root();
            let content = read_regular(context, root, path.as_path(), path.as_path())?;
            page(&content, &path.shown(), &arguments, context.limits.result_bytes)
        })
        .await
    }

    fn render(&self, page: Page) -> String {
        render::page(&page.text, page.first_line, page.last_line, page.total_lines, &page.note)
    }
}

/// Cuts the asked lines out of a file.
fn page(content: &Content, name: &str, asked: &ReadFile, cap: usize) -> Result<Page, ToolError> {
    if asked.max_lines == Some(0) {
        return Err(ToolError::InvalidArguments("`max_lines` is 0; give at least 1, or leave it out".into()));
    }
    let size = content.size.max(content.bytes.len() as u64);
    let Some(view) = view(&content.bytes, content.whole) else {
        return Err(ToolError::Failed(format!(
            "`{name}` is a binary file of {size} bytes; read_file shows text only"
        )));
    };
    let total_lines = number(view.text.split_inclusive('\n').count());
    // Some models count from 0; there is nothing else that they could mean.
    let first_line = asked.first_line.unwrap_or(1).max(1);
    let read_part = format!("only the first {} of {size} bytes of the file are read", content.bytes.len());
    if first_line > total_lines.max(1) {
        let part = if content.whole { String::new() } else { format!(" ({read_part})") };
        return Err(ToolError::InvalidArguments(format!(
            "`{name}` has {total_lines} lines{part}; `first_line` is {first_line}"
        )));
    }

    let mut text = String::new();
    let mut notes = Vec::new();
    let mut cut = !content.whole;
    let mut last_line = first_line.saturating_sub(1);
    let most = asked.max_lines.map_or(usize::MAX, |lines| lines as usize);
    for line in view.text.split_inclusive('\n').skip(first_line as usize - 1).take(most) {
        if text.len() + line.len() > cap {
            cut = true;
            if text.is_empty() {
                let shown = head(line, cap);
                text.push_str(shown);
                last_line += 1;
                let hidden = line.trim_end_matches('\n').len().saturating_sub(shown.len());
                notes.push(format!("line {last_line} is cut: its last {hidden} bytes are hidden"));
            }
            break;
        }
        text.push_str(line);
        last_line += 1;
    }
    if !view.note.is_empty() {
        notes.push(view.note);
    }
    if !content.whole {
        notes.push(format!("{read_part}; grep_files finds lines in it, a command can print the rest"));
    }
    let note = notes.join("; ");
    Ok(Page { text, first_line, last_line, total_lines, cut, note })
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;

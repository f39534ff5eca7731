//! `write_file`: makes a file or replaces all of its content. Must not keep any part of the old text.

use async_trait::async_trait;
use deputy_contract::{WriteFile, render};

use super::blocking::blocking;
use super::open::Content;
use super::path::{WorkspacePath, shown};
use super::target::{Missing, Target};
use super::text::{Encoding, LineEnds, UTF8_MARK};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

/// The built-in `write_file`.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteFileTool;

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes now in the file.
    pub bytes: u64,
    /// True where the file did not exist before.
    pub created: bool,
    /// Anything worth knowing, in words; empty where there is nothing.
    pub note: String,
}

#[async_trait]
impl Operation for WriteFileTool {
    type Arguments = WriteFile;
    type Output = Written;
    const EFFECT: Effect = Effect::Write;

    async fn run(&self, permit: Permit<WriteFile>, context: &CallContext) -> Result<Written, ToolError> {
        let arguments = permit.into_arguments();
        blocking(context, move |context| write(context, &arguments)).await
    }

    fn render(&self, written: Written) -> String {
        render::written(written.bytes, written.created, &written.note)
    }
}

fn write(context: &CallContext, arguments: &WriteFile) -> Result<Written, ToolError> {
    let path = WorkspacePath::parse(&arguments.path, &context.workspace)?;
    let target = Target::resolve(context, &path, Missing::Make)?;
    let _turn = target.turn(context)?;
    let old = target.read(context)?;
    let mut notes = Vec::new();
    let mut bytes = arguments.content.as_bytes().to_vec();
    if let Some(old) = &old {
        let encoding = Encoding::of(&old.bytes, old.whole);
        if encoding == Encoding::Utf8Marked && !bytes.starts_with(UTF8_MARK) {
            bytes.splice(0..0, UTF8_MARK.iter().copied());
            notes.push("the byte order mark of the file was kept".to_owned());
        }
        notes.extend(changes(old, encoding, &arguments.content));
    }
    if target.path() != target.asked.prefix() {
        notes
            .push(format!("the path leads through a link to `{}`, which was written", shown(&target.path())));
    }
    match target.other_names() {
        0 => {}
        1 => notes.push("the file has another name (a hard link), which keeps the old content".to_owned()),
        more => {
            notes.push(format!("the file has {more} other names (hard links), which keep the old content"))
        }
    }
    target.replace(context, &bytes, None)?;
    Ok(Written { bytes: bytes.len() as u64, created: old.is_none(), note: notes.join("; ") })
}

/// What the new content changes beside the text.
fn changes(old: &Content, encoding: Encoding, new: &str) -> Vec<String> {
    let mut said = Vec::new();
    let line_ends = match encoding {
        Encoding::Utf16Le | Encoding::Utf16Be => {
            said.push(format!("the file was {} and is UTF-8 now", encoding.name()));
            LineEnds::of(super::text::decode_utf16(&old.bytes, encoding).0.as_bytes())
        }
        Encoding::Binary | Encoding::Unknown => {
            said.push(format!("the file was {} and is UTF-8 now", encoding.name()));
            LineEnds::of(&old.bytes)
        }
        Encoding::Utf8 | Encoding::Utf8Marked => LineEnds::of(&old.bytes),
    };
    match (line_ends, LineEnds::of(new.as_bytes())) {
        (LineEnds::CrLf, LineEnds::Lf) => {
            said.push("the file had CRLF line ends and has LF line ends now".to_owned());
        }
        (LineEnds::CrLf, LineEnds::Mixed) => {
            said.push("the file had CRLF line ends and has CRLF and LF line ends now".to_owned());
        }
        (LineEnds::Mixed, LineEnds::Lf | LineEnds::CrLf) => {
            said.push("the file had CRLF and LF line ends and has one kind now".to_owned());
        }
        _ => {}
    }
    said
}

#[cfg(test)]
mod tests;

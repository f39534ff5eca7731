//! `edit_file`: replaces a piece of text in a file and leaves every other byte as it was.
//! Must not guess what was meant where the text does not stand there exactly.

use std::borrow::Cow;

use async_trait::async_trait;
use deputy_contract::{EditFile, render};

use super::blocking::blocking;
use super::path::WorkspacePath;
use super::target::{Missing, Target};
use super::text::{Encoding, UTF8_MARK, decode_utf16, encode_utf16};
use super::{CallContext, Operation, ToolError};
use crate::governance::{Effect, Permit};

mod near;
mod occurrences;

use occurrences::Occurrences;

/// Line numbers that an error lists.
const LINES_NAMED: usize = 20;

/// The built-in `edit_file`. Its result is the number of places changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditFileTool;

#[async_trait]
impl Operation for EditFileTool {
    type Arguments = EditFile;
    type Output = u32;
    const EFFECT: Effect = Effect::Write;

    async fn run(&self, permit: Permit<EditFile>, context: &CallContext) -> Result<u32, ToolError> {
        let arguments = permit.into_arguments();
        blocking(context, move |context| edit(context, &arguments)).await
    }

    fn render(&self, places: u32) -> String {
        render::edited(places)
    }
}

fn edit(context: &CallContext, arguments: &EditFile) -> Result<u32, ToolError> {
    let refuse = |text: &str| Err(ToolError::InvalidArguments(text.to_owned()));
    if arguments.old.is_empty() {
        return refuse(
            "`old` is empty; give the text to replace, or use write_file to set the whole content",
        );
    }
    if arguments.old == arguments.new {
        return refuse("`old` and `new` are the same; there is nothing to change");
    }
    let path = WorkspacePath::parse(&arguments.path, &context.workspace)?;
    let target = Target::resolve(context, &path, Missing::Refuse)?;
    let name = target.asked.shown();
    let _turn = target.turn(context)?;
    let Some(content) = target.read(context)? else {
        return Err(ToolError::NotFound(format!("`{name}` is gone; nothing was written")));
    };
    if !content.whole {
        return Err(ToolError::Failed(format!(
            "`{name}` is bigger than the {} bytes that edit_file takes; nothing was written",
            context.limits.file_bytes
        )));
    }
    let encoding = Encoding::of(&content.bytes, true);
    let (bytes, places) = match encoding {
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let (text, broken) = decode_utf16(&content.bytes, encoding);
            if broken {
                return Err(ToolError::Failed(format!(
                    "`{name}` is {} with broken pairs, which an edit would lose; nothing was written",
                    encoding.name()
                )));
            }
            let (edited, places) = change(text.as_bytes(), arguments, &name)?;
            (encode_utf16(&String::from_utf8_lossy(&edited), encoding), places)
        }
        Encoding::Utf8 | Encoding::Utf8Marked | Encoding::Unknown | Encoding::Binary => {
            let (mark, body) = match content.bytes.strip_prefix(UTF8_MARK) {
                Some(body) => (UTF8_MARK, body),
                None => (&[][..], content.bytes.as_slice()),
            };
            let (edited, places) = change(body, arguments, &name)?;
            ([mark, &edited].concat(), places)
        }
    };
    target.replace(context, &bytes, Some(&content.bytes))?;
    Ok(places)
}

/// The text after the edit, and the number of places changed.
fn change(body: &[u8], arguments: &EditFile, name: &str) -> Result<(Vec<u8>, u32), ToolError> {
    // What a model copied with a byte order mark is the same text.
    let old = arguments.old.strip_prefix('\u{feff}').unwrap_or(&arguments.old);
    let new = arguments.new.strip_prefix('\u{feff}').unwrap_or(&arguments.new);
    let found = Occurrences::find(body, old.as_bytes());
    let count = found.ranges.len();
    if count == 0 {
        let near = near::place(body, old).map_or_else(
            || "read the file and copy the text exactly as it stands".to_owned(),
            |(line, text)| {
                format!("apart from white space it stands at line {line}, where the file has `{text}`")
            },
        );
        return Err(ToolError::Failed(format!(
            "`old` does not stand in `{name}`: {near}; nothing was written"
        )));
    }
    if count > 1 && !arguments.all {
        let lines = found.lines(body, LINES_NAMED);
        let mut named: Vec<String> = lines.iter().map(ToString::to_string).collect();
        if count > LINES_NAMED {
            named.push(format!("{} more", count - LINES_NAMED));
        }
        return Err(ToolError::Failed(format!(
            "`old` stands {count} times in `{name}` (lines {}), so the place is not clear: give more of the text around it, or set `all` to true; nothing was written",
            named.join(", ")
        )));
    }
    let new: Cow<'_, [u8]> = found.with_line_ends(new.as_bytes());
    let mut out = Vec::with_capacity(body.len() + new.len());
    let (mut at, mut places) = (0, 0_u32);
    for range in found.ranges {
        // Overlapping ones: the first counts, as in every editor.
        if range.start < at {
            continue;
        }
        out.extend_from_slice(body.get(at..range.start).unwrap_or_default());
        out.extend_from_slice(&new);
        at = range.end;
        places = places.saturating_add(1);
    }
    out.extend_from_slice(body.get(at..).unwrap_or_default());
    Ok((out, places))
}

#[cfg(test)]
mod tests;

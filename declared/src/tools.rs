//! What a file asks for and renounces in tools, by our names. Must not add a tool that the file does not name.

use super::front_matter::Field;
use super::problem::{Notes, Problem, listed, shown};
use super::tool_list::entries;
use super::tool_names::{Meaning, denied, meaning};

/// The tools that `field` names: by our names, and as spelled.
///
/// # Errors
/// Where the list cannot be read, or names tools and none of them is one of this host's.
pub(super) fn allowed(
    field: &Field,
    more: &[String],
    notes: &mut Notes,
) -> Result<(Vec<String>, Vec<String>), Problem> {
    let raw = entries(field)?;
    let (mut tools, mut left_out, mut patterns) = (Vec::new(), Vec::new(), Vec::new());
    for name in words(&raw, more) {
        match meaning(name, more) {
            Meaning::Ours(tool) if tools.contains(&tool) => {}
            Meaning::Ours(tool) => tools.push(tool),
            Meaning::Pattern(_) => patterns.push(name),
            Meaning::Elsewhere | Meaning::Unknown(None) => left_out.push(shown(name)),
            Meaning::Unknown(Some(near)) => {
                left_out.push(format!("{} (did you mean {}?)", shown(name), shown(near)))
            }
        }
    }
    if tools.is_empty() && !raw.is_empty() {
        left_out.extend(patterns.iter().map(|name| shown(name)));
        return Err(Problem::at(
            field.line,
            format!(
                "{}: expected at least one tool of this host, found only {}: name tools such as `read_file` or \
                 `Read` (patterns do not count), write `none` for no tools, or leave the key out for what the \
                 parent has",
                shown(&field.key),
                left_out.join(", "),
            ),
        ));
    }
    if !left_out.is_empty() {
        notes.ignored(
            field.line,
            format!(
                "{} names what is no tool of this host: {}; left out",
                shown(&field.key),
                left_out.join(", ")
            ),
        )?;
    }
    if !patterns.is_empty() {
        notes.ignored(
            field.line,
            format!(
                "{} limits tools to patterns, which this host cannot do: {}; left out, name the whole tool to ask \
                 for it",
                shown(&field.key),
                listed(&patterns),
            ),
        )?;
    }
    Ok((tools, raw))
}

/// The tools that `field` takes away, by our names; never fewer than it names.
///
/// # Errors
/// Where the list cannot be read, or a name in it looks like a mistyped tool of this host.
pub(super) fn disallowed(field: &Field, more: &[String], notes: &mut Notes) -> Result<Vec<String>, Problem> {
    let raw = entries(field)?;
    let (mut tools, mut without) = (Vec::new(), Vec::new());
    for name in words(&raw, more) {
        match meaning(name, more) {
            Meaning::Unknown(Some(near)) => {
                return Err(Problem::at(
                    field.line,
                    format!(
                        "{}: expected names of tools, found {}: did you mean {}? Correct it, so that the tool is \
                         surely withheld",
                        shown(&field.key),
                        shown(name),
                        shown(near)
                    ),
                ));
            }
            Meaning::Elsewhere if name.contains('*') && !name.starts_with("mcp__") && !name.contains('/') => {
                return Err(field.expected("tools by name (to take all away, write `tools: none`)"));
            }
            Meaning::Pattern(Some(tool)) => {
                let whole = format!(
                    "{} is withheld as a whole: this host knows no patterns ({})",
                    shown(&tool),
                    shown(name)
                );
                notes.say(field.line, whole);
            }
            Meaning::Pattern(None) | Meaning::Elsewhere | Meaning::Unknown(None) => without.push(name),
            Meaning::Ours(_) => {}
        }
        for tool in denied(name, more) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
    }
    if !without.is_empty() {
        let message =
            format!("{} names what is no tool of this host anyway: {}", shown(&field.key), listed(&without));
        notes.ignored(field.line, message)?;
    }
    Ok(tools)
}

/// The entries, those split at blanks that are names of ours throughout (`Read Grep`).
fn words<'a>(raw: &'a [String], more: &[String]) -> Vec<&'a str> {
    let all_ours =
        |entry: &str| entry.split_whitespace().all(|word| matches!(meaning(word, more), Meaning::Ours(_)));
    let mut words = Vec::new();
    for entry in raw {
        if entry.contains(char::is_whitespace) && all_ours(entry) {
            words.extend(entry.split_whitespace());
        } else {
            words.push(entry.as_str());
        }
    }
    words
}

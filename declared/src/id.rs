//! What an agent may be called. Must not check for collisions.

use super::problem::shown;

/// `name`, a title for people such as `LSP/Index Engineer`, with `-` for what separates paths and no `.` in front.
pub(super) fn without_separators(name: &str) -> String {
    name.replace(['/', '\\'], "-").trim_start_matches(['.', ' ']).to_owned()
}

/// `id` without blanks around it.
///
/// # Errors
/// Why it cannot be one: it becomes part of paths, logs and tool names.
pub(super) fn check(id: &str) -> Result<String, String> {
    const MOST: usize = 128;
    let id = id.trim();
    let refuse =
        |what: &str| Err(format!("expected a name of the agent {what}, found {}: rename it", shown(id)));
    if id.is_empty() {
        refuse("that is not blank")
    } else if id.chars().count() > MOST {
        refuse("of at most 128 characters")
    } else if id.chars().any(|c| c.is_control() || c == '/' || c == '\\') || id.starts_with('.') {
        refuse("without `/`, `\\`, a `.` in front or control characters")
    } else {
        Ok(id.to_owned())
    }
}

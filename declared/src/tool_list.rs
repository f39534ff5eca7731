//! Reads a list of tool names in all forms that it has in the wild. Must not know which names exist.

use serde_json::Value;

use super::front_matter::Field;
use super::problem::Problem;
use super::values::switch;

/// The entries as spelled, none twice: of a list, a comma string, a string that holds a bracketed list, or a map
/// of switches (those that are on). Nothing, an empty list and the word `none` are no entries.
///
/// # Errors
/// Where the value is of another form, or `none` stands beside names.
pub(super) fn entries(field: &Field) -> Result<Vec<String>, Problem> {
    const FORMS: &str = "a list `[a, b]`, names with commas, or `none`";
    const PAIRS: &str = "a closing parenthesis for each opening one";
    let mut entries = match &field.value {
        Value::Null => Vec::new(),
        Value::String(text) => split(text).ok_or_else(|| field.expected(PAIRS))?,
        Value::Array(values) => {
            let texts: Option<Vec<String>> =
                values.iter().filter(|value| !value.is_null()).map(scalar).collect();
            // A list in brackets was cut at every comma, also at those inside parentheses.
            let text = texts.ok_or_else(|| field.expected(FORMS))?.join(",");
            split(&text).ok_or_else(|| field.expected(PAIRS))?
        }
        Value::Object(switches) => {
            let mut entries = Vec::new();
            for (name, value) in switches {
                let form = "only `true` or `false` in a map of tools";
                if switch(value).ok_or_else(|| field.part(name, value).expected(form))? {
                    entries.push(name.clone());
                }
            }
            entries
        }
        Value::Bool(_) | Value::Number(_) => return Err(field.expected(FORMS)),
    };
    if entries.iter().any(|entry| entry.eq_ignore_ascii_case("none")) {
        if entries.len() > 1 {
            return Err(field.expected("either `none` or names"));
        }
        entries.clear();
    }
    let mut seen = std::collections::HashSet::new();
    entries.retain(|entry| seen.insert(entry.clone()));
    Ok(entries)
}

/// A value that is one text; numbers and booleans as YAML shows them.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Splits at commas outside parentheses; quotes and blanks around an entry are removed. `None` where parentheses
/// do not pair, since it is then unknown which names are tools.
fn split(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let mut entries = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        let separates = depth == 0 && matches!(c, ',' | '，' | '\n');
        match entries.last_mut() {
            Some(entry) if !separates => entry.push(c),
            _ => entries.push(String::new()),
        }
    }
    let bare = |entry: &String| entry.trim().trim_matches(['"', '\'', '`']).trim().to_owned();
    (depth == 0).then(|| entries.iter().map(bare).filter(|entry| !entry.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_parentheses_do_not_split() {
        let split = |text: &str| split(text).unwrap_or_else(|| vec!["refused".into()]);
        assert_eq!(split("Bash(a, b:*) ,  Read,, 'x', "), ["Bash(a, b:*)", "Read", "x"]);
        assert_eq!(split("[\"Read\", `Grep`]"), ["Read", "Grep"]);
        assert_eq!(split(" , "), Vec::<String>::new());
        assert_eq!(split("Bash(open, Read"), ["refused"]);
        assert_eq!(split("Bash), Read("), ["refused"]);
    }
}

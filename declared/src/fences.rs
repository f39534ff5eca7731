//! Separates the front matter of a file from its body. Must not interpret either.

use super::problem::{Problem, shown};

/// A file in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The lines between the fences, without their ends.
    pub(super) front: Vec<String>,
    /// Line number of the first of them.
    pub(super) first_line: usize,
    /// What follows the closing fence, ends of lines as `\n`, blank lines around it removed.
    pub(super) body: String,
    /// How many columns the whole file was indented by, if it was.
    pub(super) indented: usize,
}

/// Splits `text`, whose line ends may be of any kind and mixed.
///
/// # Errors
/// Where no `---` line opens the file, or none closes the front matter.
pub(super) fn split(text: &str) -> Result<Parts, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let mut lines = text.split('\n').enumerate().skip_while(|(_, line)| line.trim().is_empty());
    let Some((opening, fence)) = lines.next().filter(|(_, line)| line.trim() == "---") else {
        return Err(no_front_matter(&text));
    };
    let indent: String = fence.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
    // A line that is indented less belongs to no block; it stays as it is and is read for what it then says.
    let dedent = |line: &str| line.strip_prefix(&indent).unwrap_or(line.trim_start()).to_owned();
    let lines: Vec<String> = lines.map(|(_, line)| dedent(line)).collect();
    let Some(closing) = lines.iter().position(|line| line.trim_end() == "---") else {
        return Err(Problem::at(
            opening + 1,
            "the front matter opens here and no later line closes it: end it with a line `---`",
        ));
    };
    let (front, body) = lines.split_at(closing);
    let body = body.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join("\n");
    Ok(Parts {
        front: front.to_vec(),
        first_line: opening + 2,
        body: body.trim_start_matches('\n').trim_end().to_owned(),
        indented: indent.len(),
    })
}

fn no_front_matter(text: &str) -> Problem {
    let first = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty());
    let (line, came) = match first {
        Some((index, line)) => (index + 1, format!("the file starts with {}", shown(line.trim()))),
        None => (1, "the file is blank".to_owned()),
    };
    Problem::at(
        line,
        format!(
            "no front matter at the top, so this is no agent: {came}; start it with a line `---`, the keys, and \
             another line `---`, or keep documents in another directory"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_at_the_fences_own_column_closes() {
        let parts = split("---\na: |\n  ---\n  x\n--- \n\n  code\n---\nrest\n").unwrap();
        assert_eq!(parts.front, ["a: |", "  ---", "  x"]);
        assert_eq!((parts.first_line, parts.body.as_str()), (2, "  code\n---\nrest"));
    }

    #[test]
    fn old_and_mixed_line_ends_are_line_ends() {
        let parts = split("---\ra: b\r\nc: d\n---\r\nx\ry").unwrap();
        assert_eq!((parts.front, parts.body.as_str()), (vec!["a: b".to_owned(), "c: d".to_owned()], "x\ny"));
    }

    #[test]
    fn an_open_end_and_a_blank_file_are_refused_with_a_line() {
        assert_eq!(split("\n---\na: b\n").unwrap_err().line, Some(2));
        assert_eq!(split(" \n\n").unwrap_err().line, Some(1));
        assert!(split("----\na: b\n----\n").unwrap_err().reason.contains("no front matter at the top"));
    }
}

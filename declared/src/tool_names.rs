//! The one table of tool names: what a tool of another product is called here. Must not grant anything.

use super::keys::fold;
use super::near::nearest;

/// One of our tools.
struct Row {
    /// Our name.
    ours: &'static str,
    /// What other products call it, as [`fold`] leaves it.
    theirs: &'static [&'static str],
    /// What their denial of it covers besides: a denied shell is no less denied for being asked as a program.
    denied_with_it: &'static [&'static str],
}

/// Every built-in tool. A name that stands for several tools elsewhere stands for the one here that can do least.
const TOOLS: &[Row] = &[
    Row {
        ours: "read_file",
        theirs: &["read", "view", "cat", "notebookread", "openfile", "readmanyfiles"],
        denied_with_it: &[],
    },
    Row { ours: "list_files", theirs: &["ls", "list", "listdir", "listdirectory"], denied_with_it: &[] },
    Row { ours: "find_files", theirs: &["glob", "find", "filesearch"], denied_with_it: &[] },
    Row {
        ours: "grep_files",
        theirs: &[
            "grep",
            "search",
            "textsearch",
            "searchfiles",
            "searchfilecontent",
            "grepsearch",
            "ripgrep",
            "rg",
        ],
        denied_with_it: &["find_files"],
    },
    Row { ours: "write_file", theirs: &["write", "create", "createfile"], denied_with_it: &[] },
    Row {
        ours: "edit_file",
        theirs: &["edit", "multiedit", "editfiles", "replace", "strreplace", "patch"],
        denied_with_it: &["write_file"],
    },
    Row {
        ours: "run_command",
        theirs: &[
            "bash",
            "shell",
            "exec",
            "execute",
            "runcommands",
            "runshellcommand",
            "runinterminal",
            "terminal",
        ],
        denied_with_it: &["run_program"],
    },
    Row { ours: "run_program", theirs: &[], denied_with_it: &[] },
    Row { ours: "fetch_url", theirs: &["webfetch", "fetch", "web"], denied_with_it: &[] },
];

/// Tools that other products have and this host has not.
const ELSEWHERE: &[&str] = &[
    "agent",
    "askuserquestion",
    "bashoutput",
    "codebase",
    "enterplanmode",
    "googlewebsearch",
    "exitplanmode",
    "killbash",
    "killshell",
    "lsp",
    "monitor",
    "notebookedit",
    "powershell",
    "runsubagent",
    "sendmessage",
    "skill",
    "spawn",
    "task",
    "taskcreate",
    "taskget",
    "tasklist",
    "taskoutput",
    "taskstop",
    "taskupdate",
    "todo",
    "todoread",
    "todos",
    "todowrite",
    "toolsearch",
    "websearch",
];

/// Tools that change files or run programs or reach the network: what a read-only agent has not.
const CHANGING: &[&str] = &["edit_file", "fetch_url", "run_command", "run_program", "write_file"];

/// What the tool that stands for a subagent starts with.
const SUBAGENT: &str = "subagent_";

/// What a tool name in a file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A tool of this host.
    Ours(String),
    /// A tool with argument patterns, such as `Bash(git:*)`: the tool before the parenthesis, if it is one of ours.
    Pattern(Option<String>),
    /// A tool of a server or product that this host has not, or a pattern over several tools.
    Elsewhere,
    /// No tool that is known anywhere, and the one of ours that was likely meant.
    Unknown(Option<&'static str>),
}

/// What `name` is; `more` are this host's tools besides the built-in ones.
pub(super) fn meaning(name: &str, more: &[String]) -> Meaning {
    let ours = |name: &str| TOOLS.iter().any(|row| row.ours == name) || more.iter().any(|own| own == name);
    if ours(name) || name.strip_prefix(SUBAGENT).is_some_and(is_tool_word) {
        return Meaning::Ours(name.to_owned());
    }
    if let Some((tool, _)) = name.split_once('(') {
        return Meaning::Pattern(row(tool).map(|row| row.ours.to_owned()));
    }
    if name.starts_with("mcp__") || name.contains(['*', ':']) {
        return Meaning::Elsewhere;
    }
    if let Some(row) = row(name) {
        return Meaning::Ours(row.ours.to_owned());
    }
    let folded = fold(name);
    if name.contains(['/', '.']) || ELSEWHERE.contains(&folded.as_str()) {
        return Meaning::Elsewhere;
    }
    Meaning::Unknown(suggestion(&folded))
}

/// Our names for all that a denial of `name` takes away. Empty where it is no tool of ours.
pub(super) fn denied(name: &str, more: &[String]) -> Vec<String> {
    let tool = match meaning(name, more) {
        Meaning::Ours(tool) | Meaning::Pattern(Some(tool)) => tool,
        Meaning::Pattern(None) | Meaning::Elsewhere | Meaning::Unknown(_) => return Vec::new(),
    };
    // Our own name means that one tool.
    let with_it = if tool == name { None } else { row(&tool) };
    let mut all = vec![tool];
    all.extend(with_it.iter().flat_map(|row| row.denied_with_it).map(|&name| name.to_owned()));
    all
}

/// Whether one of our tools changes something or reaches outside. Tools that are not built in count as such.
pub(super) fn changes(ours: &str) -> bool {
    CHANGING.contains(&ours) || !TOOLS.iter().any(|row| row.ours == ours)
}

/// The row of a name in any product's spelling; a toolset such as `edit/editFiles` goes by its last part.
fn row(name: &str) -> Option<&'static Row> {
    const SETS: [&str; 5] = ["edit", "execute", "read", "search", "web"];
    let name = match name.split_once('/') {
        Some((set, tool)) if SETS.contains(&set) => tool,
        _ => name,
    };
    if name.contains('/') {
        return None;
    }
    let folded = fold(name);
    TOOLS.iter().find(|row| fold(row.ours) == folded || row.theirs.contains(&folded.as_str()))
}

fn suggestion(folded: &str) -> Option<&'static str> {
    let words = TOOLS.iter().flat_map(|row| row.theirs.iter().copied().chain([row.ours]));
    let word = nearest(folded, words.filter(|word| word.len() > 2))?;
    row(word).map(|row| row.ours)
}

fn is_tool_word(rest: &str) -> bool {
    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_products_are_ours() {
        for (theirs, ours) in [
            ("Read", "read_file"),
            ("Grep", "grep_files"),
            ("Glob", "find_files"),
            ("Bash", "run_command"),
            ("Edit", "edit_file"),
            ("Write", "write_file"),
            ("WebFetch", "fetch_url"),
            ("LS", "list_files"),
            ("MultiEdit", "edit_file"),
            ("list_dir", "list_files"),
            ("exec", "run_command"),
            ("edit/editFiles", "edit_file"),
            ("read/readFile", "read_file"),
            ("subagent_scout", "subagent_scout"),
        ] {
            assert_eq!(meaning(theirs, &[]), Meaning::Ours(ours.into()), "{theirs}");
        }
    }

    #[test]
    fn what_is_not_ours_is_no_tool() {
        for name in [
            "Task",
            "WebSearch",
            "mcp__notes__read",
            "notes/read",
            "*",
            "read*",
            "browser.open",
            "subagent_*",
        ] {
            assert_eq!(meaning(name, &[]), Meaning::Elsewhere, "{name}");
        }
        assert_eq!(meaning("Bash(git:*)", &[]), Meaning::Pattern(Some("run_command".into())));
        assert_eq!(meaning("Agent(scout)", &[]), Meaning::Pattern(None));
        assert_eq!(meaning("Wirte", &[]), Meaning::Unknown(Some("write_file")));
        assert_eq!(meaning("changes", &[]), Meaning::Unknown(None));
        assert_eq!(meaning("ticket", &["ticket".into()]), Meaning::Ours("ticket".into()));
    }

    #[test]
    fn a_denial_is_never_narrower_than_it_was_there() {
        assert_eq!(denied("Bash(rm:*)", &[]), ["run_command", "run_program"]);
        assert_eq!(denied("Edit", &[]), ["edit_file", "write_file"]);
        assert_eq!(denied("edit_file", &[]), ["edit_file"]);
        assert!(denied("WebSearch", &[]).is_empty());
    }

    #[test]
    fn the_table_is_folded_and_has_no_name_twice() {
        let mut words: Vec<_> = TOOLS.iter().flat_map(|row| row.theirs).chain(ELSEWHERE).collect();
        assert!(words.iter().all(|word| fold(word) == **word));
        let all = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}

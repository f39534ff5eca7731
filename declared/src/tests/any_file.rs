//! What must hold for every file, tried over random mixes of keys. The seeds are fixed, so a failure repeats.

use super::*;

/// A small generator, so that the crate needs no other for one test.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const TOOLS_KEYS: &[&str] = &[
    "tools",
    "Tools",
    "tools ",
    "\"tools\"",
    "'tools'",
    "allowed-tools",
    "allowedTools",
    " tools",
    "\ttools",
];
const COLONS: &[&str] = &[": ", ":", ":  ", "： ", " : ", " = ", ":\t", ":\n  ", ":\n"];
const VALUES: &[&str] = &[
    "",
    "none",
    "[]",
    "*",
    "'*'",
    "all",
    "true",
    "Read",
    "Read, Bash",
    "[Read, 'x/*']",
    "- Read",
    "- Read\n- Bash",
    "{read: true, bash: false}",
    "Raed",
    "Bash(git:*)",
    "[Read",
    "\"Read",
    "&a [Read]",
    "!!str Read",
    "|\n  Read",
    ">",
    "~",
    ".inf",
    "Read: x",
    "- - Read",
    "? x",
    "@x",
    "`x`",
    "%x",
    "# Read",
    "Read # x",
    "\u{200b}",
    "\0",
];
const OTHERS: &[&str] = &[
    "description: x",
    "description: x: y #1",
    "description: |\n  tools in text",
    "description: \"a\n  b\"",
    "name: n",
    "user: \"hm\"",
    "assistant: \"a: b\"",
    "<example>",
    "# comment",
    "",
    "color: red",
    "nest: {a: 1}",
    "model: m",
    "mcp-servers:\n  x:\n    tools: ['*']",
    "maxTurns: 3",
    "- stray",
    "\"open",
    "...",
    "temperature: 0.1",
    "description: >-\n  folded",
];

/// The names that files of this test ask for or may come to by our table.
const ASKED: [&str; 2] = ["read_file", "run_command"];

#[test]
fn no_mix_of_keys_with_tools_in_it_inherits_or_gains() {
    let mut chance = Chance(41);
    let mut loaded = 0;
    for _ in 0..8_000 {
        let mut lines: Vec<String> = vec!["description: first".to_owned()];
        for _ in 0..chance.below(5) {
            lines.push(chance.pick(OTHERS).to_owned());
        }
        let tools = format!("{}{}{}", chance.pick(TOOLS_KEYS), chance.pick(COLONS), chance.pick(VALUES));
        let at = chance.below(lines.len() + 1);
        // Inside a block or a quoted text the line is no key, by any reading.
        if at > 0
            && tools.starts_with([' ', '\t'])
            && ["|", "\"", ">"].iter().any(|mark| lines[at - 1].contains(mark))
        {
            continue;
        }
        if tools.trim_start().starts_with('#') {
            continue;
        }
        lines.insert(at, tools);
        let end = ["\n", "\r\n", "\r"][chance.below(3)];
        let text = format!("---\n{}\n---\nPrompt.\n", lines.join("\n")).replace('\n', end);
        for format in [Format::Subagents, Format::ClaudeAgents] {
            let Ok(agent) = read(Path::new("a.md"), text.as_bytes(), &Rules::new(format)) else { continue };
            loaded += 1;
            let DeclaredTools::Named(tools) = &agent.tools else { panic!("inherits: {text:?}\n{agent:#?}") };
            assert!(tools.iter().all(|tool| ASKED.contains(&tool.as_str())), "{text:?}");
            assert!(
                !tools.contains(&"run_command".to_owned())
                    || text.contains("Read, Bash")
                    || text.contains("- Bash")
            );
        }
    }
    assert!(loaded > 500, "{loaded}");
}

#[test]
fn no_bytes_panic() {
    let mut chance = Chance(7);
    let bits = [
        "---",
        "\n",
        "\r",
        ":",
        " ",
        "tools",
        "description",
        "x",
        "'",
        "\"",
        "[",
        "]",
        "{",
        "}",
        ",",
        "#",
        "|",
        "-",
        "\u{feff}",
        "é",
        "\t",
        "(",
        ")",
        "*",
        "&a",
        "!",
        "<<",
        "评",
    ];
    for _ in 0..8_000 {
        let mut text = if chance.below(4) > 0 { "---\n".to_owned() } else { String::new() };
        for _ in 0..chance.below(30) {
            text.push_str(chance.pick(&bits));
        }
        if chance.below(2) > 0 {
            text.push_str("\n---\n");
        }
        let cut = chance.below(text.len() + 1);
        for bytes in [text.as_bytes(), &text.as_bytes()[..cut]] {
            if let Err(refused) = read(Path::new("a.md"), bytes, &Rules::new(Format::ClaudeAgents)) {
                assert!(!refused.reason.is_empty() && refused.to_string().starts_with("a.md"));
            }
        }
    }
}

//! Deputy's stock subagents, built: what each is for, which tools it asks for, and its component.
//! Holds no behaviour; whoever registers them is the host's embedder.
//!
//! The components are built from `example-agents/` by `make stock`. The tests hold each against its world in
//! `wit/` and against its sources.

/// A subagent that comes with Deputy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StockSubagent {
    /// The name by which it is called and configured.
    pub name: &'static str,
    /// What a parent agent's model reads: when to use it, what it answers, what it cannot do.
    pub description: &'static str,
    /// The built-in tools that the component imports, by name, sorted: no more and no fewer.
    pub tools: &'static [&'static str],
    /// The component.
    pub wasm: &'static [u8],
}

impl std::fmt::Debug for StockSubagent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StockSubagent")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .field("wasm_bytes", &self.wasm.len())
            .finish_non_exhaustive()
    }
}

/// Every stock subagent, from the fewest rights to the most; `react` last, which has what it is handed.
pub const STOCK: &[StockSubagent] = &[
    StockSubagent {
        name: "explore",
        description: EXPLORE,
        tools: &["find_files", "grep_files", "list_files", "read_file"],
        wasm: include_bytes!("../wasm/explore.wasm"),
    },
    StockSubagent {
        name: "plan",
        description: PLAN,
        tools: &["find_files", "grep_files", "list_files", "read_file"],
        wasm: include_bytes!("../wasm/plan.wasm"),
    },
    StockSubagent {
        name: "verify",
        description: VERIFY,
        tools: &["find_files", "grep_files", "list_files", "read_file", "run_program"],
        wasm: include_bytes!("../wasm/verify.wasm"),
    },
    StockSubagent {
        name: "general",
        description: GENERAL,
        tools: &[
            "edit_file",
            "fetch_url",
            "find_files",
            "grep_files",
            "list_files",
            "read_file",
            "run_command",
            "run_program",
            "write_file",
        ],
        wasm: include_bytes!("../wasm/general.wasm"),
    },
    StockSubagent {
        name: "react",
        description: REACT,
        tools: &[],
        wasm: include_bytes!("../wasm/react.wasm"),
    },
];

// Each is also in the component's own section `deputy:subagent`; a test holds the two equal.
const EXPLORE: &str = include_str!("../descriptions/explore.txt").trim_ascii_end();
const PLAN: &str = include_str!("../descriptions/plan.txt").trim_ascii_end();
const VERIFY: &str = include_str!("../descriptions/verify.txt").trim_ascii_end();
const GENERAL: &str = include_str!("../descriptions/general.txt").trim_ascii_end();
const REACT: &str = include_str!("../descriptions/react.txt").trim_ascii_end();

/// The stock subagent of that name.
#[must_use]
pub fn stock(name: &str) -> Option<&'static StockSubagent> {
    STOCK.iter().find(|subagent| subagent.name == name)
}

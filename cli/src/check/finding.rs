//! What a check found, as an object and in words. Must not check anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use deputy::governance::{Denial, Rights, Verdict};
use deputy::host::{CheckError, Host};
use deputy::ids::ToolName;
use deputy::sandbox::{ComponentError, MissingImport};
use deputy::subagent::Subagent;
use deputy_contract::{ALL_TOOLS, WIT_PACKAGE};
use serde_json::{Value, json};

use crate::ending::Ending;
use crate::render;

/// What a check found.
#[derive(Debug)]
pub(super) struct Finding {
    name: String,
    sha256: String,
    /// Tools that the component would hold.
    granted: Vec<String>,
    /// Those of them that a person is asked for before each call.
    asks: Vec<String>,
    /// What it asks for and would not get, though it would run, each with the rule and what would allow it.
    cut: Vec<String>,
    /// What it imports and would not hold.
    missing: Vec<MissingImport>,
    /// The grant under which nothing that a grant can give is missing; where one was given and falls short.
    whole_grant: Option<String>,
    commands: String,
    ending: Ending,
    error: Option<String>,
}

impl Finding {
    pub(super) fn new(
        host: &Host,
        subagent: &Subagent,
        checked: Result<Arc<Rights>, CheckError>,
        commands: String,
        grant_given: bool,
    ) -> Self {
        let held = host.rights();
        let cut = checked
            .as_ref()
            .map(|rights| rights.cut().iter().map(ToString::to_string).collect())
            .unwrap_or_default();
        let granted: BTreeSet<ToolName> = match &checked {
            // What it inherits it does not name.
            Ok(rights) if subagent.declaration().tools.inherit => rights.tools().keys().cloned().collect(),
            _ => subagent.declared_tools().iter().filter(|tool| held.holds(tool.as_str())).cloned().collect(),
        };
        let asks = granted.iter().filter(|tool| host.verdict(held, tool) == Verdict::Ask);
        let (ending, missing, error) = match checked {
            Ok(_) => (Ending::Answered, Vec::new(), None),
            Err(CheckError::Component(ComponentError::NotGranted { missing, .. })) => {
                let error = format!("refused: {} of its imports are not granted", missing.len());
                (Ending::Denied, missing, Some(error))
            }
            Err(CheckError::Rights(error)) => {
                let missing = error.cut.iter().map(import_of).collect();
                (
                    Ending::Denied,
                    missing,
                    Some("refused: none of the tools that it asks for is left".to_owned()),
                )
            }
            Err(error) => (Ending::Failed, Vec::new(), Some(error.to_string())),
        };
        let declared = |tool: &ToolName| subagent.declared_tools().contains(tool);
        let falls_short =
            missing.iter().filter_map(|import| import.tool.as_ref()).any(|tool| !declared(tool));
        let whole_grant = (grant_given && falls_short).then(|| {
            let declared = subagent.declared_tools().iter().map(|tool| tool.as_str());
            let imported = subagent.component().imported_tools().iter().map(String::as_str);
            declared.chain(imported).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(",")
        });
        Self {
            name: subagent.name().to_string(),
            sha256: subagent.component().sha256().to_owned(),
            asks: asks.map(ToString::to_string).collect(),
            granted: granted.iter().map(ToString::to_string).collect(),
            cut,
            missing,
            whole_grant,
            commands,
            ending,
            error,
        }
    }

    pub(super) fn ending(&self) -> Ending {
        self.ending
    }

    /// Why the component would not run, in a line.
    pub(super) fn error(&self) -> Option<String> {
        self.error.as_ref().map(|error| format!("`{}`: {error}", self.name))
    }

    pub(super) fn object(&self) -> Value {
        let missing = |import: &MissingImport| {
            let tool = import.tool.as_ref().map(ToString::to_string);
            json!({"import": import.import, "tool": tool, "reason": import.reason})
        };
        json!({
            "file": self.name,
            "sha256": self.sha256,
            "would_run": self.ending == Ending::Answered,
            "granted": self.granted,
            "asks": self.asks,
            "cut": self.cut,
            "missing": self.missing.iter().map(missing).collect::<Vec<_>>(),
            "commands": self.commands,
            "error": self.error(),
        })
    }

    pub(super) fn words(&self) -> String {
        let would = if self.ending == Ending::Answered { "would run" } else { "would not run" };
        let mut text = format!("{}: {would}\n", render::line(&self.name));
        let mut row = |label: &str, value: &str| text.push_str(&format!("  {label:<12} {value}\n"));
        row("granted", &render::or_nothing(&self.granted));
        row("asks first", &render::or_nothing(&self.asks));
        for cut in &self.cut {
            row("cut", &render::line(cut));
        }
        for import in &self.missing {
            row("missing", &render::line(&import.to_string()));
        }
        if let Some(grant) = &self.whole_grant {
            row("whole grant", &format!("--grant {grant}"));
        }
        row("commands", &render::line(&self.commands));
        text
    }
}

/// The import that stands for a tool that was cut.
fn import_of(denial: &Denial) -> MissingImport {
    let tool = ALL_TOOLS.iter().find(|tool| tool.name == denial.tool.as_str());
    let interface = tool.map_or_else(|| denial.tool.to_string(), deputy_contract::ToolSpec::interface);
    MissingImport {
        import: format!("{WIT_PACKAGE}/{interface}"),
        tool: Some(denial.tool.clone()),
        reason: denial.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(missing: Vec<MissingImport>, ending: Ending) -> Finding {
        Finding {
            name: "scout\u{1b}".to_owned(),
            sha256: "ab".to_owned(),
            granted: vec!["read_file".to_owned(), "write_file".to_owned()],
            asks: vec!["write_file".to_owned()],
            cut: Vec::new(),
            whole_grant: (!missing.is_empty()).then(|| "grep_files,read_file".to_owned()),
            missing,
            commands: "confined: by rules".to_owned(),
            ending,
            error: (ending != Ending::Answered).then(|| "refused".to_owned()),
        }
    }

    #[test]
    fn a_refusal_names_import_tool_and_remedy_in_words_and_as_an_object() {
        let denial = Denial {
            agent: "scout".into(),
            tool: "grep_files".into(),
            rule: deputy::governance::Rule::DeniedByPolicy,
        };
        let finding = finding(vec![import_of(&denial)], Ending::Denied);
        let words = finding.words();
        for part in
            ["scout\\u{1b}: would not run\n", "deputy:agent/grep-files", "`grep_files`", "--deny grep_files"]
        {
            assert!(words.contains(part), "{part}: {words}");
        }
        assert!(words.contains("  whole grant  --grant grep_files,read_file\n"), "{words}");
        let object = finding.object();
        assert_eq!((&object["would_run"], &object["asks"]), (&json!(false), &json!(["write_file"])));
        assert_eq!(object["missing"][0]["import"], "deputy:agent/grep-files");
        assert_eq!(object["missing"][0]["tool"], "grep_files");
    }

    #[test]
    fn what_would_run_is_said_without_an_error() {
        let finding = finding(Vec::new(), Ending::Answered);
        assert_eq!(
            finding.words(),
            "scout\\u{1b}: would run\n  granted      read_file, write_file\n  asks first   write_file\n  commands     confined: by rules\n"
        );
        assert_eq!((finding.object()["would_run"].clone(), finding.error()), (json!(true), None));
    }
}

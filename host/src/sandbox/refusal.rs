//! Which imports of a component are not granted, each with the setting that would grant it.
//! Must not run or compile anything.

use std::fmt;

use deputy_contract::{ALL_TOOLS, WIT_PACKAGE};

use super::surface::Surface;
use super::wasi;
use crate::governance::{Rights, Rule};
use crate::ids::ToolName;

/// An import that a component has and a run may not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingImport {
    /// The WIT name.
    pub import: String,
    /// The tool that it stands for, where it is one of ours.
    pub tool: Option<ToolName>,
    /// Why it is missing and what would grant it.
    pub reason: String,
}

impl fmt::Display for MissingImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "`{}` (tool `{tool}`): {}", self.import, self.reason),
            None => write!(f, "`{}`: {}", self.import, self.reason),
        }
    }
}

/// Every import of `surface` that `rights` do not grant.
pub(super) fn missing_imports(surface: &Surface, rights: &Rights) -> Vec<MissingImport> {
    let mut missing = Vec::new();
    for tool in ALL_TOOLS.iter().filter(|tool| surface.tools.contains(tool.name)) {
        if rights.holds(tool.name) {
            continue;
        }
        let name = ToolName::from(tool.name);
        let denial = rights.cut().iter().find(|denial| denial.tool == name).cloned().unwrap_or_else(|| {
            // One line that gives it all that it imports: of several lines only one could stand.
            let imported = surface.tools.iter().map(|tool| ToolName::from(tool.as_str()));
            let declared = rights.tools().keys().cloned().chain(imported).collect();
            rights.denial(&name, Rule::NotDeclared { declared })
        });
        missing.push(MissingImport {
            import: format!("{WIT_PACKAGE}/{}", tool.interface()),
            tool: Some(name),
            reason: denial.to_string(),
        });
    }
    for import in surface.wasi.iter().filter(|import| !wasi::is_linked(import)) {
        missing.push(MissingImport {
            import: import.clone(),
            tool: None,
            reason: "no setting grants it: subagents get an inert WASI base without network and files; use the tools of `deputy:agent` instead".to_owned(),
        });
    }
    for import in &surface.other {
        missing.push(MissingImport {
            import: import.clone(),
            tool: None,
            reason: "this host does not know it, so no setting grants it".to_owned(),
        });
    }
    missing
}

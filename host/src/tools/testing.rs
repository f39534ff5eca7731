//! What the tests of the file tools share: a workspace in a temporary directory, and permitted calls in it.

use std::path::Path;
use std::sync::Arc;

use deputy_contract::Arguments as TypedArguments;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{BackgroundCommands, CallContext, Operation, OperationTool, Tool, ToolError, ToolLimits};
use crate::governance::{DenyAll, Governance, Permit, Policy};
use crate::history::Arguments;
use crate::ids::{RunId, ToolName};
use crate::workspace::Workspace;

/// A workspace of its own for one test, and the directory around it that no tool may reach.
#[derive(Debug)]
pub(super) struct Place {
    around: TempDir,
    pub(super) context: CallContext,
}

impl Place {
    pub(super) fn new() -> Self {
        Self::with(ToolLimits::default())
    }

    pub(super) fn with(limits: ToolLimits) -> Self {
        let around = tempfile::tempdir().unwrap();
        std::fs::create_dir(around.path().join("root")).unwrap();
        let workspace = Arc::new(Workspace::open(&around.path().join("root")).unwrap());
        let cancel = CancellationToken::new();
        let background = BackgroundCommands::within(&cancel);
        Self { around, context: CallContext { run: RunId::fresh(), workspace, cancel, background, limits } }
    }

    /// The workspace root.
    pub(super) fn root(&self) -> &Path {
        self.context.workspace.path()
    }

    /// The directory around the workspace.
    pub(super) fn outside(&self) -> &Path {
        self.around.path()
    }

    /// Puts a file into the workspace, its directories too.
    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(super) fn link(&self, name: &str, target: impl AsRef<Path>) -> &Self {
        std::os::unix::fs::symlink(target, self.root().join(name)).unwrap();
        self
    }

    pub(super) fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.root().join(path)).unwrap()
    }

    /// Everything in the workspace that is no directory, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        fn add(dir: &Path, below: &str, names: &mut Vec<String>) {
            for entry in std::fs::read_dir(dir).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{below}{}", entry.file_name().to_string_lossy());
                if entry.file_type().unwrap().is_dir() {
                    add(&entry.path(), &format!("{name}/"), names);
                } else {
                    names.push(name);
                }
            }
        }
        let mut names = Vec::new();
        add(self.root(), "", &mut names);
        names.sort();
        names
    }

    /// One call with typed result.
    pub(super) async fn run<O: Operation>(
        &self,
        operation: O,
        arguments: Value,
    ) -> Result<O::Output, ToolError> {
        let tool = OperationTool::new(operation);
        let permit = permit(&tool, &arguments).await;
        let permit = permit.try_map(|text| {
            deputy_contract::parse_arguments(&<O::Arguments as TypedArguments>::SPEC, text.as_str())
        })?;
        tool.operation().run(permit, &self.context).await
    }

    /// One call as a model makes it: text in, text out.
    pub(super) async fn call<O: Operation>(
        &self,
        operation: O,
        arguments: Value,
    ) -> Result<String, ToolError> {
        self.call_tool(&OperationTool::new(operation), &arguments).await
    }

    /// One call of any tool.
    pub(super) async fn call_tool(&self, tool: &dyn Tool, arguments: &Value) -> Result<String, ToolError> {
        tool.call(permit(tool, arguments).await, &self.context).await
    }

    /// The message of a call that has to fail.
    pub(super) async fn refusal<O: Operation>(&self, operation: O, arguments: Value) -> String {
        let shown = arguments.to_string();
        match self.call(operation, arguments).await {
            Ok(text) => panic!("{shown} was not refused: {text}"),
            Err(error) => error.to_string(),
        }
    }
}

async fn permit(tool: &dyn Tool, arguments: &Value) -> Permit<Arguments> {
    let name = ToolName::from(tool.description().name.as_str());
    let governance = Governance::new(Policy::default().allow(name.clone()), Arc::new(DenyAll));
    let rights = governance.root_rights("parent".into(), [(name.clone(), Ok(tool.effect()))]);
    let text = Arguments::from(arguments.to_string());
    governance.review(&rights, &name, text, "a task").await.unwrap()
}

/// The cases of a kind: one folder each, in `tests/cases/<kind>` of the repository.
pub(super) fn cases(kind: &str) -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases").join(kind);
    let mut cases: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no case in {}", folder.display());
    cases
}

/// Holds a call's outcome against a case: `result.txt` is the text that a model reads (and a line end),
/// each line of `error.txt` has to stand in the error.
pub(super) fn outcome_of_case(case: &Path, outcome: Result<String, ToolError>) {
    let name = case.display();
    match (std::fs::read_to_string(case.join("result.txt")), outcome) {
        (Ok(expected), Ok(text)) => {
            assert_eq!(text.trim_end_matches('\n'), expected.trim_end_matches('\n'), "{name}");
        }
        (Ok(_), Err(error)) => panic!("{name}: {error}"),
        (Err(_), outcome) => assert_refused(case, outcome),
    }
}

/// Holds a refusal against a case: each line of `error.txt` has to stand in it.
pub(super) fn assert_refused(case: &Path, outcome: Result<String, ToolError>) {
    let name = case.display();
    let expected = std::fs::read_to_string(case.join("error.txt")).unwrap();
    match outcome {
        Ok(text) => panic!("{name} was not refused: {text}"),
        Err(error) => {
            for part in expected.lines() {
                assert!(error.to_string().contains(part), "{name}: no `{part}` in: {error}");
            }
        }
    }
}

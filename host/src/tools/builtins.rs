//! The one list of built-in tools. Which of them a run gets is governance's affair.

use std::sync::Arc;

use super::{
    BackgroundCommandTool, CheckCommandTool, Confinement, EditFileTool, FetchUrlTool, FindFilesTool,
    GrepFilesTool, ListFilesTool, OperationTool, ReadFileTool, RunCommandTool, RunProgramTool, Tool,
    WebClient, WriteFileTool,
};

/// Every built-in tool that this host offers.
#[derive(Clone, Debug)]
pub struct Builtins {
    /// `read_file`
    pub read_file: Arc<OperationTool<ReadFileTool>>,
    /// `list_files`
    pub list_files: Arc<OperationTool<ListFilesTool>>,
    /// `find_files`
    pub find_files: Arc<OperationTool<FindFilesTool>>,
    /// `grep_files`
    pub grep_files: Arc<OperationTool<GrepFilesTool>>,
    /// `write_file`
    pub write_file: Arc<OperationTool<WriteFileTool>>,
    /// `edit_file`
    pub edit_file: Arc<OperationTool<EditFileTool>>,
    /// `run_command`; absent where commands cannot be confined and the operator did not allow bare ones.
    pub run_command: Option<Arc<OperationTool<RunCommandTool>>>,
    /// `run_program`; absent where `run_command` is.
    pub run_program: Option<Arc<OperationTool<RunProgramTool>>>,
    /// `fetch_url`; absent where the host has no web client.
    pub fetch_url: Option<Arc<OperationTool<FetchUrlTool>>>,
}

impl Builtins {
    /// The tools on files, those on processes where there is a confinement for them, and the web where there
    /// is a client for it.
    #[must_use]
    pub fn new(confinement: Option<Arc<Confinement>>, web: Option<Arc<WebClient>>) -> Self {
        Self {
            read_file: Arc::new(OperationTool::new(ReadFileTool)),
            list_files: Arc::new(OperationTool::new(ListFilesTool)),
            find_files: Arc::new(OperationTool::new(FindFilesTool)),
            grep_files: Arc::new(OperationTool::new(GrepFilesTool)),
            write_file: Arc::new(OperationTool::new(WriteFileTool)),
            edit_file: Arc::new(OperationTool::new(EditFileTool)),
            run_command: confinement
                .clone()
                .map(|confinement| Arc::new(OperationTool::new(RunCommandTool::new(confinement)))),
            run_program: confinement
                .map(|confinement| Arc::new(OperationTool::new(RunProgramTool::new(confinement)))),
            fetch_url: web.map(|web| Arc::new(OperationTool::new(FetchUrlTool::new(web)))),
        }
    }

    /// All of them as tools, with what only the host has: a command in the background, and looking after it.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<dyn Tool>> {
        let mut all: Vec<Arc<dyn Tool>> = vec![
            self.read_file.clone(),
            self.list_files.clone(),
            self.find_files.clone(),
            self.grep_files.clone(),
            self.write_file.clone(),
            self.edit_file.clone(),
        ];
        if let Some(run_command) = self.run_command.clone() {
            all.push(Arc::new(BackgroundCommandTool::new(run_command)));
            all.push(Arc::new(CheckCommandTool::default()));
        }
        all.extend(self.run_program.clone().map(|tool| tool as Arc<dyn Tool>));
        all.extend(self.fetch_url.clone().map(|tool| tool as Arc<dyn Tool>));
        all
    }
}

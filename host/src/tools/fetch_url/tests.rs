//! The tool as a model meets it.

use std::sync::Arc;

use crate::governance::{DenyAll, Effect, Governance, Policy};
use crate::history::Arguments;
use crate::ids::{RunId, ToolName};
use deputy_contract::render::CUT_PAGE;

use crate::tools::fetch_url::{FetchUrlTool, LOSSY_MARKER, fit};
use crate::tools::web::{ReadPage, WebClient, WebLimits};
use crate::tools::{CallContext, Operation, OperationTool, Tool, ToolError, ToolLimits};
use crate::workspace::Workspace;

fn tool() -> FetchUrlTool {
    FetchUrlTool::new(Arc::new(WebClient::new(WebLimits::default()).unwrap()))
}

fn page(text: &str, lossy: bool, cut: bool) -> ReadPage {
    let url = "https://example.org/a".to_owned();
    ReadPage { url, status: 200, content_type: "text/plain".to_owned(), text: text.to_owned(), lossy, cut }
}

#[tokio::test]
async fn a_refused_url_is_a_result_that_the_model_can_act_on() {
    let governance = Governance::new(Policy::default().allow("fetch_url"), Arc::new(DenyAll));
    let name = ToolName::new("fetch_url");
    let rights = governance.root_rights("parent".into(), [(name.clone(), Ok(Effect::Web))]);
    let folder = tempfile::tempdir().unwrap();
    let context = CallContext {
        run: RunId::new("run"),
        workspace: Arc::new(Workspace::open(folder.path()).unwrap()),
        cancel: tokio_util::sync::CancellationToken::new(),
        background: crate::tools::BackgroundCommands::within(&tokio_util::sync::CancellationToken::new()),
        limits: ToolLimits::default(),
    };
    let tool = OperationTool::new(tool());
    assert_eq!((tool.description().name.as_str(), tool.effect()), ("fetch_url", Effect::Web));
    for (url, is_arguments) in [("http://127.0.0.1/", false), ("ftp://example.org/", true)] {
        let arguments = Arguments::new(format!(r#"{{"url":"{url}"}}"#));
        let permit = governance.review(&rights, &name, arguments, "task").await.unwrap();
        let error = tool.call(permit, &context).await.unwrap_err();
        assert_eq!(matches!(error, ToolError::InvalidArguments(_)), is_arguments, "{error}");
        assert_eq!(matches!(error, ToolError::Failed(_)), !is_arguments, "{error}");
    }
}

#[test]
fn a_result_says_where_it_comes_from() {
    let text = tool().render(fit(page("body", false, false), 1000));
    assert_eq!(text, "https://example.org/a (200, text/plain)\n\nbody");
    let bare = ReadPage { content_type: String::new(), ..page("", false, false) };
    assert_eq!(tool().render(fit(bare, 1000)), "https://example.org/a (200, no content type)\n\n");
}

#[test]
fn a_result_keeps_within_the_limit_and_says_what_is_missing() {
    for most in [250, 300, 1000] {
        for (lossy, cut) in [(false, false), (true, false), (false, true), (true, true)] {
            let document = fit(page(&"é".repeat(2000), lossy, cut), most);
            assert!(document.cut);
            assert_eq!(document.text.ends_with(LOSSY_MARKER), lossy);
            let text = tool().render(document);
            assert!(text.ends_with(CUT_PAGE));
            assert!(text.len() <= most && text.len() + 2 > most, "{} of {most}", text.len());
        }
    }
}

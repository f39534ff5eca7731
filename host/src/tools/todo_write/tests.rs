//! What a model reads of its list, and which lists are refused.

use serde_json::{Value, json};

use super::*;
use crate::tools::testing::Place;

fn todo(content: &str, status: &str) -> Value {
    json!({"content": content, "status": status})
}

async fn written(tool: &TodoWriteTool, place: &Place, todos: &[Value]) -> Result<String, ToolError> {
    place.call_tool(tool, &json!({ "todos": todos })).await
}

#[tokio::test]
async fn the_list_comes_back_in_order_with_counts() {
    let (tool, place) = (TodoWriteTool::default(), Place::new());
    let list =
        [todo("look", "completed"), todo("write\n the  test", "in_progress"), todo("run it", "pending")];
    assert_eq!(
        written(&tool, &place, &list).await.unwrap(),
        "items: 3 (1 completed, 1 in progress, 1 pending)\n1. [x] look\n2. [>] write the test\n3. [ ] run it\n"
    );
}

#[tokio::test]
async fn each_call_replaces_the_whole_list_and_says_what_fell_off_it_unfinished() {
    let (tool, place) = (TodoWriteTool::default(), Place::new());
    written(&tool, &place, &[todo("a", "completed"), todo("b", "pending"), todo("c", "pending")])
        .await
        .unwrap();
    let text = written(&tool, &place, &[todo("c", "completed")]).await.unwrap();
    assert!(text.starts_with("items: 1 (1 completed") && text.contains("not on this one: 1]"), "{text}");
    assert_eq!(tool.list(&place.context.run).len(), 1);
    assert_eq!(
        written(&tool, &place, &[]).await.unwrap(),
        "items: 0 (0 completed, 0 in progress, 0 pending)\n"
    );
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_leaves_the_list_as_it_was() {
    let (tool, place) = (TodoWriteTool::default(), Place::new());
    written(&tool, &place, &[todo("a", "pending")]).await.unwrap();
    let many: Vec<Value> = (0..51).map(|number| todo(&format!("step {number}"), "pending")).collect();
    for (todos, said) in [
        (many, "51 items came, expected at most 50"),
        (vec![todo("a", "pending"), todo(" \n", "pending")], "the content of item 2 is empty"),
        (vec![todo(&"é".repeat(501), "pending")], "item 1 has 501 characters, expected at most 500"),
        (vec![todo("a", "in_progress"), todo("b", "in_progress")], "2 items are in_progress"),
        (vec![todo("a", "done")], "unknown variant `done`"),
        (vec![json!({"content": "a"})], "missing field `status`"),
    ] {
        let refused = written(&tool, &place, &todos).await.unwrap_err().to_string();
        assert!(refused.contains(said), "no `{said}` in: {refused}");
    }
    written(&tool, &place, &[todo(&"é".repeat(500), "in_progress")]).await.unwrap();
    let error = place.call_tool(&tool, &json!({})).await.unwrap_err();
    assert!(error.to_string().contains("missing field `todos`"), "{error}");
}

#[tokio::test]
async fn each_run_has_a_list_of_its_own_and_few_are_remembered() {
    let tool = TodoWriteTool::default();
    let first = Place::new();
    written(&tool, &first, &[todo("mine", "pending")]).await.unwrap();
    for _ in 0..RUNS {
        let other = Place::new();
        let text = written(&tool, &other, &[todo("theirs", "pending")]).await.unwrap();
        assert!(!text.contains("list before"), "{text}");
    }
    assert_eq!(tool.list(&first.context.run), []);
    assert_eq!(tool.lists.lock().unwrap().len(), RUNS);
}

#[test]
fn the_schema_says_the_limits_that_hold() {
    let schema: Value = serde_json::from_str(SPEC.parameters).unwrap();
    let todos = &schema["properties"]["todos"];
    assert_eq!(todos["maxItems"], json!(ITEMS));
    assert_eq!(todos["items"]["properties"]["content"]["maxLength"], json!(CONTENT_CHARACTERS));
    assert_eq!(TodoWriteTool::default().effect(), Effect::Manage);
}

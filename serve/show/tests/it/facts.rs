//! Facts in schemas, in plain words.

use kubeshape_show::explain::facts;
use kubeshape_value::{Bump, ToValue};
use serde_json::json;

fn lines(schema: &serde_json::Value) -> Vec<String> {
    let arena = Bump::new();
    facts(schema.to_value(&arena)).into_iter().map(|(name, text)| format!("{name}: {text}")).collect()
}

#[test]
fn titles_and_examples_are_facts() {
    let schema = json!({"type": "string", "title": "Size of it", "format": "cidr", "default": "a", "example": "b"});
    assert_eq!(lines(&schema), ["title: Size of it", "format: cidr", "default: \"a\"", "example: \"b\""]);
    // Examples of any type.
    assert_eq!(lines(&json!({"example": {"a": [1, null]}})), [r#"example: {"a":[1,null]}"#]);
    assert_eq!(lines(&json!({"example": false})), ["example: false"]);
    assert_eq!(lines(&json!({"example": true, "default": true})), ["default: true", "example: true"]);
    assert_eq!(lines(&json!({"title": ""})), [""; 0]);
}

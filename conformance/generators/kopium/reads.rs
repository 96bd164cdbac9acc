//! Reads a custom resource with the types that kopium makes of `docs/demo/widgets.yaml`.

#[path = "../../modules/widget.rs"]
mod widget;

use serde_json::json;

fn main() {
    let object = json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "a"},
        "spec": {"size": 3, "note": "a", "on": true, "ports": [{"name": "http", "port": 80}], "finalizers": ["b"]},
    });
    let widget: widget::Widget = serde_json::from_value(object.clone()).expect("the type reads the object");
    assert_eq!(serde_json::to_value(&widget).expect("the type writes the object"), object);
}

use crate::{definition::DEFINITION, normal, write};
use kubeshape_value::{Bump, ToValue};
use serde_json::json;

#[test]
fn prints_a_definition_in_struct_order() {
    let arena = Bump::new();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "tabs.x.y"},
        "spec": {"colour": 1, "group": "x.y", "names": {"plural": "tabs", "kind": "Tab", "shortNames": []},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
                "type": "object", "description": "a<b", "nullable": false, "maximum": 3, "minLength": 0,
                "properties": {"b": {"items": {"type": "string", "unknown": 1}},
                    "a": {"additionalProperties": true}},
                "default": {"z": 1, "a": null}, "x-kubernetes-preserve-unknown-fields": false,
                "x-kubernetes-validations": [{"message": "m", "rule": "r"}]}}}]}});
    let normal = normal(&DEFINITION, definition.to_value(&arena), &arena);
    assert_eq!(normal.unknown, ["spec.colour"]);
    let mut out = Vec::new();
    write(&DEFINITION, normal.value, &mut out);
    let expected = concat!(
        r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","#,
        r#""metadata":{"name":"tabs.x.y"},"#,
        r#""spec":{"group":"x.y","names":{"plural":"tabs","kind":"Tab"},"scope":"","versions":[{"name":"v1","#,
        r#""served":false,"storage":false,"schema":{"openAPIV3Schema":{"description":"a\u003cb","type":"object","#,
        r#""default":{"a":null,"z":1},"maximum":3,"minLength":0,"properties":{"a":{"additionalProperties":true},"#,
        r#""b":{"items":{"type":"string"}}},"x-kubernetes-preserve-unknown-fields":false,"#,
        r#""x-kubernetes-validations":[{"rule":"r","message":"m"}]}}}]},"status":{"conditions":null,"#,
        r#""acceptedNames":{"plural":"","kind":""},"storedVersions":null}}"#,
    );
    assert_eq!(String::from_utf8(out).expect("text"), expected);
}

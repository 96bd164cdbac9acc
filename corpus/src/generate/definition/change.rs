//! Changes to definitions.

use super::{FORMATS, PATTERNS, condition, number, schema, with_rules};
use crate::generate::Draw;
use serde_json::{Value, json};

/// Keywords and their possible values.
fn keyword(draw: &mut Draw) -> (&'static str, Value) {
    let name = draw.text(&[
        "type",
        "format",
        "pattern",
        "default",
        "enum",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "multipleOf",
        "uniqueItems",
        "nullable",
        "required",
        "items",
        "additionalProperties",
        "properties",
        "anyOf",
        "allOf",
        "oneOf",
        "not",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
        "exclusiveMinimum",
        "$ref",
        "definitions",
        "dependencies",
        "patternProperties",
        "id",
        "title",
        "example",
        "externalDocs",
        "additionalItems",
    ]);
    let value = match name {
        "type" => json!(draw.text(&["string", "integer", "number", "boolean", "array", "object", "", "null", "any"])),
        "format" => json!(draw.text(FORMATS)),
        "pattern" => json!(draw.text(PATTERNS)),
        "default" => draw
            .pick(&[
                json!({}),
                json!("a"),
                json!(1),
                json!(null),
                json!([]),
                json!({"a": 1}),
                json!(true),
                json!([null]),
            ])
            .clone(),
        "enum" => draw.pick(&[json!([]), json!(["a", "a"]), json!([1, "b", null]), json!([{"a": 1}])]).clone(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            json!(draw.pick(&[0, 1, 5, -1, 1000, i64::MAX]))
        }
        "minimum" | "maximum" | "multipleOf" | "example" => number(draw),
        "uniqueItems" | "nullable" | "exclusiveMinimum" => json!(draw.percent(70)),
        "x-kubernetes-preserve-unknown-fields" => json!(draw.percent(80)),
        "x-kubernetes-embedded-resource" | "x-kubernetes-int-or-string" => json!(draw.percent(85)),
        "required" => draw.pick(&[json!(["a"]), json!(["name", "name"]), json!([])]).clone(),
        "items" | "not" => {
            if draw.percent(40) {
                condition(draw, &Value::Null)
            } else {
                schema(draw, 1)
            }
        }
        "additionalProperties" | "additionalItems" => {
            if draw.percent(40) {
                json!(draw.percent(60))
            } else {
                schema(draw, 1)
            }
        }
        "properties" | "patternProperties" | "definitions" => {
            let inner = schema(draw, 1);
            json!({draw.text(&["a", "name", "", "metadata", "kind", "spec"]): inner})
        }
        "anyOf" | "allOf" | "oneOf" => {
            let inner = if draw.percent(60) { condition(draw, &Value::Null) } else { schema(draw, 1) };
            draw.pick(&[json!([inner]), json!([]), json!([inner, {}])]).clone()
        }
        "x-kubernetes-list-type" => json!(draw.text(&["set", "map", "atomic", "other", ""])),
        "x-kubernetes-map-type" => json!(draw.text(&["granular", "atomic", "set"])),
        "x-kubernetes-list-map-keys" => {
            draw.pick(&[json!(["name"]), json!(["a", "a"]), json!([]), json!(["missing"])]).clone()
        }
        "x-kubernetes-validations" => {
            let rules = [
                "self.size() < 5",
                "has(self.a)",
                "self.all(x, x > 0)",
                "self == oldSelf",
                "self.matches('^a')",
                "true",
                " ",
                "1",
                "self.a.b.c",
                "self.exists(k, k.startsWith('a'))",
            ];
            let rule = draw.text(&rules);
            draw.pick(&[json!([{"rule": rule}]), json!([{"rule": rule, "messageExpression": "'a' + self"}, {"rule": "true", "message": "m", "fieldPath": ".a"}])]).clone()
        }
        "dependencies" => json!({"a": ["b"]}),
        "externalDocs" => json!({"url": "u"}),
        _ => json!(draw.text(&["a", "", "#/definitions/a"])),
    };
    (name, value)
}

/// Collects the schemas within a definition, as pointers.
fn schemas(value: &Value, path: &str, found: &mut Vec<String>) {
    let Some(members) = value.as_object() else {
        for (at, item) in value.as_array().into_iter().flatten().enumerate() {
            if path.ends_with("Of") {
                found.push(format!("{path}/{at}"));
            }
            schemas(item, &format!("{path}/{at}"), found);
        }
        return;
    };
    for (name, inner) in members {
        let step = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        let within = path.ends_with("/properties")
            || ["openAPIV3Schema", "items", "additionalProperties", "not"].contains(&name.as_str());
        if within && inner.is_object() && step.contains("openAPIV3Schema") {
            found.push(step.clone());
        }
        schemas(inner, &step, found);
    }
}

/// Returns a definition with one to three changes, most of them in its schemas.
pub fn changed(draw: &mut Draw, definition: &Value) -> Value {
    let mut changed = definition.clone();
    for _ in 0..*draw.pick(&[1, 1, 2, 3]) {
        let mut places = Vec::new();
        schemas(&changed, "", &mut places);
        let spec = &mut changed["spec"];
        if draw.percent(12) {
            spoil(draw, spec);
            // Other changes need certain values.
            break;
        }
        if places.is_empty() || draw.percent(12) {
            change_spec(draw, spec);
            continue;
        }
        let place = draw.pick(&places).clone();
        let other = draw.pick(&places).clone();
        let copied = changed.pointer(&other).cloned().unwrap_or_default();
        let Some(node) = changed.pointer_mut(&place).and_then(Value::as_object_mut) else { continue };
        match draw.below(10) {
            0..6 => {
                let (name, value) = keyword(draw);
                node.insert(name.to_owned(), value);
            }
            6 | 7 => {
                let names: Vec<String> = node.keys().cloned().collect();
                if !names.is_empty() {
                    node.remove(draw.pick(&names));
                }
            }
            8 => {
                // A copy of a schema within itself could grow too much.
                if copied.to_string().len() < 5000
                    && let Value::Object(copied) = copied
                {
                    *node = copied;
                }
            }
            _ => {
                let whole = with_rules(draw, Value::Object(node.clone()), false);
                if let Value::Object(whole) = whole {
                    *node = whole;
                }
            }
        }
    }
    changed
}

/// Puts a rare value at any place: an empty one, or one of another type.
fn spoil(draw: &mut Draw, value: &mut Value) {
    let odd = [
        json!(null),
        json!(""),
        json!(" "),
        json!("x"),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(true),
        json!(false),
        json!([]),
        json!([null]),
        json!([""]),
        json!({}),
        json!({"": ""}),
    ];
    let (mut places, mut todo) = (Vec::new(), vec![(String::new(), &*value)]);
    while let Some((path, value)) = todo.pop() {
        let members = value.as_object().into_iter().flatten();
        let members = members.map(|(name, inner)| (name.replace('~', "~0").replace('/', "~1"), inner));
        let items = value.as_array().into_iter().flatten().enumerate().map(|(at, inner)| (at.to_string(), inner));
        todo.extend(members.chain(items).map(|(step, inner)| (format!("{path}/{step}"), inner)));
        if !path.is_empty() {
            places.push(path);
        }
    }
    if !places.is_empty()
        && let Some(place) = value.pointer_mut(draw.pick::<String>(&places))
    {
        *place = draw.pick(&odd).clone();
    }
}

fn change_spec(draw: &mut Draw, spec: &mut Value) {
    let texts = [
        "",
        "Test",
        "tests",
        "a.b",
        "Tests",
        "v1",
        "v2",
        "UPPER",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "1a",
        "a_b",
    ];
    let text = json!(draw.text(&texts));
    match draw.below(14) {
        0 => spec["group"] = text,
        1 => spec["scope"] = text,
        2 => spec["names"]["plural"] = text,
        3 => spec["names"]["kind"] = text,
        4 => spec["names"]["listKind"] = text,
        5 => spec["names"]["shortNames"] = json!(["a", "a", "B"]),
        6 => spec["preserveUnknownFields"] = json!(draw.percent(60)),
        7 => spec["conversion"] = draw.pick(&[json!({"strategy": "Webhook"}), json!({"strategy": "None"}), json!({"strategy": "Other"}), json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a/b"}}})]).clone(),
        8 => {
            let first = spec["versions"][0].clone();
            if let Some(versions) = spec["versions"].as_array_mut() {
                versions.push(first);
            }
        }
        9 => spec["versions"][0]["storage"] = json!(draw.percent(50)),
        10 => spec["versions"][0]["subresources"] = draw.pick(&[json!({"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}), json!({"status": {}, "scale": {"specReplicasPath": "", "statusReplicasPath": "x"}}), json!({})]).clone(),
        11 => spec["versions"][0]["additionalPrinterColumns"] = draw.pick(&[json!([{"name": "A", "type": "string", "jsonPath": ".spec.a"}]), json!([{"name": "", "type": "other", "jsonPath": "a", "format": "x"}])]).clone(),
        12 => spec["versions"][0]["selectableFields"] = draw.pick(&[json!([{"jsonPath": ".spec.a"}, {"jsonPath": ".spec.a"}]), json!([{"jsonPath": ".metadata.name"}]), json!([{"jsonPath": "x["}])]).clone(),
        _ => spec["versions"][0]["name"] = text,
    }
}

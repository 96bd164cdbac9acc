//! CustomResourceDefinitions with rules, changed ones, and objects for them, as JSON.

mod change;
mod object;

pub use change::changed;
pub use object::{custom_resource, spoiled_resource, updated};

use super::draw::Draw;
use super::expression::{Expressions, Type, damaged};
use object::value;
use serde_json::{Map, Value, json};

/// Names of properties, and their names in rules. Rules cannot use those with an empty one.
const NAMES: &[(&str, &str)] = &[
    ("name", "name"),
    ("size", "size"),
    ("spec", "spec"),
    ("mode", "mode"),
    ("items", "items"),
    ("a", "a"),
    ("x", "x"),
    ("my-field", "my__dash__field"),
    ("a.b", "a__dot__b"),
    ("on/off", "on__slash__off"),
    ("namespace", "__namespace__"),
    ("in", "__in__"),
    ("self", "self"),
    ("c__d", "c__underscores__d"),
    ("type", "type"),
    ("kind", "kind"),
    ("1st", ""),
    ("\u{fc}n\u{ef}", ""),
    ("a b", ""),
];

const FORMATS: &[&str] = &[
    "date-time",
    "duration",
    "byte",
    "date",
    "int32",
    "int64",
    "uuid",
    "email",
    "uri",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "password",
    "float",
    "double",
    "binary",
    "datetime",
    "bsonobjectid",
    "hexcolor",
    "rgbcolor",
    "isbn",
    "creditcard",
    "ssn",
    "k8s-short-name",
    "k8s-long-name",
    "made-up",
];

const PATTERNS: &[&str] =
    &["^[a-z]+$", "^a", "[0-9]{2,}", "^(foo|bar)$", "^.{1,5}$", "\\d+", "(", "^$", "(?i)^ab", "[\u{e9}]", "x{1001}"];

const TEXTS: &[&str] = &[
    "",
    "a",
    "foo",
    "bar",
    "foo bar",
    "12",
    "1h",
    "90s",
    "2009-02-13T23:31:30Z",
    "2001-02-29",
    "2000-01-01",
    "YQ==",
    "10.0.0.1",
    "::1",
    "a@b.c",
    "https://example.com/x",
    "50%",
    "\u{e9}t\u{e9}",
    "\u{1F600}",
    "123e4567-e89b-12d3-a456-426614174000",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "<a>&",
    "null",
    "AB",
    "10.0.0.0/8",
];

fn yes(
    draw: &mut Draw,
    percent: usize,
    node: &mut Map<String, Value>,
    key: &str,
    value: impl FnOnce(&mut Draw) -> Value,
) {
    if draw.percent(percent) {
        let value = value(draw);
        node.insert(key.to_owned(), value);
    }
}

fn small(draw: &mut Draw) -> Value {
    json!(draw.pick(&[0, 1, 2, 3, 5, 10, 63, 100]))
}

fn number(draw: &mut Draw) -> Value {
    let numbers = [
        json!(0),
        json!(1),
        json!(-1),
        json!(5),
        json!(1.5),
        json!(-0.5),
        json!(10),
        json!(1e3),
        json!(1e21),
        json!(9_007_199_254_740_993_i64),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(0.1),
        json!(2_147_483_648_i64),
        json!(1e-7),
        json!(100),
        json!(3.0),
    ];
    draw.pick(&numbers).clone()
}

/// Returns a schema with at most this many levels.
fn schema(draw: &mut Draw, depth: usize) -> Value {
    let mut node = Map::new();
    match draw.below(if depth == 0 { 11 } else { 22 }) {
        0..4 => {
            node.insert("type".to_owned(), json!("string"));
            yes(draw, 30, &mut node, "format", |draw| json!(draw.text(FORMATS)));
            yes(draw, 45, &mut node, "maxLength", small);
            yes(draw, 12, &mut node, "minLength", |draw| json!(draw.below(4)));
            yes(draw, 15, &mut node, "pattern", |draw| json!(draw.text(&PATTERNS[..6])));
            yes(draw, 12, &mut node, "enum", |draw| (0..=draw.below(4)).map(|_| json!(draw.text(TEXTS))).collect());
        }
        4..7 => {
            let integer = draw.percent(70);
            node.insert("type".to_owned(), json!(if integer { "integer" } else { "number" }));
            yes(draw, 20, &mut node, "minimum", number);
            yes(draw, 20, &mut node, "maximum", number);
            yes(draw, 6, &mut node, "exclusiveMinimum", |draw| json!(draw.percent(70)));
            yes(draw, 6, &mut node, "exclusiveMaximum", |draw| json!(draw.percent(70)));
            yes(draw, 8, &mut node, "multipleOf", |draw| {
                draw.pick(&[json!(2), json!(0.1), json!(5), json!(1e10)]).clone()
            });
            yes(draw, 20, &mut node, "format", |draw| {
                json!(draw.text(&["int32", "int64", "float", "double", "uint8"]))
            });
            yes(draw, 8, &mut node, "enum", |draw| (0..=draw.below(3)).map(|_| number(draw)).collect());
        }
        7 => drop(node.insert("type".to_owned(), json!("boolean"))),
        8 => {
            node.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
            yes(draw, 40, &mut node, "anyOf", |_| json!([{"type": "integer"}, {"type": "string"}]));
            yes(draw, 30, &mut node, "maxLength", small);
            yes(draw, 15, &mut node, "pattern", |draw| json!(draw.text(PATTERNS)));
        }
        9 => {
            node.insert("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true));
            yes(draw, 60, &mut node, "type", |_| json!("object"));
        }
        10 => {
            node.insert("type".to_owned(), json!("object"));
            node.insert("x-kubernetes-embedded-resource".to_owned(), json!(true));
            if draw.percent(70) {
                node.insert("x-kubernetes-preserve-unknown-fields".to_owned(), json!(true));
            } else {
                node.insert("properties".to_owned(), json!({"spec": schema(draw, 0)}));
            }
        }
        11..16 => {
            object(draw, depth, &mut node);
            yes(draw, 8, &mut node, "x-kubernetes-preserve-unknown-fields", |_| json!(true));
            yes(draw, 6, &mut node, "x-kubernetes-map-type", |draw| json!(draw.text(&["atomic", "granular"])));
        }
        16 | 17 => {
            node.insert("type".to_owned(), json!("object"));
            node.insert("additionalProperties".to_owned(), schema(draw, depth - 1));
            yes(draw, 45, &mut node, "maxProperties", small);
            yes(draw, 10, &mut node, "minProperties", |draw| json!(draw.below(3)));
        }
        18 => {
            let mut item = Map::new();
            object(draw, 0, &mut item);
            let mut keys: Vec<String> = Vec::new();
            if let Some(Value::Object(properties)) = item.get_mut("properties") {
                for key in ["name", "x"].iter().take(draw.below(2) + 1) {
                    properties.insert((*key).to_owned(), json!({"type": draw.text(&["string", "string", "integer"])}));
                    keys.push((*key).to_owned());
                }
            }
            item.insert("required".to_owned(), json!(keys));
            node.insert("type".to_owned(), json!("array"));
            node.insert("items".to_owned(), Value::Object(item));
            node.insert("x-kubernetes-list-type".to_owned(), json!("map"));
            node.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
            yes(draw, 50, &mut node, "maxItems", small);
        }
        _ => {
            node.insert("type".to_owned(), json!("array"));
            let set = draw.percent(25);
            node.insert("items".to_owned(), if set { scalar(draw) } else { schema(draw, depth - 1) });
            if set {
                node.insert("x-kubernetes-list-type".to_owned(), json!("set"));
            } else {
                yes(draw, 10, &mut node, "x-kubernetes-list-type", |_| json!("atomic"));
            }
            yes(draw, 55, &mut node, "maxItems", small);
            yes(draw, 10, &mut node, "minItems", |draw| json!(draw.below(3)));
        }
    }
    yes(draw, 10, &mut node, "nullable", |draw| json!(draw.percent(80)));
    yes(draw, 8, &mut node, "description", |_| json!("Text <b>&"));
    if draw.percent(12) {
        let junctor = draw.text(&["anyOf", "oneOf", "allOf", "not"]);
        let shape = Value::Object(node.clone());
        let inner = if junctor == "not" {
            condition(draw, &shape)
        } else {
            (0..=draw.below(3)).map(|_| condition(draw, &shape)).collect()
        };
        node.entry(junctor).or_insert(inner);
    }
    if draw.percent(10) {
        let value = value(draw, &Value::Object(node.clone()), 1);
        if !value.is_null() || node.get("nullable") == Some(&json!(true)) {
            node.insert("default".to_owned(), value);
        }
    }
    let node = Value::Object(node);
    if draw.percent(18) { with_rules(draw, node, false) } else { node }
}

fn scalar(draw: &mut Draw) -> Value {
    let bounded = json!({"type": "string", "maxLength": 20});
    draw.pick(&[json!({"type": "string"}), json!({"type": "integer"}), bounded, json!({"type": "boolean"})]).clone()
}

/// Returns a condition without types, as in the branches of `anyOf`.
fn condition(draw: &mut Draw, shape: &Value) -> Value {
    if let Some(properties) = shape.get("properties").and_then(Value::as_object).filter(|found| !found.is_empty()) {
        let names: Vec<&String> = properties.keys().collect();
        let name = (*draw.pick(&names)).clone();
        return match draw.below(3) {
            0 => json!({"required": [name]}),
            1 => {
                let inner = condition(draw, &properties[&name]);
                json!({"properties": {name: inner}})
            }
            _ => json!({"minProperties": draw.below(3)}),
        };
    }
    match shape.get("type").and_then(Value::as_str) {
        Some("string") => draw
            .pick(&[
                json!({"pattern": "^a"}),
                json!({"maxLength": 3}),
                json!({"enum": ["a", "foo"]}),
                json!({"format": "ipv4"}),
            ])
            .clone(),
        Some("integer" | "number") => draw
            .pick(&[json!({"minimum": 3}), json!({"maximum": 7, "exclusiveMaximum": true}), json!({"multipleOf": 2})])
            .clone(),
        Some("array") => {
            draw.pick(&[json!({"maxItems": 1}), json!({"minItems": 1}), json!({"items": {"minimum": 1}})]).clone()
        }
        _ => draw.pick(&[json!({"enum": [1, "a"]}), json!({}), json!({"not": {"pattern": "b"}})]).clone(),
    }
}

fn object(draw: &mut Draw, depth: usize, node: &mut Map<String, Value>) {
    let mut properties = Map::new();
    for _ in 0..=draw.below(4) {
        let (name, _) = *draw.pick(NAMES);
        let inner = schema(draw, depth.saturating_sub(1));
        properties.insert(name.to_owned(), inner);
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    node.insert("type".to_owned(), json!("object"));
    node.insert("properties".to_owned(), Value::Object(properties));
    if draw.percent(35) {
        let name = draw.pick(&names).clone();
        node.insert("required".to_owned(), json!([name]));
    }
}

/// Returns the type for rules.
fn cel_type(schema: &Value, resource: bool) -> Type {
    let is = |key: &str| schema.get(key) == Some(&json!(true));
    if is("x-kubernetes-int-or-string") {
        return Type::simple("dyn");
    }
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "string" => Type::parse(match text("format") {
            "date-time" | "date" => "timestamp",
            "duration" => "duration",
            "byte" => "bytes",
            _ => "string",
        }),
        "integer" => Type::simple("int"),
        "number" => Type::simple("double"),
        "boolean" => Type::simple("bool"),
        "array" => {
            Type::list(schema.get("items").map_or_else(|| Type::simple("unknown"), |items| cel_type(items, false)))
        }
        "object" => {
            if let Some(values) = schema.get("additionalProperties") {
                return Type::map(cel_type(values, false));
            }
            let mut fields = Vec::new();
            for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let reached = NAMES.iter().find(|(known, _)| known == name).map(|(_, reached)| *reached);
                if let Some(reached) = reached.filter(|reached| !reached.is_empty()) {
                    fields.push((reached.to_owned(), cel_type(property, false)));
                }
            }
            if resource || is("x-kubernetes-embedded-resource") {
                let names = ["name", "generateName"].map(|name| (name.to_owned(), Type::simple("string")));
                fields.push(("kind".to_owned(), Type::simple("string")));
                fields.push(("metadata".to_owned(), Type::object(names.into())));
            }
            Type::object(fields)
        }
        _ => Type::simple("unknown"),
    }
}

/// Adds rules over the schema's own fields.
fn with_rules(draw: &mut Draw, mut node: Value, resource: bool) -> Value {
    let ty = cel_type(&node, resource);
    if ty.name == "unknown" {
        return node;
    }
    let mut rules = Vec::new();
    for _ in 0..=draw.below(2) {
        let mut variables = vec![("self".to_owned(), ty.clone())];
        let optional = draw.percent(8);
        if draw.percent(15) {
            let old =
                if optional { Type { inner: vec![ty.clone()], ..Type::simple("optional_type") } } else { ty.clone() };
            variables.push(("oldSelf".to_owned(), old));
        }
        let wrong = if draw.percent(6) { 6 } else { 0 };
        let depth = *draw.pick(&[1, 2, 2, 3]);
        let mut rule = Map::new();
        let text = Expressions::new(draw, &variables, wrong).expression(&Type::simple("bool"), depth);
        let text = if draw.percent(2) { damaged(draw, &text) } else { text };
        rule.insert("rule".to_owned(), json!(text));
        if draw.percent(15) {
            let message = Expressions::new(draw, &variables, 0).expression(&Type::simple("string"), 1);
            rule.insert("messageExpression".to_owned(), json!(message));
        }
        yes(draw, 20, &mut rule, "message", |draw| json!(draw.text(&["no", "must not be so", "line\nbreak", " "])));
        yes(draw, 12, &mut rule, "reason", |draw| {
            json!(draw.text(&[
                "FieldValueInvalid",
                "FieldValueForbidden",
                "FieldValueRequired",
                "FieldValueDuplicate",
                "Other",
                ""
            ]))
        });
        yes(draw, 10, &mut rule, "fieldPath", |draw| {
            json!(draw.text(&[".a", ".name", ".x.name", "['my-field']", ".missing", ".spec['a.b']", "a", ".items[0]"]))
        });
        if optional {
            rule.insert("optionalOldSelf".to_owned(), json!(true));
        }
        rules.push(Value::Object(rule));
    }
    node["x-kubernetes-validations"] = json!(rules);
    node
}

/// Returns a definition with one version, whose schema is mostly valid.
pub fn definition(draw: &mut Draw) -> Value {
    definition_with(draw, 45)
}

/// Returns a definition whose root has rules that use all fields.
pub fn ruled_definition(draw: &mut Draw) -> Value {
    definition_with(draw, 100)
}

/// `ruled` is the percentage of definitions with rules at their root.
fn definition_with(draw: &mut Draw, ruled: usize) -> Value {
    let mut root = Map::new();
    let depth = *draw.pick(&[1, 2, 2, 3]);
    object(draw, depth, &mut root);
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        properties.remove("kind");
        if draw.percent(6) {
            properties.insert(
                "metadata".to_owned(),
                json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}}}),
            );
        }
    }
    root.remove("required");
    let root = Value::Object(root);
    let root = if draw.percent(ruled) { with_rules(draw, root, true) } else { root };
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}});
    if draw.percent(15) {
        version["subresources"] = json!({"status": {}});
    }
    if draw.percent(6) {
        version["selectableFields"] = json!([{"jsonPath": draw.text(&[".spec", ".name", ".size", ".mode"])}]);
    }
    let names = json!({"plural": "tests", "singular": "test", "kind": "Test", "listKind": "TestList"});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "tests.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    })
}

/// Removes the bounds of lengths from a schema or a definition, at every level.
pub fn drop_bounds(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for bound in ["maxLength", "maxItems", "maxProperties", "enum"] {
                if !members.get(bound).is_some_and(Value::is_object) {
                    members.remove(bound);
                }
            }
            members.values_mut().for_each(drop_bounds);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_bounds),
        _ => {}
    }
}

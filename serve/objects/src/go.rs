//! CustomResourceDefinitions as Go's structs hold and print them (upstream: `pkg/apis/apiextensions/v1` of
//! `k8s.io/apiextensions-apiserver`).
//!
//! A server decodes a definition into structs and prints these: unknown fields and empty ones go, members stand in the order of
//! the structs. [`normal`] does the former, [`write`] the latter. The structs are tables.

use crate::meta;
use kubeshape_schema::field::Path;
use kubeshape_smd::value::Map;
use kubeshape_smd::{Bump, Value};

/// A Go type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Text,
    Bool,
    Int,
    Float,
    /// `apiextensions.JSON`: any value.
    Any,
    Metadata,
    Struct(&'static [Field]),
    List(&'static Type),
    Map(&'static Type),
    /// `JSONSchemaPropsOrArray`, `…OrBool`, `…OrStringArray`: a schema, or something else. It reads its JSON itself, so that
    /// strict decoding sees nothing of it.
    SchemaOr(&'static Type),
}

/// When a member is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// Always; an absent one as Go's zero value.
    Always,
    /// If it is not Go's zero value: `omitempty`.
    Filled,
    /// If it is there: a pointer with `omitempty`.
    Set,
}

/// A member of a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field(&'static str, Type, Printed);

use Printed::{Always, Filled, Set};
use Type::{Any, Bool, Float, Int, List, Metadata, SchemaOr, Struct, Text};

const TEXTS: Type = List(&Text);
const ANYTHING: Type = List(&Any);
static SCHEMA: Type = Struct(&SCHEMA_PROPS);
static SCHEMAS: Type = List(&SCHEMA);

/// `CustomResourceDefinition`
pub(crate) static DEFINITION: Type = Struct(&[
    Field("kind", Text, Filled),
    Field("apiVersion", Text, Filled),
    Field("metadata", Metadata, Always),
    Field("spec", Struct(&SPEC), Always),
    Field("status", Struct(&STATUS), Always),
]);

static SPEC: [Field; 6] = [
    Field("group", Text, Always),
    Field("names", Struct(&NAMES), Always),
    Field("scope", Text, Always),
    Field("versions", List(&Struct(&VERSION)), Always),
    Field("conversion", Struct(&CONVERSION), Set),
    Field("preserveUnknownFields", Bool, Filled),
];

static NAMES: [Field; 6] = [
    Field("plural", Text, Always),
    Field("singular", Text, Filled),
    Field("shortNames", TEXTS, Filled),
    Field("kind", Text, Always),
    Field("listKind", Text, Filled),
    Field("categories", TEXTS, Filled),
];

static VERSION: [Field; 9] = [
    Field("name", Text, Always),
    Field("served", Bool, Always),
    Field("storage", Bool, Always),
    Field("deprecated", Bool, Filled),
    Field("deprecationWarning", Text, Set),
    Field("schema", Struct(&VALIDATION), Set),
    Field("subresources", Struct(&SUBRESOURCES), Set),
    Field("additionalPrinterColumns", List(&Struct(&COLUMN)), Filled),
    Field("selectableFields", List(&Struct(&[Field("jsonPath", Text, Always)])), Filled),
];

static VALIDATION: [Field; 1] = [Field("openAPIV3Schema", Struct(&SCHEMA_PROPS), Set)];

static SUBRESOURCES: [Field; 2] = [Field("status", Struct(&[]), Set), Field("scale", Struct(&SCALE), Set)];

static SCALE: [Field; 3] = [
    Field("specReplicasPath", Text, Always),
    Field("statusReplicasPath", Text, Always),
    Field("labelSelectorPath", Text, Set),
];

static COLUMN: [Field; 6] = [
    Field("name", Text, Always),
    Field("type", Text, Always),
    Field("format", Text, Filled),
    Field("description", Text, Filled),
    Field("priority", Int, Filled),
    Field("jsonPath", Text, Always),
];

static CONVERSION: [Field; 2] = [Field("strategy", Text, Always), Field("webhook", Struct(&WEBHOOK), Set)];

static WEBHOOK: [Field; 2] =
    [Field("clientConfig", Struct(&CLIENT_CONFIG), Set), Field("conversionReviewVersions", TEXTS, Always)];

static CLIENT_CONFIG: [Field; 3] =
    [Field("url", Text, Set), Field("service", Struct(&SERVICE), Set), Field("caBundle", Text, Filled)];

static SERVICE: [Field; 4] =
    [Field("namespace", Text, Always), Field("name", Text, Always), Field("path", Text, Set), Field("port", Int, Set)];

static STATUS: [Field; 4] = [
    Field("conditions", List(&Struct(&CONDITION)), Always),
    Field("acceptedNames", Struct(&NAMES), Always),
    Field("storedVersions", TEXTS, Always),
    Field("observedGeneration", Int, Filled),
];

static CONDITION: [Field; 6] = [
    Field("type", Text, Always),
    Field("status", Text, Always),
    Field("observedGeneration", Int, Filled),
    Field("lastTransitionTime", Text, Filled),
    Field("reason", Text, Filled),
    Field("message", Text, Filled),
];

static RULE: [Field; 6] = [
    Field("rule", Text, Always),
    Field("message", Text, Filled),
    Field("messageExpression", Text, Filled),
    Field("reason", Text, Set),
    Field("fieldPath", Text, Filled),
    Field("optionalOldSelf", Bool, Set),
];

static SCHEMA_PROPS: [Field; 44] = [
    Field("id", Text, Filled),
    Field("$schema", Text, Filled),
    Field("$ref", Text, Set),
    Field("description", Text, Filled),
    Field("type", Text, Filled),
    Field("format", Text, Filled),
    Field("title", Text, Filled),
    Field("default", Any, Set),
    Field("maximum", Float, Set),
    Field("exclusiveMaximum", Bool, Filled),
    Field("minimum", Float, Set),
    Field("exclusiveMinimum", Bool, Filled),
    Field("maxLength", Int, Set),
    Field("minLength", Int, Set),
    Field("pattern", Text, Filled),
    Field("maxItems", Int, Set),
    Field("minItems", Int, Set),
    Field("uniqueItems", Bool, Filled),
    Field("multipleOf", Float, Set),
    Field("enum", ANYTHING, Filled),
    Field("maxProperties", Int, Set),
    Field("minProperties", Int, Set),
    Field("required", TEXTS, Filled),
    Field("items", SchemaOr(&SCHEMAS), Set),
    Field("allOf", List(&SCHEMA), Filled),
    Field("oneOf", List(&SCHEMA), Filled),
    Field("anyOf", List(&SCHEMA), Filled),
    Field("not", Struct(&SCHEMA_PROPS), Set),
    Field("properties", Type::Map(&SCHEMA), Filled),
    Field("additionalProperties", SchemaOr(&Bool), Set),
    Field("patternProperties", Type::Map(&SCHEMA), Filled),
    Field("dependencies", Type::Map(&SchemaOr(&TEXTS)), Filled),
    Field("additionalItems", SchemaOr(&Bool), Set),
    Field("definitions", Type::Map(&SCHEMA), Filled),
    Field("externalDocs", Struct(&[Field("description", Text, Filled), Field("url", Text, Filled)]), Set),
    Field("example", Any, Set),
    Field("nullable", Bool, Filled),
    Field("x-kubernetes-preserve-unknown-fields", Bool, Set),
    Field("x-kubernetes-embedded-resource", Bool, Filled),
    Field("x-kubernetes-int-or-string", Bool, Filled),
    Field("x-kubernetes-list-map-keys", TEXTS, Filled),
    Field("x-kubernetes-list-type", Text, Set),
    Field("x-kubernetes-map-type", Text, Set),
    Field("x-kubernetes-validations", List(&Struct(&RULE)), Filled),
];

/// A value as the structs hold it, and the paths of the fields that they do not know.
#[derive(Clone, Debug)]
pub(crate) struct Normal<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) unknown: Vec<String>,
}

/// A value as a type holds it. Members that are printed though they are empty are there; values of other types than Go's are left as
/// they are. Metadata is left to its own rules.
pub(crate) fn normal<'a>(ty: &'static Type, value: Value<'a>, arena: &'a Bump) -> Normal<'a> {
    let mut walk = Walk { arena, unknown: Vec::new(), is_strict: true };
    let value = walk.value(ty, value, &Path::Root);
    Normal { value, unknown: walk.unknown }
}

struct Walk<'a> {
    arena: &'a Bump,
    unknown: Vec<String>,
    /// Whether strict decoding sees the value.
    is_strict: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, ty: &'static Type, value: Value<'a>, path: &Path<'_>) -> Value<'a> {
        match (ty, value) {
            (Struct(fields), Value::Map(map)) => self.members(fields, map, path),
            (Struct(fields), Value::Null) => self.members(fields, Map::EMPTY, path),
            (List(items), Value::List(list)) => {
                let list = list.iter().enumerate().map(|(at, item)| match (items, *item) {
                    (Any, item) => item,
                    (items, item) => self.value(items, item, &path.index(at)),
                });
                let list: Vec<_> = list.collect();
                Value::List(self.arena.alloc_slice_copy(&list))
            }
            (Type::Map(items), Value::Map(map)) => {
                let entries =
                    map.entries().iter().map(|(key, item)| (*key, self.value(items, *item, &path.child(key))));
                let entries: Vec<_> = entries.collect();
                Value::Map(Map::from_entries(entries, self.arena))
            }
            (SchemaOr(other), value) => {
                let before = std::mem::replace(&mut self.is_strict, false);
                let ty = if value.as_map().is_some() { &SCHEMA } else { *other };
                let value = self.value(ty, value, path);
                self.is_strict = before;
                value
            }
            (Float, Value::Int(n)) => {
                #[allow(clippy::cast_precision_loss)] // As Go's conversion.
                let float = n as f64;
                Value::Float(float)
            }
            // Null leaves Go's zero value.
            (Text, Value::Null) => Value::String(""),
            (Bool, Value::Null) => Value::Bool(false),
            (Int, Value::Null) => Value::Int(0),
            (_, value) => value,
        }
    }

    fn members(&mut self, fields: &'static [Field], map: Map<'a>, path: &Path<'_>) -> Value<'a> {
        let mut entries: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(map.len());
        for (key, _) in map.entries() {
            if self.is_strict && !fields.iter().any(|Field(name, ..)| name == key) {
                self.unknown.push(path.child(key).to_string());
            }
        }
        for Field(name, ty, printed) in fields {
            let found = map.get(name).filter(|value| !value.is_null());
            let value = match (found, printed) {
                (Some(value), _) => self.value(ty, value, &path.child(name)),
                (None, Always) => self.zero(ty),
                (None, _) => continue,
            };
            if *printed != Filled || !is_zero(value) {
                entries.push((name, value));
            }
        }
        Value::Map(Map::from_entries(entries, self.arena))
    }

    fn zero(&mut self, ty: &'static Type) -> Value<'a> {
        match ty {
            Text => Value::String(""),
            Bool => Value::Bool(false),
            Int => Value::Int(0),
            Float => Value::Float(0.0),
            Metadata => Value::Map(Map::EMPTY),
            Struct(fields) => self.members(fields, Map::EMPTY, &Path::Root),
            Any | List(_) | Type::Map(_) | SchemaOr(_) => Value::Null,
        }
    }
}

/// Whether a value is neither a schema nor a list of some. Go holds an empty struct of it, which is stored as null, and so is not
/// there when it is read again.
fn is_neither(ty: &Type, value: Value<'_>) -> bool {
    matches!(ty, SchemaOr(List(_))) && value.as_map().is_none() && value.as_list().is_none_or(<[_]>::is_empty)
}

fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) => true,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    }
}

/// Appends a value in its normal form as JSON, with members in the order of the structs.
pub(crate) fn write(ty: &Type, value: Value<'_>, out: &mut Vec<u8>) {
    match (ty, value) {
        (Metadata, value) => meta::json(value, out),
        (Struct(fields), Value::Map(map)) => {
            out.push(b'{');
            let start = out.len();
            for Field(name, ty, _) in *fields {
                let Some(value) = map.get(name).filter(|value| !is_neither(ty, *value)) else { continue };
                separate(start, out);
                Value::String(name).write_go_json(out);
                out.push(b':');
                write(ty, value, out);
            }
            out.push(b'}');
        }
        (List(items), Value::List(list)) => {
            out.push(b'[');
            let start = out.len();
            for item in list {
                separate(start, out);
                write(items, *item, out);
            }
            out.push(b']');
        }
        (Type::Map(items), Value::Map(map)) => {
            out.push(b'{');
            let start = out.len();
            for (key, value) in map.entries() {
                separate(start, out);
                Value::String(key).write_go_json(out);
                out.push(b':');
                write(items, *value, out);
            }
            out.push(b'}');
        }
        (SchemaOr(_), Value::Map(_)) => write(&SCHEMA, value, out),
        (SchemaOr(other), value) => write(other, value, out),
        (_, value) => value.write_go_json(out),
    }
}

fn separate(start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.push(b',');
    }
}

/// Appends an object of a kind of which no order of members is known: what all objects have, and then the others by name.
pub(crate) fn write_typed(object: Value<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    let start = out.len();
    let map = object.as_map().unwrap_or(Map::EMPTY);
    let first = ["kind", "apiVersion", "metadata"];
    let all = first.iter().filter_map(|key| Some((*key, map.get(key)?)));
    let others = map.entries().iter().filter(|(key, _)| !first.contains(key)).copied();
    for (key, value) in all.chain(others) {
        separate(start, out);
        Value::String(key).write_go_json(out);
        out.push(b':');
        if key == "metadata" { meta::json(value, out) } else { value.write_go_json(out) }
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::{DEFINITION, normal, write};
    use kubeshape_smd::{Bump, ToValue};
    use serde_json::json;

    #[test]
    fn a_definition_is_printed_as_its_structs_are() {
        let arena = Bump::new();
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "tabs.x.y"},
            "spec": {"colour": 1, "group": "x.y", "names": {"plural": "tabs", "kind": "Tab", "shortNames": []},
                "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
                    "type": "object", "description": "a<b", "nullable": false, "maximum": 3, "minLength": 0,
                    "properties": {"b": {"items": {"type": "string", "unknown": 1}}, "a": {"additionalProperties": true}},
                    "default": {"z": 1, "a": null}, "x-kubernetes-preserve-unknown-fields": false,
                    "x-kubernetes-validations": [{"message": "m", "rule": "r"}]}}}]}});
        let normal = normal(&DEFINITION, definition.to_value(&arena), &arena);
        assert_eq!(normal.unknown, ["spec.colour"]);
        let mut out = Vec::new();
        write(&DEFINITION, normal.value, &mut out);
        let expected = concat!(
            r#"{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"tabs.x.y"},"#,
            r#""spec":{"group":"x.y","names":{"plural":"tabs","kind":"Tab"},"scope":"","versions":[{"name":"v1","#,
            r#""served":false,"storage":false,"schema":{"openAPIV3Schema":{"description":"a\u003cb","type":"object","#,
            r#""default":{"a":null,"z":1},"maximum":3,"minLength":0,"properties":{"a":{"additionalProperties":true},"#,
            r#""b":{"items":{"type":"string"}}},"x-kubernetes-preserve-unknown-fields":false,"#,
            r#""x-kubernetes-validations":[{"rule":"r","message":"m"}]}}}]},"status":{"conditions":null,"#,
            r#""acceptedNames":{"plural":"","kind":""},"storedVersions":null}}"#,
        );
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}

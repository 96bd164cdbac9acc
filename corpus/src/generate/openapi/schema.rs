//! Schemas of both versions.

use super::choices::{Choices, Object, single, texts};
use super::values::{any, count, extension, number, text};
use crate::generate::tree::Tree;

/// What the schemas of a document may contain.
pub(super) struct Schemas {
    /// Whether they are of v3.
    pub(super) v3: bool,
    /// Targets of references.
    pub(super) names: Vec<String>,
    /// Whether odd strings, numbers and keywords occur.
    pub(super) odd: bool,
}

const PROPERTIES: &[&str] = &[
    "name",
    "spec",
    "status",
    "items",
    "port",
    "value",
    "a",
    "b",
    "metadata",
    "kind",
    "apiVersion",
    "x-y",
    "a.b",
    "é",
];
const FORMATS: &[&str] = &["date-time", "byte", "int-or-string", "date", "uuid", "odd"];
const PATTERNS: &[&str] = &["^a+$", "[a-z]{1,3}", "^[^<>&]*$", "\\d+"];

fn kind(ty: &str) -> Tree {
    Tree::text(ty)
}

impl Schemas {
    /// The pointer to a definition.
    pub(super) fn pointer(&self, name: &str) -> String {
        let folder = if self.v3 { "#/components/schemas/" } else { "#/definitions/" };
        format!("{folder}{}", name.replace('~', "~0").replace('/', "~1"))
    }

    /// A reference to one of the definitions, or to something that does not exist.
    pub(super) fn reference(&self, choices: &mut Choices<'_>) -> Tree {
        if self.names.is_empty() || (self.odd && choices.chance(1)) {
            let folder = self.pointer("");
            let odd = [
                format!("{folder}Missing"),
                format!("{folder}a b"),
                format!("other.json{folder}A"),
                "#/parameters/limit-1NfBmoa8".to_owned(),
                "#/info".to_owned(),
                "#".to_owned(),
                String::new(),
            ];
            return Tree::text(odd[choices.below(odd.len())].clone());
        }
        let at = choices.below(self.names.len());
        Tree::text(self.pointer(&self.names[at]))
    }

    /// A schema that is only a reference, as in bodies and responses.
    pub(super) fn referring(&self, choices: &mut Choices<'_>) -> Tree {
        single("$ref", self.reference(choices))
    }

    /// Any schema, with at most `depth` levels below it.
    pub(super) fn schema(&self, choices: &mut Choices<'_>, depth: usize) -> Tree {
        let mut object = Object::new();
        let containers = if depth == 0 { 0 } else { 9 };
        match choices.below(12 + containers) {
            0..=2 => self.string(choices, &mut object),
            3 | 4 => self.number(choices, &mut object),
            5 => {
                object.put("type", kind("boolean"));
                object.maybe(choices, 20, "default", Choices::boolean);
            }
            6..=8 => return self.reference_with_siblings(choices),
            9 => self.int_or_string(choices, &mut object),
            10 => {
                object.maybe(choices, 60, "x-kubernetes-preserve-unknown-fields", |_| Tree::boolean(true));
                object.maybe(choices, 40, "type", |_| kind("object"));
            }
            11 => self.enumeration(choices, &mut object),
            12..=15 => self.record(choices, &mut object, depth),
            16 | 17 => self.list(choices, &mut object, depth),
            18 | 19 => self.map(choices, &mut object, depth),
            _ => self.junctors(choices, &mut object, depth),
        }
        self.annotations(choices, &mut object);
        if self.odd && choices.chance(2) {
            self.oddity(choices, &mut object, depth);
        }
        object.done(choices)
    }

    /// A definition with properties, as resources have one.
    pub(super) fn resource(&self, choices: &mut Choices<'_>, kinds: Tree) -> Tree {
        let mut object = Object::new();
        self.record(choices, &mut object, 3);
        object.put("description", text(choices, self.odd));
        object.put("x-kubernetes-group-version-kind", kinds);
        object.done(choices)
    }

    fn string(&self, choices: &mut Choices<'_>, object: &mut Object) {
        object.put("type", kind("string"));
        object.maybe(choices, 25, "format", |choices| choices.text(FORMATS));
        object.maybe(choices, 20, "default", |choices| text(choices, self.odd));
        object.maybe(choices, 10, "minLength", count);
        object.maybe(choices, 10, "maxLength", count);
        object.maybe(choices, 10, "pattern", |choices| choices.text(PATTERNS));
    }

    fn number(&self, choices: &mut Choices<'_>, object: &mut Object) {
        let integer = choices.below(2) == 0;
        object.put("type", kind(if integer { "integer" } else { "number" }));
        object.maybe(choices, 50, "format", |choices| {
            choices.text(if integer { &["int32", "int64"] } else { &["double", "float"] })
        });
        object.maybe(choices, 20, "default", |choices| number(choices, self.odd));
        object.maybe(choices, 15, "minimum", |choices| number(choices, self.odd));
        object.maybe(choices, 15, "maximum", |choices| number(choices, self.odd));
        object.maybe(choices, 8, "exclusiveMinimum", Choices::boolean);
        object.maybe(choices, 8, "exclusiveMaximum", Choices::boolean);
        object.maybe(choices, 8, "multipleOf", |choices| choices.plain(&["2", "0.5", "0.01"]));
    }

    fn enumeration(&self, choices: &mut Choices<'_>, object: &mut Object) {
        object.maybe(choices, 80, "type", |_| kind("string"));
        let values = choices
            .list(4, |choices| if choices.chance(30) { any(choices, self.odd, 1) } else { text(choices, self.odd) });
        object.put("enum", values);
    }

    fn int_or_string(&self, choices: &mut Choices<'_>, object: &mut Object) {
        let either =
            |first: &str, second: &str| Tree::Seq(vec![single("type", kind(first)), single("type", kind(second))]);
        if !self.v3 {
            object.put("type", kind("string")).put("format", Tree::text("int-or-string"));
        } else if choices.chance(50) {
            object.put("x-kubernetes-int-or-string", Tree::boolean(true)).put("anyOf", either("integer", "string"));
        } else {
            object.put("format", Tree::text("int-or-string")).put("oneOf", either("integer", "string"));
        }
    }

    /// A reference. In v3 it is wrapped if it has siblings; sometimes it is the other way round.
    fn reference_with_siblings(&self, choices: &mut Choices<'_>) -> Tree {
        let reference = self.reference(choices);
        let mut object = Object::new();
        object.maybe(choices, 40, "description", |choices| text(choices, self.odd));
        object.maybe(choices, 20, "default", |choices| choices.plain(&["{}", "null", "\"\"", "0"]));
        object.maybe(choices, 10, "x-kubernetes-map-type", |choices| choices.text(&["atomic", "granular"]));
        object.maybe(choices, 4, "x-kubernetes-list-type", |choices| choices.text(&["set", "atomic"]));
        if self.odd {
            object.maybe(choices, 4, "nullable", |_| Tree::boolean(true));
            object.maybe(choices, 4, "title", |choices| text(choices, true));
            object.maybe(choices, 1, "type", |_| kind("object"));
            object.maybe(choices, 3, "properties", |_| Tree::Map(Vec::new()));
        }
        if self.v3 == choices.chance(10) {
            object.put("$ref", reference);
        } else {
            object.put("allOf", Tree::Seq(vec![single("$ref", reference)]));
        }
        object.done(choices)
    }

    fn record(&self, choices: &mut Choices<'_>, object: &mut Object, depth: usize) {
        object.maybe(choices, 90, "type", |_| kind("object"));
        let mut properties = Object::new();
        let mut required = Vec::new();
        for _ in 0..choices.below(5) {
            let name = choices.pick(PROPERTIES);
            let schema = self.schema(choices, depth.saturating_sub(1));
            properties.put(name, schema);
            if choices.chance(30) {
                required.push(name);
            }
        }
        object.put("properties", properties.tree());
        if !required.is_empty() {
            object.put("required", texts(&required));
        }
        object.maybe(choices, 8, "additionalProperties", Choices::boolean);
        object.maybe(choices, 8, "x-kubernetes-map-type", |choices| choices.text(&["atomic", "granular"]));
        object.maybe(choices, 6, "x-kubernetes-preserve-unknown-fields", |_| Tree::boolean(true));
        object.maybe(choices, 3, "x-kubernetes-embedded-resource", |_| Tree::boolean(true));
        object.maybe(choices, 4, "minProperties", count);
        object.maybe(choices, 3, "x-kubernetes-unions", |_| {
            Tree::Seq(vec![Tree::members([
                ("discriminator", Tree::text("kind")),
                ("fields-to-discriminateBy", Tree::members([("b", Tree::text("B")), ("a", Tree::text("A"))])),
            ])])
        });
        object.maybe(choices, 3, "x-kubernetes-validations", |choices| {
            Tree::Seq(vec![Tree::members([
                ("rule", Tree::text("self.a < 1 && true")),
                ("message", text(choices, false)),
            ])])
        });
    }

    fn list(&self, choices: &mut Choices<'_>, object: &mut Object, depth: usize) {
        object.put("type", kind("array"));
        match choices.below(8) {
            0 | 1 => {}
            2 => _ = object.put("x-kubernetes-list-type", Tree::text("atomic")),
            3 => _ = object.put("x-kubernetes-list-type", Tree::text("set")),
            4 | 5 => {
                object.put("x-kubernetes-list-type", Tree::text("map"));
                object.put("x-kubernetes-list-map-keys", texts(choices.pick(&[&["name"], &["port", "protocol"][..]])));
            }
            _ => {
                object.put("x-kubernetes-patch-strategy", choices.text(&["merge", "merge,retainKeys", "retainKeys"]));
                object.maybe(choices, 60, "x-kubernetes-patch-merge-key", |_| Tree::text("name"));
            }
        }
        let items = self.schema(choices, depth - 1);
        object.put("items", items);
        object.maybe(choices, 8, "minItems", count);
        object.maybe(choices, 8, "maxItems", count);
        object.maybe(choices, 8, "uniqueItems", Choices::boolean);
    }

    fn map(&self, choices: &mut Choices<'_>, object: &mut Object, depth: usize) {
        object.put("type", kind("object"));
        match choices.below(6) {
            0 => {}
            1 => _ = object.put("additionalProperties", choices.boolean()),
            _ => _ = object.put("additionalProperties", self.schema(choices, depth - 1)),
        }
        object.maybe(choices, 10, "x-kubernetes-map-type", |choices| choices.text(&["atomic", "granular"]));
    }

    fn junctors(&self, choices: &mut Choices<'_>, object: &mut Object, depth: usize) {
        object.maybe(choices, 50, "type", |_| kind("object"));
        // v2 has only allOf; other keywords have no protobuf form there.
        let names: &[&str] =
            if self.v3 || choices.chance(10) { &["allOf", "anyOf", "oneOf", "not"] } else { &["allOf"] };
        for name in choices.some(names, 50) {
            let branches = choices.list(3, |choices| self.schema(choices, depth - 1));
            match branches {
                Tree::Seq(mut branches) if name == "not" => {
                    _ = object.put("not", branches.pop().unwrap_or(Tree::Map(Vec::new())));
                }
                branches => _ = object.put(name, branches),
            }
        }
    }

    fn annotations(&self, choices: &mut Choices<'_>, object: &mut Object) {
        let odd = self.odd;
        object.maybe(choices, 25, "description", |choices| text(choices, odd));
        object.maybe(choices, 6, "title", |choices| text(choices, odd));
        object.maybe(choices, 6, "example", |choices| any(choices, odd, 2));
        object.maybe(choices, 4, "readOnly", Choices::boolean);
        object.maybe(choices, 4, "externalDocs", |choices| external_docs(choices, odd));
        if self.v3 {
            object.maybe(choices, 8, "nullable", Choices::boolean);
            object.maybe(choices, 2, "deprecated", Choices::boolean);
            object.maybe(choices, 2, "writeOnly", Choices::boolean);
        } else {
            object.maybe(choices, 4, "x-nullable", Choices::boolean);
            object.maybe(choices, 2, "discriminator", |choices| choices.text(PROPERTIES));
        }
        if choices.chance(5) {
            extension(choices, object, odd);
        }
    }

    /// Keywords that some of the libraries do not know, or that break a rule.
    fn oddity(&self, choices: &mut Choices<'_>, object: &mut Object, depth: usize) {
        let inner = |choices: &mut Choices<'_>| self.schema(choices, depth.saturating_sub(1));
        match choices.below(16) {
            0 => _ = object.put("const", any(choices, true, 1)),
            1 => _ = object.put("type", Tree::Seq(vec![kind("string"), kind("null")])),
            2 => _ = object.put("type", Tree::Seq(vec![kind("integer")])),
            3 => _ = object.put("items", choices.list(2, inner)),
            4 => _ = object.put("patternProperties", single("^a", inner(choices))),
            5 => {
                _ = object.put(
                    "dependencies",
                    Tree::members([("a", texts(&[])), ("b", texts(&["c"])), ("c", inner(choices))]),
                );
            }
            6 => _ = object.put("additionalItems", choices.boolean()),
            7 => _ = object.put("definitions", single("D", inner(choices))),
            8 => _ = object.put("default", any(choices, true, 3)),
            9 => _ = object.put("x-kubernetes-list-type", text(choices, true)),
            10 => _ = object.put("x-kubernetes-map-type", text(choices, true)),
            11 => _ = object.put("x-kubernetes-list-map-keys", any(choices, true, 2)),
            12 => _ = object.put("xml", Tree::members([("name", text(choices, true)), ("wrapped", choices.boolean())])),
            13 => _ = object.put("$schema", Tree::text("http://json-schema.org/draft-04/schema#")),
            14 => _ = object.put("TYPE", kind("object")),
            _ => _ = object.put(choices.pick(&["id", "unknown", "contains", "Type"]), any(choices, true, 2)),
        }
    }
}

/// Links to documentation.
pub(super) fn external_docs(choices: &mut Choices<'_>, odd: bool) -> Tree {
    let mut object = Object::new();
    object.maybe(choices, 50, "description", |choices| text(choices, odd));
    if !odd || !choices.chance(10) {
        object.put("url", Tree::text("https://example.com/docs?a=b&c"));
    }
    object.done(choices)
}

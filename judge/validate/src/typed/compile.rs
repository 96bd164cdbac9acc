//! Compiles the schemas of an OpenAPI document to types.

use super::go::{self, Facts};
use super::names::Names;
use super::{Field, Special, Struct, Type, Typed, is_zero};
use crate::Release;
use crate::literal::Literal;
use kubeshape_gotypes::members::Messages;
use kubeshape_yaml::{Kind, Node};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of references that are followed in a row until a schema has a type.
const MAX_REFERENCES: usize = 64;

impl Typed {
    /// Returns the types of a definition of an OpenAPI v2 or v3 document, and of those that it refers to. Returns
    /// `None` if the document has no such definition. Of Go's types of built-in kinds, those of the newest release are
    /// used.
    pub fn of_document(root: Node<'_>, definition: &str) -> Option<Typed> {
        Typed::in_release(root, definition, Release::NEWEST)
    }

    /// As [`of_document`](Self::of_document), with Go's types of the release of the document.
    pub fn in_release(root: Node<'_>, definition: &str, release: Release) -> Option<Typed> {
        let schemas = root.get("definitions").or_else(|| root.get("components")?.get("schemas"))?;
        let definitions: BTreeMap<&str, Node<'_>> =
            schemas.pairs().map(|(name, schema)| (name.text(), schema)).collect();
        let mut compiler = Compiler {
            definitions,
            structs: Vec::new(),
            by_name: BTreeMap::new(),
            pending: Vec::new(),
            names: Names::new(),
            go: Messages::of(release),
        };
        let (name, schema) = compiler.definitions.get_key_value(definition).map(|(name, schema)| (*name, *schema))?;
        let root = compiler.named(name, schema, 0);
        while let Some((at, schema)) = compiler.pending.pop() {
            compiler.fill(at, schema);
        }
        Some(Typed { structs: compiler.structs, root })
    }
}

struct Compiler<'d> {
    definitions: BTreeMap<&'d str, Node<'d>>,
    structs: Vec<Struct>,
    by_name: BTreeMap<&'d str, usize>,
    /// Structs whose fields are not read yet. They are not read recursively, because definitions may refer to each
    /// other to any depth.
    pending: Vec<(usize, Node<'d>)>,
    names: Names,
    go: Messages,
}

impl<'d> Compiler<'d> {
    fn named(&mut self, name: &'d str, schema: Node<'d>, references: usize) -> Type {
        match Special::of_definition(name) {
            Some(Special::Quantity) => return Type::Quantity,
            Some(Special::IntOrString) => return Type::IntOrString,
            Some(Special::MicroTime) => return Type::MicroTime,
            Some(Special::Time) => return Type::Time,
            None => {}
        }
        if !is_struct(schema) && !is_empty_struct(name, schema) {
            return self.ty(schema, references);
        }
        if let Some(at) = self.by_name.get(name) {
            return Type::Struct(*at);
        }
        let at = self.add(last_of(name, 1).to_owned(), last_of(name, 2).to_owned(), schema);
        if let Some(added) = self.structs.get_mut(at) {
            added.is_go = is_go_type(name, schema);
            if added.is_go && name.starts_with("io.k8s.") {
                last_of(name, 3).clone_into(&mut added.definition);
            }
        }
        self.by_name.insert(name, at);
        Type::Struct(at)
    }

    fn add(&mut self, name: String, go_name: String, schema: Node<'d>) -> usize {
        self.structs.push(Struct { name, go_name, ..Struct::default() });
        self.pending.push((self.structs.len() - 1, schema));
        self.structs.len() - 1
    }

    /// The recursion is bounded, because the reader of the document limits the depth of a schema.
    fn ty(&mut self, schema: Node<'d>, references: usize) -> Type {
        let all_of = schema.get("allOf").filter(|all| all.len() == 1).and_then(|all| all.items().next());
        let reference = [Some(schema), all_of].into_iter().flatten().find_map(|node| node.get("$ref")?.as_str());
        if let Some(reference) = reference {
            let name = reference.rsplit('/').next().unwrap_or_default();
            let found = self.definitions.get_key_value(name).map(|(name, schema)| (*name, *schema));
            return match found {
                Some((name, schema)) if references < MAX_REFERENCES => self.named(name, schema, references + 1),
                _ => Type::Any,
            };
        }
        if flag(schema, "x-kubernetes-int-or-string") {
            return Type::IntOrString;
        }
        let text = |key| schema.get(key).and_then(Node::as_str).unwrap_or_default();
        match (text("type"), text("format")) {
            (_, "int-or-string") => Type::IntOrString,
            ("boolean", _) => Type::Bool,
            ("integer", "int32") => Type::Int32,
            ("integer", _) => Type::Int64,
            ("number", _) => Type::Float,
            ("string", "byte") => Type::Bytes,
            ("string", _) => Type::Text,
            ("array", _) => {
                let items = schema.get("items").map_or(Type::Any, |items| self.ty(items, references));
                Type::List(Box::new(items))
            }
            _ if is_struct(schema) => Type::Struct(self.add(String::new(), String::new(), schema)),
            ("object", _) => match schema.get("additionalProperties").filter(|others| others.as_bool().is_none()) {
                Some(others) => Type::Map(Box::new(self.ty(others, references))),
                None => Type::Any,
            },
            _ => Type::Any,
        }
    }

    fn fill(&mut self, at: usize, schema: Node<'d>) {
        let required: BTreeSet<&str> =
            schema.get("required").into_iter().flat_map(Node::items).filter_map(Node::as_str).collect();
        let found = self.structs.get(at);
        let is_go = found.is_some_and(|found| found.is_go);
        let definition = found.map(|found| found.definition.clone()).unwrap_or_default();
        let facts = go::fields(&definition, &mut self.go);
        let mut fields: BTreeMap<String, Field> = BTreeMap::new();
        for (name, property) in schema.get("properties").into_iter().flat_map(Node::pairs) {
            let allowed = property.get("enum").into_iter().flat_map(Node::items).filter_map(Node::as_str);
            let allowed = allowed.map(str::to_owned).collect();
            // A server fills in fields that have a default. For a field in Go, the default is often its zero value,
            // which is not filled in.
            let default = property.get("default").filter(|default| !(is_go && is_zero(*default)));
            let required = required.contains(name.text()) && default.is_none();
            let go_name = self.names.get(&definition, name.text());
            let ty = self.ty(property, 0);
            // Documents of v2 have no defaults.
            let is_empty = |default: Node<'_>| default.kind() == Kind::Map && default.is_empty();
            let is_there = is_go
                && matches!(ty, Type::Struct(_))
                && (name.text() == "spec" || property.get("default").is_some_and(is_empty));
            let written = property.get("default").filter(|default| is_go && default.kind() != Kind::Map);
            let go = facts.as_ref().map(|facts| {
                // Optional structs that are newer than the table are pointers, like all new fields.
                let is_new_struct = matches!(ty, Type::Struct(_));
                facts.get(name.text()).copied().unwrap_or_else(|| Facts::unknown(is_new_struct))
            });
            let is_pointer = go.is_some_and(|go| go.is_pointer);
            let default = written.filter(|default| is_pointer || !is_zero(*default)).map(Literal::of);
            let field = Field { ty, required, is_there, allowed, go_name, default, go };
            fields.insert(name.text().to_owned(), field);
        }
        let others = match schema.get("additionalProperties") {
            Some(others) if others.as_bool() == Some(false) => None,
            Some(others) if others.as_bool().is_none() => Some(self.ty(others, 0)),
            Some(_) => Some(Type::Any),
            None => flag(schema, "x-kubernetes-preserve-unknown-fields").then_some(Type::Any),
        };
        if let Some(found) = self.structs.get_mut(at) {
            found.fields = fields.into_iter().collect();
            found.others = others;
        }
    }
}

fn flag(schema: Node<'_>, key: &str) -> bool {
    schema.get(key).and_then(Node::as_bool) == Some(true)
}

/// Returns whether a definition is a Go struct without fields, and not a type that allows any JSON.
fn is_empty_struct(name: &str, schema: Node<'_>) -> bool {
    const FREE: [&str; 3] = ["meta.v1.FieldsV1", "meta.v1.Patch", "pkg.runtime.RawExtension"];
    name.starts_with("io.k8s.")
        && schema.get("type").and_then(Node::as_str) == Some("object")
        && schema.get("additionalProperties").is_none()
        && !flag(schema, "x-kubernetes-preserve-unknown-fields")
        && !FREE.contains(&last_of(name, 3))
        && is_go_type(name, schema)
}

/// Returns whether a definition of a document describes a Go type. Otherwise it is a custom resource, whose name
/// consists of the reversed group, the version and the kind.
pub fn is_go_type(name: &str, schema: Node<'_>) -> bool {
    let kinds = schema.get("x-kubernetes-group-version-kind").into_iter().flat_map(Node::items);
    let is_custom = |gvk: Node<'_>| {
        let text = |key| gvk.get(key).and_then(Node::as_str).unwrap_or_default();
        let group = text("group").rsplit('.').collect::<Vec<_>>().join(".");
        name == format!("{group}.{}.{}", text("version"), text("kind"))
    };
    !kinds.into_iter().any(is_custom)
}

fn is_struct(schema: Node<'_>) -> bool {
    schema.get("properties").is_some_and(|properties| !properties.is_empty())
}

/// Returns the last parts of a name with dots.
pub(super) fn last_of(name: &str, parts: usize) -> &str {
    name.rmatch_indices('.').nth(parts - 1).map_or(name, |(at, _)| &name[at + 1..])
}

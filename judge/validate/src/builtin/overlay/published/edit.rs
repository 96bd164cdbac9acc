//! The definitions of a document, and edits of them.

use kubeshape_value::{Bump, Map, Value};
use kubeshape_yaml::{Limits, Node, Stream, Tape};
use std::collections::BTreeMap;

/// The definitions of a document.
pub(super) struct Schemas<'a> {
    arena: &'a Bump,
    all: BTreeMap<&'a str, Value<'a>>,
    /// By the last three parts of their names.
    short: BTreeMap<&'a str, &'a str>,
    /// How often definitions of the release refer to each other.
    uses: &'a BTreeMap<String, usize>,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Option<Tape> {
    let mut tape = Tape::new();
    Stream::new(text.as_bytes(), Limits::default()).ok()?.next(&mut tape)?.ok()?;
    Some(tape)
}

/// Counts the references to each definition. Those in lists of kinds are left out.
pub(super) fn uses(definitions: &str) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    let Some(tape) = read(definitions) else { return out };
    let all = tape.document(definitions).root().into_iter().flat_map(Node::pairs);
    let mut open: Vec<Node<'_>> =
        all.filter(|(name, _)| !name.text().ends_with("List")).map(|(_, schema)| schema).collect();
    while let Some(node) = open.pop() {
        if let Some(target) = node.get("$ref").and_then(Node::as_str) {
            *out.entry(last(target).to_owned()).or_default() += 1;
        }
        open.extend(node.items().chain(node.pairs().map(|(_, value)| value)));
    }
    out
}

impl<'a> Schemas<'a> {
    pub(super) fn new(schemas: Map<'a>, uses: &'a BTreeMap<String, usize>, arena: &'a Bump) -> Schemas<'a> {
        let all: BTreeMap<&'a str, Value<'a>> = schemas.entries().iter().copied().collect();
        let short = all.keys().map(|name| (short(name), *name)).collect();
        Schemas { arena, all, short, uses }
    }

    /// Returns all schemas.
    pub(super) fn finish(self) -> Value<'a> {
        Value::Map(Map::from_entries(self.all.into_iter().collect(), self.arena))
    }

    /// Returns the names of all definitions.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.all.keys().copied()
    }

    /// Returns the definition with such a name: `core.v1.Pod`.
    pub(super) fn find(&self, name: &str) -> Option<&'a str> {
        self.short.get(name).copied()
    }

    /// Returns the group and kind of a definition that is one kind.
    pub(super) fn kind(&self, definition: &str) -> Option<(&'a str, &'a str)> {
        let Value::List([only]) = self.all.get(definition)?.get("x-kubernetes-group-version-kind")? else {
            return None;
        };
        let text = |key: &str| only.get(key).and_then(Value::as_str);
        Some((text("group").unwrap_or_default(), text("kind")?))
    }

    /// Returns whether other definitions contain this one.
    pub(super) fn is_embedded(&self, definition: &str) -> bool {
        self.uses.contains_key(definition)
    }

    /// Returns whether a definition declares a field.
    pub(super) fn has(&self, definition: &str, field: &str) -> bool {
        self.property(definition, field).is_some()
    }

    /// Returns the schema of a field.
    pub(super) fn property(&self, definition: &str, field: &str) -> Option<Value<'a>> {
        self.all.get(definition)?.get("properties")?.get(field)
    }

    /// Returns whether rules in CEL can compare the values of a field: their type is known.
    pub(super) fn is_typed(&self, definition: &str, field: &str) -> bool {
        let Some(mut schema) = self.property(definition, field) else { return false };
        if let Some(target) = reference(schema).and_then(|name| self.all.get(name)) {
            schema = *target;
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => schema.get("properties").is_some() || schema.get("additionalProperties").is_some(),
            Some(_) => true,
            None => false,
        }
    }

    /// Follows a path to the definition that declares its last member. `None` if a definition on the way is used in
    /// other places, too, or if the document does not have the field.
    pub(super) fn owner<'p>(&self, definition: &'a str, path: &'p [String]) -> Option<(&'a str, &'p str)> {
        let (last, before) = path.split_last()?;
        let mut at = definition;
        for step in before {
            at = reference(self.property(at, step)?)?;
            if self.uses.get(at) != Some(&1) {
                return None;
            }
        }
        self.has(at, last).then_some((at, last))
    }

    /// Edits the schema of a field, or of what `[]` and `{}` name in it. Returns whether it exists.
    pub(super) fn edit(
        &mut self,
        definition: &str,
        path: &[String],
        edit: impl FnOnce(Value<'a>) -> Value<'a>,
    ) -> bool {
        let Some((name, inner)) = path.split_first() else { return false };
        let Some((key, schema)) = self.all.get_key_value(definition) else { return false };
        let (key, schema, arena) = (*key, *schema, self.arena);
        let Some(property) = self.property(definition, name) else { return false };
        let mut steps: Vec<&'a str> = vec!["properties"];
        steps.push(arena.alloc_str(name));
        steps.extend(inner.iter().map(|step| if step == "[]" { "items" } else { "additionalProperties" }));
        let Some(found) = steps.iter().skip(2).try_fold(property, |at, step| at.get(step)) else { return false };
        self.all.insert(key, replace(schema, &steps, edit(found), arena));
        true
    }

    /// Replaces a member of a definition.
    pub(super) fn put(&mut self, definition: &str, key: &'a str, value: Value<'a>) {
        if let Some(schema) = self.all.get_mut(definition) {
            *schema = set(*schema, key, value, self.arena);
        }
    }

    /// Returns the items of a member of a definition.
    pub(super) fn list(&self, definition: &str, key: &str) -> Vec<Value<'a>> {
        let list = self.all.get(definition).and_then(|schema| schema.get(key)?.as_list());
        list.unwrap_or_default().to_vec()
    }

    /// Makes a field required.
    pub(super) fn require(&mut self, definition: &str, field: &str) {
        let mut names: Vec<&'a str> = self.list(definition, "required").into_iter().filter_map(Value::as_str).collect();
        if !names.contains(&field) {
            names.push(self.arena.alloc_str(field));
            names.sort_unstable();
            let names: Vec<Value<'a>> = names.into_iter().map(Value::String).collect();
            self.put(definition, "required", Value::List(self.arena.alloc_slice_copy(&names)));
        }
    }
}

/// Returns the name of the definition that a schema refers to.
pub(super) fn reference(schema: Value<'_>) -> Option<&str> {
    let only = || if let Some(Value::List([only])) = schema.get("allOf") { only.get("$ref") } else { None };
    schema.get("$ref").or_else(only).and_then(Value::as_str).map(last)
}

fn last(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or_default()
}

/// Returns the last three parts of a name.
fn short(name: &str) -> &str {
    let start = name.rmatch_indices('.').nth(2).map_or(0, |(at, _)| at + 1);
    name.get(start..).unwrap_or(name)
}

/// Returns a map with a member.
pub(super) fn set<'a>(value: Value<'a>, key: &'a str, member: Value<'a>, arena: &'a Bump) -> Value<'a> {
    Value::Map(value.as_map().unwrap_or(Map::EMPTY).with(key, Some(member), arena))
}

/// Returns a value with another value at a path.
fn replace<'a>(value: Value<'a>, steps: &[&'a str], with: Value<'a>, arena: &'a Bump) -> Value<'a> {
    match steps.split_first() {
        None => with,
        Some((step, rest)) => {
            let inner = value.get(step).unwrap_or(Value::Map(Map::EMPTY));
            set(value, step, replace(inner, rest, with, arena), arena)
        }
    }
}

/// Returns whether a default is the zero value of Go, which documents have for required fields.
pub(super) fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) | Value::String("") => true,
        Value::Map(map) => map.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}

/// Removes a default that is the zero value, if the constraints of the schema refuse it.
pub(super) fn without_zero<'a>(schema: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let Some(map) = schema.as_map() else { return schema };
    let refuses = ["enum", "pattern"].iter().any(|key| map.get(key).is_some())
        || ["minLength", "minItems", "minProperties", "minimum"]
            .iter()
            .any(|key| matches!(map.get(key), Some(Value::Int(least)) if least > 0));
    match map.get("default") {
        Some(default) if refuses && is_zero(default) => Value::Map(map.with("default", None, arena)),
        _ => schema,
    }
}

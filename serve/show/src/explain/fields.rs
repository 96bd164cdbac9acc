//! Fields as a list, for `grep` and for programs.

use super::document::{Document, Gvr, additional, items, member, text};
use super::plaintext::{alone, type_of};
use super::{Error, Rule, facts, is_about_rule, rules};
use kubeshape_value::Value;

/// The maximum number of fields in a list.
const MAX_FIELDS: usize = 200_000;

/// A field of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its path: `.spec.containers[].name`; map values have `{}` after the name of the map.
    pub path: String,
    /// The JSON pointer of the field in an object. List items have the pointer of the first item, map values the key
    /// `*`.
    pub pointer: String,
    /// The type in a word, as in kubectl: `[]Container`.
    pub type_name: String,
    /// Whether its parent requires it.
    pub required: bool,
    /// The description, or empty.
    pub description: String,
    /// Other facts of the schema (see [`facts`]).
    pub facts: Vec<(String, String)>,
    /// The rules among the facts, in parts.
    pub rules: Vec<Rule>,
    /// The same facts of the items of a list or the values of a map, without rules.
    pub each: Vec<(String, String)>,
    /// The rules of items or values.
    pub each_rules: Vec<Rule>,
}

/// Returns all fields below a resource or one of its fields, parents first, siblings by name. If a reference leads back
/// to a schema that is being listed, its fields are not listed again.
///
/// # Errors
/// There is no such resource or field, or there are too many fields.
///
/// # Example
/// ```
/// use kubeshape_show::explain::{Gvr, fields};
/// use kubeshape_value::{Bump, ToValue};
///
/// let gvk = serde_json::json!({"group": "example.com", "version": "v1", "kind": "Tab"});
/// let document = serde_json::json!({
///     "paths": {"/apis/example.com/v1/tabs": {"get": {"x-kubernetes-group-version-kind": gvk}}},
///     "components": {"schemas": {"com.example.v1.Tab": {
///         "type": "object",
///         "properties": {"ports": {"type": "array", "items": {"properties": {"number": {"type": "integer"}}}}},
///         "x-kubernetes-group-version-kind": [gvk],
///     }}},
/// });
/// let arena = Bump::new();
/// let gvr = Gvr { group: "example.com", version: "v1", resource: "tabs" };
/// let found = fields(document.to_value(&arena), gvr, &[])?;
/// let paths: Vec<&str> = found.iter().map(|field| field.path.as_str()).collect();
/// assert_eq!(paths, [".ports", ".ports[].number"]);
/// # Ok::<(), kubeshape_show::explain::Error>(())
/// ```
pub fn fields(document: Value<'_>, gvr: Gvr<'_>, path: &[&str]) -> Result<Vec<Field>, Error> {
    let document = Document::new(document);
    let gvk = document.gvk(gvr).ok_or_else(|| Error::NoResource(gvr.to_string()))?;
    let schema = document.schema_of(gvk).ok_or_else(|| Error::NoKind(gvr.to_string()))?;
    let mut list = List { document: &document, fields: Vec::new() };
    let mut at = At::default();
    let mut schema = schema;
    for name in path {
        schema = list.child(schema, name, &mut at)?.ok_or_else(|| Error::NoField((*name).to_owned()))?;
    }
    list.all(schema, &at, &mut Vec::new(), 0)?;
    Ok(list.fields)
}

/// Returns what the schema of a resource says about the object itself: a field without a path.
///
/// # Errors
/// There is no such resource.
///
/// # Example
/// ```
/// use kubeshape_show::explain::{Gvr, root};
/// use kubeshape_value::{Bump, ToValue};
///
/// let gvk = serde_json::json!({"group": "example.com", "version": "v1", "kind": "Tab"});
/// let document = serde_json::json!({
///     "paths": {"/apis/example.com/v1/tabs": {"get": {"x-kubernetes-group-version-kind": gvk}}},
///     "components": {"schemas": {"com.example.v1.Tab": {
///         "description": "A tab.",
///         "x-kubernetes-validations": [{"rule": "has(self.spec)"}],
///         "x-kubernetes-group-version-kind": [gvk],
///     }}},
/// });
/// let arena = Bump::new();
/// let gvr = Gvr { group: "example.com", version: "v1", resource: "tabs" };
/// let tab = root(document.to_value(&arena), gvr)?;
/// assert_eq!((&*tab.path, &*tab.description, &*tab.rules[0].rule), ("", "A tab.", "has(self.spec)"));
/// # Ok::<(), kubeshape_show::explain::Error>(())
/// ```
pub fn root(document: Value<'_>, gvr: Gvr<'_>) -> Result<Field, Error> {
    let document = Document::new(document);
    let gvk = document.gvk(gvr).ok_or_else(|| Error::NoResource(gvr.to_string()))?;
    let schema = document.schema_of(gvk).ok_or_else(|| Error::NoKind(gvr.to_string()))?;
    Ok(document.field(schema, &At::default(), text(gvk, "kind").to_owned()))
}

impl<'a> Document<'a> {
    /// Returns what a schema says about a value.
    fn field(&self, schema: Value<'a>, at: &At, type_name: String) -> Field {
        let resolved = self.resolve(alone(schema));
        let description = match text(schema, "description") {
            "" => text(resolved, "description"),
            own => own,
        };
        let of = |schema: Value<'a>, resolved: Value<'a>| {
            let (mut all, mut own) = (facts(schema), rules(schema));
            if resolved != schema {
                all.extend(facts(resolved));
                own.extend(rules(resolved));
            }
            (all, own)
        };
        let (all, own) = of(schema, resolved);
        let (mut each, mut each_rules) = (Vec::new(), Vec::new());
        if let Some(below) = member(resolved, "items").or_else(|| additional(resolved)) {
            (each, each_rules) = of(below, self.resolve(alone(below)));
            each.retain(|(name, _)| !is_about_rule(name));
        }
        Field {
            path: at.path.clone(),
            pointer: at.pointer.clone(),
            type_name,
            required: false,
            description: description.to_owned(),
            facts: all,
            rules: own,
            each,
            each_rules,
        }
    }
}

/// A location in an object, in two notations.
#[derive(Clone, Default)]
struct At {
    path: String,
    pointer: String,
}

impl At {
    fn field(&self, name: &str) -> At {
        let pointer = format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"));
        let is_plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        let path = if is_plain { format!("{}.{name}", self.path) } else { format!("{}[{name:?}]", self.path) };
        At { path, pointer }
    }

    fn item(&self) -> At {
        At { path: format!("{}[]", self.path), pointer: format!("{}/0", self.pointer) }
    }

    fn value(&self) -> At {
        At { path: format!("{}{{}}", self.path), pointer: format!("{}/*", self.pointer) }
    }
}

struct List<'d, 'a> {
    document: &'d Document<'a>,
    fields: Vec<Field>,
}

impl<'a> List<'_, 'a> {
    /// Returns the schema of a field, which may be below list items and map values.
    fn child(&self, schema: Value<'a>, name: &str, at: &mut At) -> Result<Option<Value<'a>>, Error> {
        let mut schema = schema;
        for depth in 0.. {
            self.document.visit(depth)?;
            schema = self.document.resolve(alone(schema));
            if let Some(found) = member(schema, "properties").and_then(|properties| properties.get(name)) {
                *at = at.field(name);
                return Ok(Some(found));
            }
            (schema, *at) = match (member(schema, "items"), additional(schema)) {
                (Some(below), _) => (below, at.item()),
                (None, Some(below)) => (below, at.value()),
                (None, None) => break,
            };
        }
        Ok(None)
    }

    fn all(&mut self, schema: Value<'a>, at: &At, history: &mut Vec<&'a str>, depth: usize) -> Result<(), Error> {
        self.document.visit(depth)?;
        let reference = text(schema, "$ref");
        if !reference.is_empty() && history.contains(&reference) {
            return Ok(());
        }
        history.push(reference);
        let resolved = self.document.resolve(schema);
        if let Some(Value::Map(properties)) = resolved.get("properties") {
            for (name, field) in properties.entries() {
                let at = at.field(name);
                self.add(*field, &at, items(resolved, "required").iter().any(|r| r.as_str() == Some(name)), depth)?;
                self.all(*field, &at, history, depth + 1)?;
            }
        }
        for branch in items(resolved, "allOf") {
            self.all(*branch, at, history, depth + 1)?;
        }
        if let Some(below) = member(resolved, "items") {
            self.all(below, &at.item(), history, depth + 1)?;
        }
        if let Some(below) = additional(resolved) {
            self.all(below, &at.value(), history, depth + 1)?;
        }
        history.pop();
        Ok(())
    }

    fn add(&mut self, schema: Value<'a>, at: &At, required: bool, depth: usize) -> Result<(), Error> {
        if self.fields.len() == MAX_FIELDS {
            return Err(Error::TooMuch);
        }
        let mut type_name = String::new();
        type_of(self.document, schema, &mut type_name, depth)?;
        let mut field = self.document.field(schema, at, type_name);
        field.required = required;
        self.fields.push(field);
        Ok(())
    }
}

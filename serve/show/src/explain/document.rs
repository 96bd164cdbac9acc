//! OpenAPI v3 documents as templates see them: plain maps, lists and strings.

use super::Error;
use kubeshape_value::Value;
use std::cell::Cell;
use std::fmt;

/// The maximum nesting of schemas on a page.
pub const MAX_DEPTH: usize = 512;

/// The maximum number of schemas that a page visits. References let a small document describe a large tree.
pub const MAX_STEPS: usize = 2_000_000;

/// A resource: group, version and plural name.
///
/// # Example
/// ```
/// use kubeshape_show::explain::Gvr;
/// let gvr = Gvr { group: "apps", version: "v1", resource: "deployments" };
/// assert_eq!(gvr.to_string(), "apps/v1, Resource=deployments");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gvr<'a> {
    /// The group, empty for the core one.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
}

impl fmt::Display for Gvr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Resource={}", self.group, self.version, self.resource)
    }
}

/// A document, and the number of visited schemas.
pub(super) struct Document<'a> {
    root: Value<'a>,
    steps: Cell<usize>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: Value<'a>) -> Document<'a> {
        Document { root, steps: Cell::new(0) }
    }

    /// Counts a visit at a depth.
    pub(super) fn visit(&self, depth: usize) -> Result<(), Error> {
        self.steps.set(self.steps.get() + 1);
        if depth > MAX_DEPTH || self.steps.get() > MAX_STEPS { Err(Error::TooMuch) } else { Ok(()) }
    }

    /// Returns the group, version and kind that operations of a resource name.
    pub(super) fn gvk(&self, gvr: Gvr<'_>) -> Option<Value<'a>> {
        let prefix = match gvr.group {
            "" => format!("/api/{}", gvr.version),
            group => format!("/apis/{group}/{}", gvr.version),
        };
        let resource = gvr.resource;
        let paths = self.root.get("paths")?;
        let mut found = None;
        for path in [
            format!("{prefix}/{resource}"),
            format!("{prefix}/{resource}/{{name}}"),
            format!("{prefix}/namespaces/{{namespace}}/{resource}"),
            format!("{prefix}/namespaces/{{namespace}}/{resource}/{{name}}"),
        ] {
            let Some(path) = paths.get(&path) else { continue };
            for method in ["get", "post", "put", "patch", "delete"] {
                let Some(operation) = path.get(method).filter(|operation| is_true(*operation)) else { continue };
                // kubectl uses the value of the last path, even if it is empty.
                found = operation.get("x-kubernetes-group-version-kind").filter(|gvk| is_true(*gvk));
                if found.is_some() {
                    break;
                }
            }
        }
        found
    }

    /// Returns the schema of a group, version and kind.
    pub(super) fn schema_of(&self, gvk: Value<'a>) -> Option<Value<'a>> {
        let schemas = self.root.get("components")?.get("schemas")?.as_map()?;
        let names_it = |schema: &Value<'a>| matches!(schema.get("x-kubernetes-group-version-kind"), Some(Value::List(all)) if all.contains(&gvk));
        schemas.entries().iter().map(|(_, schema)| *schema).find(names_it)
    }

    /// Returns the target of a schema's reference, or the schema itself.
    pub(super) fn resolve(&self, schema: Value<'a>) -> Value<'a> {
        self.target(text(schema, "$ref")).filter(|target| is_true(*target)).unwrap_or(schema)
    }

    /// Returns the map at a reference into the document.
    pub(super) fn target(&self, reference: &str) -> Option<Value<'a>> {
        let fragment = reference.strip_prefix('#')?;
        let steps = fragment.split('/').filter(|step| !step.is_empty());
        let mut value = self.root;
        for step in steps {
            value = value.get(step).filter(|value| matches!(value, Value::Map(_)))?;
        }
        Some(value)
    }
}

/// Returns whether a template treats a value as true: neither empty nor zero.
pub(super) fn is_true(value: Value<'_>) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => yes,
        Value::Int(n) => n != 0,
        Value::Float(n) => n != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(map) => !map.is_empty(),
    }
}

/// Returns a member that is true.
pub(super) fn member<'a>(schema: Value<'a>, name: &str) -> Option<Value<'a>> {
    schema.get(name).filter(|value| is_true(*value))
}

/// Returns the schema of additional properties.
pub(super) fn additional(schema: Value<'_>) -> Option<Value<'_>> {
    member(schema, "additionalProperties").filter(|value| !matches!(value, Value::Bool(_)))
}

/// Returns a string member; empty if it is missing.
pub(super) fn text<'a>(schema: Value<'a>, name: &str) -> &'a str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a list member; empty if it is missing.
pub(super) fn items<'a>(schema: Value<'a>, name: &str) -> &'a [Value<'a>] {
    match schema.get(name) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

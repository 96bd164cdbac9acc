//! Restores the parts that a Kubernetes server publishes in v3 and omits from its v2 document.
//!
//! The v2 document of a server has no defaults, and two types with more than one JSON form are strings in it. The rules
//! below come from comparing both documents of the same server: v3 has a default for every value that is not a pointer
//! in Go. The v2 document shows that a value is not a pointer for elements of lists and maps, for the metadata of
//! objects and their `spec` and `status`, and, with rare exceptions, for required properties. For other properties, v2
//! does not show it, so they get no default.

use kubeshape_schema::{Json, Property, Schema, Type, order};

static NOTHING: Json<'static> = Json::Object(&[]);
static EMPTY: Json<'static> = Json::Str("");
static ZERO: Json<'static> = Json::Int(0);
static FALSE: Json<'static> = Json::Bool(false);

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// The types of a Kubernetes server.
#[derive(Clone, Copy)]
pub(super) struct Server<'a> {
    definitions: &'a [Property<'a>],
}

/// The schema whose properties are converted.
#[derive(Clone, Copy)]
pub(super) struct Parent<'a> {
    required: &'a [&'a str],
    has_metadata: bool,
}

impl<'a> Server<'a> {
    /// Returns the types, if these are the definitions of a server without defaults. A server omits either all or no
    /// defaults of its Go types. Definitions that are merged into its document may have some.
    pub(super) fn of(definitions: &'a [Property<'a>]) -> Option<Self> {
        use kubeshape_schema::Flags;
        let server = Server { definitions };
        let is_kubernetes = ["ObjectMeta", "ListMeta", "Status"]
            .iter()
            .any(|kind| definitions.iter().any(|p| p.name.strip_prefix(META) == Some(kind)));
        let has_default = |p: &Property<'a>| {
            p.name.starts_with("io.k8s.") && p.schema.subtree.any(Flags::DEFAULT) && Self::is_go_type(p)
        };
        let pruned = !definitions.iter().any(has_default);
        (is_kubernetes && pruned).then_some(server)
    }

    /// Returns whether a definition comes from a Go type. Other definitions come from CustomResourceDefinitions, whose
    /// defaults are unknown.
    pub(super) fn is_go_type(definition: &Property<'a>) -> bool {
        let kinds =
            definition.schema.extra().extensions.iter().find(|(key, _)| *key == "x-kubernetes-group-version-kind");
        let Some((_, Json::Array(kinds))) = kinds else { return true };
        !kinds.iter().any(|kind| {
            let text = |member| kind.get(member).and_then(Json::as_str).unwrap_or_default();
            names_custom_resource(definition.name, text("group"), text("version"), text("kind"))
        })
    }

    pub(super) fn parent(schema: &Schema<'a>) -> Parent<'a> {
        let has_metadata = schema.property("metadata").is_some_and(|p| is_reference_to(p, "ObjectMeta"));
        Parent { required: schema.required, has_metadata }
    }

    /// Returns the default of an element of a list or a map.
    pub(super) fn of_element(self, schema: &Schema<'a>) -> Option<&'a Json<'a>> {
        if self.is_struct(schema) { Some(&NOTHING) } else { zero(schema) }
    }

    /// Returns the default of a property.
    pub(super) fn of_property(self, name: &str, schema: &Schema<'a>, parent: Parent<'a>) -> Option<&'a Json<'a>> {
        let required = || parent.required.contains(&name);
        if schema.reference.is_empty() {
            return zero(schema).filter(|_| required());
        }
        let metadata =
            name == "metadata" && (is_reference_to(schema, "ObjectMeta") || is_reference_to(schema, "ListMeta"));
        let part = parent.has_metadata && matches!(name, "spec" | "status");
        // Selectors are pointers everywhere.
        let known = metadata || part || (required() && !is_reference_to(schema, "LabelSelector"));
        (known && self.is_struct(schema)).then_some(&NOTHING)
    }

    fn is_struct(self, schema: &Schema<'a>) -> bool {
        let Some(name) = schema.reference.strip_prefix("#/definitions/") else { return false };
        let found = self.definitions.binary_search_by(|p| order::utf16(p.name, name));
        found.is_ok_and(|at| {
            let target = &self.definitions[at].schema;
            target.ty == Type::Object && !target.properties.is_empty()
        })
    }
}

fn is_reference_to(schema: &Schema<'_>, kind: &str) -> bool {
    schema.reference.strip_prefix("#/definitions/").and_then(|name| name.strip_prefix(META)) == Some(kind)
}

/// Returns the zero value of a Go type. Bytes are a slice in Go, and slices get no default.
fn zero<'a>(schema: &Schema<'a>) -> Option<&'a Json<'a>> {
    match schema.ty {
        Type::String if schema.format.is_empty() => Some(&EMPTY),
        Type::Integer | Type::Number => Some(&ZERO),
        Type::Boolean => Some(&FALSE),
        _ => None,
    }
}

/// Returns whether a server gives this name to the definition of a custom resource: the group reversed, version, kind.
fn names_custom_resource(name: &str, group: &str, version: &str, kind: &str) -> bool {
    let Some(rest) = name.strip_suffix(kind).and_then(|rest| rest.strip_suffix('.')) else { return false };
    let Some(rest) = rest.strip_suffix(version).and_then(|rest| rest.strip_suffix('.')) else { return false };
    !group.is_empty() && rest.split('.').eq(group.rsplit('.'))
}

/// Returns whether a definition is a quantity: a string that may be written as a number.
pub(super) fn is_quantity(definition: &Property<'_>) -> bool {
    let schema = &definition.schema;
    definition.name == "io.k8s.apimachinery.pkg.api.resource.Quantity" && schema.ty == Type::String
}

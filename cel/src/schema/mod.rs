//! Structural schemas, as rules see them: the types they declare, and objects read through them.

mod convert;
mod decl;
pub mod escape;
mod typed;

pub use decl::DeclType;
pub use typed::Typed;

use std::collections::BTreeMap;

/// The part of a structural schema that rules depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// `type`; empty if there is none.
    pub ty: String,
    /// `format`
    pub format: String,
    /// `nullable`
    pub nullable: bool,
    /// `x-kubernetes-int-or-string`
    pub int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-embedded-resource`
    pub embedded_resource: bool,
    /// `x-kubernetes-list-type`
    pub list_type: Option<String>,
    /// `x-kubernetes-list-map-keys`
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type`
    pub map_type: Option<String>,
    /// `maxLength`
    pub max_length: Option<i64>,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// The texts of `enum`; `None` stands for a value that is no text.
    pub enumeration: Vec<Option<String>>,
    /// `required`
    pub required: Vec<String>,
    /// Whether there is a default other than null.
    pub has_default: bool,
    /// `properties`
    pub properties: Option<BTreeMap<String, Schema>>,
    /// `items`
    pub items: Option<Box<Schema>>,
    /// The schema of `additionalProperties`.
    pub additional_properties: Option<Box<Schema>>,
}

/// What a request may have at most, in bytes.
pub(crate) const MAX_REQUEST: i64 = 3 * 1024 * 1024;

impl Schema {
    fn of(ty: &str) -> Schema {
        Schema { ty: ty.to_owned(), ..Schema::default() }
    }

    /// Whether the schema declares `apiVersion`, `kind` and the two names of `metadata`, with the types that they have.
    pub(crate) fn declares_metadata(&self) -> bool {
        let is = |schema: Option<&Schema>, ty: &str| schema.is_some_and(|schema| schema.ty == ty);
        let Some(properties) = &self.properties else { return false };
        let metadata = properties.get("metadata");
        let inner = metadata.and_then(|metadata| metadata.properties.as_ref());
        is(properties.get("kind"), "string")
            && is(properties.get("apiVersion"), "string")
            && is(metadata, "object")
            && inner.is_some_and(|inner| is(inner.get("name"), "string") && is(inner.get("generateName"), "string"))
    }

    /// The schema as that of a resource: with `apiVersion`, `kind` and the two names of `metadata`, in place of what is
    /// declared, unless it declares all of them with the types that they have.
    #[must_use]
    pub fn with_type_and_object_meta(&self) -> Schema {
        let mut out = self.clone();
        if self.declares_metadata() {
            return out;
        }
        let properties = out.properties.get_or_insert_default();
        properties.insert("kind".to_owned(), Schema::of("string"));
        properties.insert("apiVersion".to_owned(), Schema::of("string"));
        let names = ["name", "generateName"].map(|name| (name.to_owned(), Schema::of("string")));
        properties.insert(
            "metadata".to_owned(),
            Schema { properties: Some(names.into_iter().collect()), ..Schema::of("object") },
        );
        out
    }
}

//! Checks whether a schema converts to a structural one: it must not use certain keywords.

use kubeshape_schema::field::Path;
use kubeshape_schema::{Additional, Flags, Items, Schema};
use std::fmt;

/// The first keyword that prevents the conversion.
///
/// Upstream's message names no location, so the location has fields of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertError {
    /// The keyword.
    pub kind: ConvertErrorKind,
    /// Path of the schema that has it: `properties[spec].items`; empty for the root.
    pub path: String,
    /// Location: the schema's entry in the tape.
    pub at: u32,
}

/// The keywords that conversion rejects, in the order in which it checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConvertErrorKind {
    /// `id` is not empty.
    Id,
    /// `$schema` is not empty.
    SchemaUri,
    /// `$ref` is not empty.
    Ref,
    /// `patternProperties` is not empty.
    PatternProperties,
    /// `dependencies` is not empty.
    Dependencies,
    /// `additionalItems` is present, even as `false`.
    AdditionalItems,
    /// `definitions` is not empty.
    Definitions,
    /// `x-kubernetes-preserve-unknown-fields` is `false`.
    PreserveUnknownFalse,
    /// `items` is a list of schemas.
    ItemsList,
}

impl ConvertErrorKind {
    /// The keyword as written in the manifest.
    pub fn keyword(self) -> &'static str {
        match self {
            ConvertErrorKind::Id => "id",
            ConvertErrorKind::SchemaUri => "$schema",
            ConvertErrorKind::Ref => "$ref",
            ConvertErrorKind::PatternProperties => "patternProperties",
            ConvertErrorKind::Dependencies => "dependencies",
            ConvertErrorKind::AdditionalItems => "additionalItems",
            ConvertErrorKind::Definitions => "definitions",
            ConvertErrorKind::PreserveUnknownFalse => "x-kubernetes-preserve-unknown-fields",
            ConvertErrorKind::ItemsList => "items",
        }
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ConvertErrorKind::PreserveUnknownFalse => {
                f.write_str("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined")
            }
            ConvertErrorKind::ItemsList => f.write_str("OpenAPIV3Schema 'items' must be a schema, but is an array"),
            // Only for this keyword, upstream prints the Go name.
            ConvertErrorKind::SchemaUri => f.write_str("OpenAPIV3Schema 'schema' is not supported"),
            kind => write!(f, "OpenAPIV3Schema '{}' is not supported", kind.keyword()),
        }
    }
}

impl std::error::Error for ConvertError {}

/// Checks that a schema converts to a structural one, as upstream's `schema.NewStructural` decides it. For a schema
/// that converts this takes constant time.
///
/// Nothing is converted, because a structural schema is a [`Schema`] of the same form.
///
/// # Errors
/// The first keyword that prevents the conversion. Keywords are visited in upstream's order, and properties by name;
/// upstream visits properties in random order.
///
/// # Example
/// ```
/// use kubeshape_schema::{Flags, Schema};
/// use kubeshape_structural::convert;
/// assert!(convert(&Schema::default()).is_ok());
/// let flags = Flags::PRESERVE_UNKNOWN_FALSE;
/// let refused = convert(&Schema { flags, subtree: flags, ..Schema::default() });
/// assert_eq!(refused.unwrap_err().kind.keyword(), "x-kubernetes-preserve-unknown-fields");
/// ```
pub fn convert(schema: &Schema<'_>) -> Result<(), ConvertError> {
    match first(schema, &Path::Root) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// The flags of a subtree that does not convert.
const REFUSED: Flags = Flags::NOT_STRUCTURAL.with(Flags::PRESERVE_UNKNOWN_FALSE);

fn first(schema: &Schema<'_>, path: &Path<'_>) -> Option<ConvertError> {
    if !schema.subtree.any(REFUSED) {
        return None;
    }
    let error = |kind| Some(ConvertError { kind, path: path.to_string(), at: schema.at });
    if let Some(kind) = keyword(schema) {
        return error(kind);
    }
    let extra = schema.extra();
    let not = extra.not.and_then(|not| first(not, &path.child("not")));
    let branches = |name: &'static str, list: &[Schema<'_>]| {
        let path = path.child(name);
        list.iter().enumerate().find_map(|(i, branch)| first(branch, &path.index(i)))
    };
    let junctor = not
        .or_else(|| branches("allOf", extra.all_of))
        .or_else(|| branches("anyOf", extra.any_of))
        .or_else(|| branches("oneOf", extra.one_of));
    if junctor.is_some() {
        return junctor;
    }
    if schema.flags.any(Flags::PRESERVE_UNKNOWN_FALSE) {
        return error(ConvertErrorKind::PreserveUnknownFalse);
    }
    let items = match schema.items {
        Some(Items::Many(_)) => return error(ConvertErrorKind::ItemsList),
        Some(Items::One(item)) => first(item, &path.child("items")),
        None => None,
    };
    let properties = || {
        let path = path.child("properties");
        schema.properties.iter().find_map(|p| first(&p.schema, &path.key(p.name)))
    };
    let additional = || match schema.additional {
        Some(Additional::Schema(inner)) => first(inner, &path.child("additionalProperties")),
        _ => None,
    };
    items.or_else(properties).or_else(additional)
}

/// The first unsupported keyword of this node.
fn keyword(schema: &Schema<'_>) -> Option<ConvertErrorKind> {
    if schema.extra.is_none() && schema.reference.is_empty() {
        return None;
    }
    let extra = schema.extra();
    let found = [
        (!extra.id.is_empty(), ConvertErrorKind::Id),
        (!extra.schema_uri.is_empty(), ConvertErrorKind::SchemaUri),
        (!schema.reference.is_empty(), ConvertErrorKind::Ref),
        (!extra.pattern_properties.is_empty(), ConvertErrorKind::PatternProperties),
        (!extra.dependencies.is_empty(), ConvertErrorKind::Dependencies),
        (extra.additional_items.is_some(), ConvertErrorKind::AdditionalItems),
        (!extra.definitions.is_empty(), ConvertErrorKind::Definitions),
    ];
    found.into_iter().find_map(|(set, kind)| set.then_some(kind))
}

//! What a server knows of every resource, whatever the schema says: type and metadata. It decodes them into Go structs, keeps
//! them, and checks them itself (upstream: `objectmeta` of `k8s.io/apiextensions-apiserver`, `ValidateObjectMeta` of
//! `k8s.io/apimachinery`).

use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::sync::LazyLock;

/// What a value is to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// An object of the definition.
    Root,
    /// A resource inside it: `x-kubernetes-embedded-resource`.
    Embedded,
    /// The metadata of an object.
    RootMetadata,
    /// The metadata of an embedded resource.
    Metadata,
    /// The `apiVersion` of an object: one text.
    ApiVersion,
    /// The `kind` of an object: one text.
    Kind,
    /// Anything else.
    Nothing,
}

/// What the texts have to be, or more: `apiVersion`, `kind` (any case of a DNS label; the Kelvin sign is a large k), the name of an
/// object and what it begins with, and both of an embedded resource (`IsValidPathSegmentName`).
static FORMS: LazyLock<[Extra<'static>; 6]> = LazyLock::new(|| {
    let form = |pattern, least, most| Extra { pattern, min_length: least, max_length: most, ..Extra::default() };
    [
        form("^[^/]*/?[^/]*$", Some(1), None),
        form(r"^[a-zA-Z\x{212A}]([-a-zA-Z\x{212A}0-9]*[a-zA-Z\x{212A}0-9])?$", None, Some(63)),
        form(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", None, Some(253)),
        // A dash at the end hides what stands before it.
        form("", Some(1), Some(254)),
        form("^([^/%.]|[^/%.][^/%]|[^/%][^/%.]|[^/%]{3,})$", None, None),
        form("^[^/%]+$", None, None),
    ]
});
static TEXTS: LazyLock<[Schema<'static>; 6]> = LazyLock::new(|| {
    let of = |extra: &'static Extra<'static>| Schema {
        extra: Some(extra),
        flags: Flags::PATTERN,
        ..Schema::of_type(Type::String)
    };
    FORMS.each_ref().map(of)
});
static OBJECT: Schema<'static> = Schema::of_type(Type::Object);

impl Own {
    /// What a property is to a server.
    pub(crate) fn below(self, name: &str, is_embedded: bool) -> Own {
        match (self, name) {
            _ if is_embedded => Own::Embedded,
            (Own::Root, "metadata") => Own::RootMetadata,
            (Own::Root, "apiVersion") => Own::ApiVersion,
            (Own::Root, "kind") => Own::Kind,
            (Own::Embedded, "metadata") => Own::Metadata,
            _ => Own::Nothing,
        }
    }

    /// Whether a field is the same to two servers.
    pub(crate) fn is_alike(self, other: Own, name: &str) -> bool {
        self == other || self.below(name, false) == other.below(name, false)
    }

    /// What a server takes for a field that it knows of itself.
    pub(crate) fn field(self, name: &str) -> Option<&'static Schema<'static>> {
        let texts: &'static [Schema<'static>; 6] = &TEXTS;
        Some(match (self, name) {
            (Own::Root | Own::Embedded, "apiVersion") => &texts[0],
            (Own::Root | Own::Embedded, "kind") => &texts[1],
            (Own::Root | Own::Embedded, "metadata") => &OBJECT,
            (Own::RootMetadata, "name") => &texts[2],
            (Own::RootMetadata, "generateName") => &texts[3],
            (Own::Metadata, "name") => &texts[4],
            (Own::Metadata, "generateName") => &texts[5],
            _ => return None,
        })
    }

    /// The names of these fields.
    pub(crate) fn fields(self) -> &'static [&'static str] {
        match self {
            Own::Root | Own::Embedded => &["apiVersion", "kind", "metadata"],
            // A definition may say something of these two alone.
            Own::RootMetadata | Own::Metadata => &["generateName", "name"],
            Own::ApiVersion | Own::Kind | Own::Nothing => &[],
        }
    }

    /// The fields that are always there.
    pub(crate) fn always(self) -> &'static [&'static str] {
        match self {
            Own::Root => &["apiVersion", "kind", "metadata"],
            Own::Embedded => &["apiVersion", "kind"],
            Own::RootMetadata => &["name"],
            Own::Metadata | Own::ApiVersion | Own::Kind | Own::Nothing => &[],
        }
    }

    /// A value with the fields that are always there.
    pub(crate) fn whole<'a>(self, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let Value::Map(map) = value else { return value };
        let missing = self.always().iter().filter(|name| map.get(name).is_none());
        Value::Map(missing.fold(map, |map, name| {
            let given = if *name == "metadata" { Value::Map(Map::EMPTY) } else { Value::String("example") };
            map.with(name, Some(given), arena)
        }))
    }

    /// Whether fields without a schema are kept because they are metadata.
    pub(crate) fn is_metadata(self) -> bool {
        matches!(self, Own::RootMetadata | Own::Metadata)
    }
}

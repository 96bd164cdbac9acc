//! Fields that a server handles itself, whatever the schema says: type and metadata. It decodes them into Go structs,
//! keeps them, and validates them (upstream: `objectmeta` of `k8s.io/apiextensions-apiserver`, `ValidateObjectMeta` of
//! `k8s.io/apimachinery`).

use kubeshape_schema::{Bump, Extra, Flags, Schema, Type};
use kubeshape_value::Map;
use kubeshape_value::Value;
use std::sync::LazyLock;

/// The role of a value for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An object of the definition.
    Root,
    /// A resource inside it: `x-kubernetes-embedded-resource`.
    Embedded,
    /// The metadata of an object.
    RootMetadata,
    /// The metadata of an embedded resource.
    Metadata,
    /// The `apiVersion` of an object: a fixed string.
    ApiVersion,
    /// The `kind` of an object: a fixed string.
    Kind,
    /// Anything else.
    Nothing,
}

/// Necessary forms of the strings: `apiVersion`, `kind` (a DNS label in any case; the Kelvin sign is an upper-case k),
/// `name` and `generateName` of an object, and both of an embedded resource (`IsValidPathSegmentName`).
static FORMS: LazyLock<[Extra<'static>; 6]> = LazyLock::new(|| {
    let form = |pattern, least, most| Extra { pattern, min_length: least, max_length: most, ..Extra::default() };
    [
        form("^[^/]*/?[^/]*$", Some(1), None),
        form(r"^[a-zA-Z\x{212A}]([-a-zA-Z\x{212A}0-9]*[a-zA-Z\x{212A}0-9])?$", None, Some(63)),
        form(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", None, Some(253)),
        // A trailing dash allows any prefix.
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

impl Role {
    /// Returns the role of a property.
    pub(crate) fn below(self, name: &str, is_embedded: bool) -> Role {
        match (self, name) {
            _ if is_embedded => Role::Embedded,
            (Role::Root, "metadata") => Role::RootMetadata,
            (Role::Root, "apiVersion") => Role::ApiVersion,
            (Role::Root, "kind") => Role::Kind,
            (Role::Embedded, "metadata") => Role::Metadata,
            _ => Role::Nothing,
        }
    }

    /// Returns whether a field has the same role for two servers.
    pub(crate) fn is_alike(self, other: Role, name: &str) -> bool {
        self == other || self.below(name, false) == other.below(name, false)
    }

    /// Returns the schema that a server uses for a field it handles itself.
    pub(crate) fn field(self, name: &str) -> Option<&'static Schema<'static>> {
        let texts: &'static [Schema<'static>; 6] = &TEXTS;
        Some(match (self, name) {
            (Role::Root | Role::Embedded, "apiVersion") => &texts[0],
            (Role::Root | Role::Embedded, "kind") => &texts[1],
            (Role::Root | Role::Embedded, "metadata") => &OBJECT,
            (Role::RootMetadata, "name") => &texts[2],
            (Role::RootMetadata, "generateName") => &texts[3],
            (Role::Metadata, "name") => &texts[4],
            (Role::Metadata, "generateName") => &texts[5],
            _ => return None,
        })
    }

    /// Returns the names of these fields.
    pub(crate) fn fields(self) -> &'static [&'static str] {
        match self {
            Role::Root | Role::Embedded => &["apiVersion", "kind", "metadata"],
            // A definition may restrict only these two.
            Role::RootMetadata | Role::Metadata => &["generateName", "name"],
            Role::ApiVersion | Role::Kind | Role::Nothing => &[],
        }
    }

    /// Returns the fields that are always present.
    pub(crate) fn always(self) -> &'static [&'static str] {
        match self {
            Role::Root => &["apiVersion", "kind", "metadata"],
            Role::Embedded => &["apiVersion", "kind"],
            Role::RootMetadata => &["name"],
            Role::Metadata | Role::ApiVersion | Role::Kind | Role::Nothing => &[],
        }
    }

    /// Adds the fields that are always present.
    pub(crate) fn whole<'a>(self, value: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let Value::Map(map) = value else { return value };
        let missing = self.always().iter().filter(|name| map.get(name).is_none());
        Value::Map(missing.fold(map, |map, name| {
            let given = if *name == "metadata" { Value::Map(Map::EMPTY) } else { Value::String("example") };
            map.with(name, Some(given), arena)
        }))
    }

    /// Returns whether fields without a schema are kept because they are metadata.
    pub(crate) fn is_metadata(self) -> bool {
        matches!(self, Role::RootMetadata | Role::Metadata)
    }
}

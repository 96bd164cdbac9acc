//! The schema node: OpenAPI v3 as Kubernetes uses it, its extensions, and the few v2 spellings.

use crate::json::Json;

/// The `type` of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Type {
    /// No `type`, or an empty one.
    #[default]
    Absent,
    /// `array`
    Array,
    /// `boolean`
    Boolean,
    /// `integer`
    Integer,
    /// `number`
    Number,
    /// `object`
    Object,
    /// `string`
    String,
    /// Another type; its name is in [`Extra::other_type`].
    Other,
    /// A list of types, not exactly one, in [`Extra::types`]; only in documents.
    Several,
}

impl Type {
    /// Returns the type with that name.
    pub fn from_name(name: &str) -> Type {
        match name {
            "" => Type::Absent,
            "array" => Type::Array,
            "boolean" => Type::Boolean,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "object" => Type::Object,
            "string" => Type::String,
            _ => Type::Other,
        }
    }

    /// Returns the type's name, or `""` for [`Type::Absent`], [`Type::Other`] and [`Type::Several`].
    pub fn name(self) -> &'static str {
        match self {
            Type::Absent | Type::Other | Type::Several => "",
            Type::Array => "array",
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Object => "object",
            Type::String => "string",
        }
    }
}

/// Properties of a schema that are true or false. The union of the flags of a subtree lets walks skip subtrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u32);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:expr;)*) => {
        impl Flags { $($(#[$doc])* pub const $name: Flags = Flags(1 << $bit);)* }
    };
}

flags! {
    /// `nullable: true`
    NULLABLE = 0;
    /// `x-kubernetes-preserve-unknown-fields: true`
    PRESERVE_UNKNOWN = 1;
    /// `x-kubernetes-preserve-unknown-fields: false`, which is not allowed in structural schemas.
    PRESERVE_UNKNOWN_FALSE = 2;
    /// `x-kubernetes-embedded-resource: true`
    EMBEDDED_RESOURCE = 3;
    /// `x-kubernetes-int-or-string: true`
    INT_OR_STRING = 4;
    /// `uniqueItems: true`
    UNIQUE_ITEMS = 5;
    /// `exclusiveMaximum: true`
    EXCLUSIVE_MAXIMUM = 6;
    /// `exclusiveMinimum: true`
    EXCLUSIVE_MINIMUM = 7;
    /// `allOf`, `anyOf`, `oneOf` or `not` is present.
    JUNCTOR = 8;
    /// `id`, `$schema`, `$ref`, `patternProperties`, `dependencies`, `additionalItems`, `definitions`, or `items` as a
    /// list: members that a structural schema cannot have.
    NOT_STRUCTURAL = 9;
    /// The type is [`Type::Other`].
    OTHER_TYPE = 10;
    /// `default` is present and not null.
    DEFAULT = 11;
    /// `pattern` is not empty.
    PATTERN = 12;
    /// `x-kubernetes-validations` is not empty.
    VALIDATIONS = 13;
    /// `$ref` is not empty.
    REF = 14;
    /// `format` is not empty.
    FORMAT = 15;
    /// `readOnly: true` (documents only)
    READ_ONLY = 16;
    /// `properties` is present, even if only as `{}`: junctor branches need the difference.
    PROPERTIES_WRITTEN = 17;
    /// `required` is present, even if only as `[]`: the int-or-string patterns need the difference.
    REQUIRED_WRITTEN = 18;
    /// The type is `array` and there are no `items`.
    ARRAY_WITHOUT_ITEMS = 19;
    /// `$ref` is present in a CustomResourceDefinition, even if only as `""`: schemas with and without it differ.
    REF_WRITTEN = 20;
    /// `x-kubernetes-list-type` is present.
    LIST_TYPE = 21;
    /// `items` is present in a CustomResourceDefinition, and is neither a schema nor a list of schemas: schemas with
    /// and without it differ (`JSONSchemaPropsOrArray.UnmarshalJSON` accepts any value).
    ITEMS_WRITTEN = 22;
}

impl Flags {
    /// No flag.
    pub const NONE: Flags = Flags(0);

    /// Returns whether any flag of `other` is set.
    #[inline]
    pub fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns both sets together.
    #[must_use]
    #[inline]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Returns this set without the other.
    #[must_use]
    #[inline]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// Returns the set as bits, none above the 27th.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// Sets or clears flags.
    #[inline]
    pub fn set(&mut self, other: Flags, on: bool) {
        *self = if on { self.with(other) } else { self.without(other) };
    }
}

/// One property: its name and its schema.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Property<'a> {
    /// The name.
    pub name: &'a str,
    /// Location of the name: its entry in the tape.
    pub at: u32,
    /// The schema.
    pub schema: Schema<'a>,
}

/// `additionalProperties`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Additional<'a> {
    /// `true` or `false`.
    Allowed(bool),
    /// A schema, which implies that additional properties are allowed.
    Schema(&'a Schema<'a>),
}

/// `items`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Items<'a> {
    /// One schema for all items.
    One(&'a Schema<'a>),
    /// A schema per position.
    Many(&'a [Schema<'a>]),
}

/// A schema.
///
/// It borrows everything from its source and from an arena, and is `Copy`. To change it, create a changed copy:
/// unchanged subtrees stay shared. Absent strings and lists are empty; Kubernetes does not distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Schema<'a> {
    /// `description`
    pub description: &'a str,
    /// `format`
    pub format: &'a str,
    /// `properties`, sorted by [`order::utf16`](crate::order::utf16).
    pub properties: &'a [Property<'a>],
    /// `required`, in source order.
    pub required: &'a [&'a str],
    /// `enum`
    pub enumeration: &'a [Json<'a>],
    /// `items`
    pub items: Option<Items<'a>>,
    /// `additionalProperties`
    pub additional: Option<Additional<'a>>,
    /// `$ref`
    pub reference: &'a str,
    /// `default`, if it is not null.
    pub default: Option<&'a Json<'a>>,
    /// The members that most schemas do not have.
    pub extra: Option<&'a Extra<'a>>,
    /// Location: the schema's entry in the tape.
    pub at: u32,
    /// The flags of this node.
    pub flags: Flags,
    /// The flags of this node and of all nodes below it, junctor branches included.
    pub subtree: Flags,
    /// `type`
    pub ty: Type,
}

/// The members that most schemas do not have.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Extra<'a> {
    /// `title`
    pub title: &'a str,
    /// `maximum`
    pub maximum: Option<f64>,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `maxLength`
    pub max_length: Option<i64>,
    /// `minLength`
    pub min_length: Option<i64>,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `minItems`
    pub min_items: Option<i64>,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `pattern`
    pub pattern: &'a str,
    /// `allOf`
    pub all_of: &'a [Schema<'a>],
    /// `oneOf`
    pub one_of: &'a [Schema<'a>],
    /// `anyOf`
    pub any_of: &'a [Schema<'a>],
    /// `not`
    pub not: Option<&'a Schema<'a>>,
    /// `externalDocs`
    pub external_docs: Option<ExternalDocs<'a>>,
    /// `example`, if it is not null.
    pub example: Option<&'a Json<'a>>,
    /// `x-kubernetes-list-type`
    pub list_type: Option<&'a str>,
    /// `x-kubernetes-map-type`
    pub map_type: Option<&'a str>,
    /// `x-kubernetes-list-map-keys`
    pub list_map_keys: &'a [&'a str],
    /// `x-kubernetes-validations`
    pub validations: &'a [Rule<'a>],
    /// Whether `x-kubernetes-list-map-keys` is present, even if only as `[]`: the int-or-string patterns need the
    /// difference.
    pub list_map_keys_written: bool,
    /// Whether `x-kubernetes-validations` is present, even if only as `[]`: the int-or-string patterns need the
    /// difference.
    pub validations_written: bool,
    /// The `type`, if it is not one of the six.
    pub other_type: &'a str,
    /// `id`
    pub id: &'a str,
    /// `$schema`
    pub schema_uri: &'a str,
    /// `discriminator` of v2: the name of a property. The object that v3 has instead is in the extensions.
    pub discriminator: &'a str,
    /// `type` as a list, for [`Type::Several`].
    pub types: &'a [&'a str],
    /// `patternProperties`
    pub pattern_properties: &'a [Property<'a>],
    /// `definitions`
    pub definitions: &'a [Property<'a>],
    /// `dependencies`
    pub dependencies: &'a [(&'a str, Dependency<'a>)],
    /// `additionalItems`
    pub additional_items: Option<Additional<'a>>,
    /// Extensions without a field here, and unknown members where a dialect keeps them, sorted.
    pub extensions: &'a [(&'a str, Json<'a>)],
}

/// One of `dependencies`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dependency<'a> {
    /// Names that must also be present.
    Names(&'a [&'a str]),
    /// A schema that must also be satisfied.
    Schema(&'a Schema<'a>),
}

/// `externalDocs`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExternalDocs<'a> {
    /// `description`
    pub description: &'a str,
    /// `url`
    pub url: &'a str,
}

/// One of `x-kubernetes-validations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Rule<'a> {
    /// `rule`, a CEL expression.
    pub rule: &'a str,
    /// `message`
    pub message: &'a str,
    /// `messageExpression`
    pub message_expression: &'a str,
    /// `reason`; null is absent.
    pub reason: Option<&'a str>,
    /// `fieldPath`
    pub field_path: &'a str,
    /// `optionalOldSelf`; null is absent.
    pub optional_old_self: Option<bool>,
}

static NO_EXTRA: Extra<'static> = Extra {
    title: "",
    maximum: None,
    minimum: None,
    multiple_of: None,
    max_length: None,
    min_length: None,
    max_items: None,
    min_items: None,
    max_properties: None,
    min_properties: None,
    pattern: "",
    all_of: &[],
    one_of: &[],
    any_of: &[],
    not: None,
    external_docs: None,
    example: None,
    list_type: None,
    map_type: None,
    list_map_keys: &[],
    validations: &[],
    list_map_keys_written: false,
    validations_written: false,
    other_type: "",
    id: "",
    schema_uri: "",
    discriminator: "",
    types: &[],
    pattern_properties: &[],
    definitions: &[],
    dependencies: &[],
    additional_items: None,
    extensions: &[],
};

impl<'a> Schema<'a> {
    /// Returns a schema that has only a type.
    pub const fn of_type(ty: Type) -> Schema<'a> {
        Schema {
            description: "",
            format: "",
            properties: &[],
            required: &[],
            enumeration: &[],
            items: None,
            additional: None,
            reference: "",
            default: None,
            extra: None,
            at: 0,
            flags: Flags::NONE,
            subtree: Flags::NONE,
            ty,
        }
    }

    /// Returns the rarer members. All are absent if there are none.
    #[inline]
    pub fn extra(&self) -> &'a Extra<'a> {
        self.extra.unwrap_or(&NO_EXTRA)
    }

    /// Returns the schema of a property.
    pub fn property(&self, name: &str) -> Option<&'a Schema<'a>> {
        let at = self.properties.binary_search_by(|p| crate::order::utf16(p.name, name)).ok()?;
        Some(&self.properties[at].schema)
    }

    /// Returns the schema of items, if there is exactly one.
    #[inline]
    pub fn item(&self) -> Option<&'a Schema<'a>> {
        match self.items {
            Some(Items::One(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Returns the schema of additional properties, if there is one.
    #[inline]
    pub fn additional_schema(&self) -> Option<&'a Schema<'a>> {
        match self.additional {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Returns the type, or the first of a list of types; never [`Type::Several`].
    pub fn first_type(&self) -> Type {
        match (self.ty, self.extra().types) {
            (Type::Several, types) => types.first().map_or(Type::Absent, |name| Type::from_name(name)),
            (ty, _) => ty,
        }
    }

    /// Returns the name of the type, even if it is not one of the six.
    pub fn type_name(&self) -> &'a str {
        if self.ty == Type::Other { self.extra().other_type } else { self.ty.name() }
    }
}

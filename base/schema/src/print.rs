//! Printing schemas as kube-openapi prints them (`spec.Schema.MarshalJSON`): members in a fixed order, then the sorted
//! extensions.

use crate::escape::{self, Escape};
use crate::json::Json;
use crate::node::{Additional, Dependency, ExternalDocs, Flags, Items, Property, Rule, Schema, Type};
use crate::order;
use kubeshape_yaml::number;

/// How a schema is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Style {
    /// Which characters of strings are escaped.
    pub escape: Escape,
    /// Whether the members of CEL rules are sorted, as in a document that has passed through JSON once more, instead of
    /// in the order of the API's type.
    pub sorted_rules: bool,
    /// Whether `default`s are left out.
    pub without_defaults: bool,
}

impl Style {
    /// An OpenAPI v3 document.
    pub const V3: Style = Style { escape: Escape::Html, sorted_rules: false, without_defaults: false };
    /// The OpenAPI v2 document of one resource, as upstream's builder prints it.
    pub const V2: Style = Style { escape: Escape::Plain, sorted_rules: false, without_defaults: false };
    /// The OpenAPI v2 document of all resources together.
    pub const V2_MERGED: Style = Style { escape: Escape::Plain, sorted_rules: false, without_defaults: true };
    /// The OpenAPI v2 document of a server.
    pub const V2_SERVED: Style = Style { escape: Escape::Plain, sorted_rules: true, without_defaults: true };
}

/// Appends a schema as compact JSON.
pub fn schema(out: &mut Vec<u8>, schema: &Schema<'_>, style: Style) {
    let mut p = Printer { out, style, first: true, drain: None };
    p.object(schema);
}

/// Does the same for a schema whose JSON may be much larger than the schema, because parts of it are shared. After each
/// inner schema, `drain` may empty the buffer.
pub fn schema_in_pieces(
    out: &mut Vec<u8>,
    schema: &Schema<'_>,
    style: Style,
    drain: &mut (dyn FnMut(&mut Vec<u8>) + '_),
) {
    let mut p = Printer { out, style, first: true, drain: Some(drain) };
    p.object(schema);
}

/// Removes what is printed so far.
type Drain<'o> = dyn FnMut(&mut Vec<u8>) + 'o;

struct Printer<'o> {
    out: &'o mut Vec<u8>,
    style: Style,
    first: bool,
    drain: Option<&'o mut Drain<'o>>,
}

/// Writes `,"name":`; the name must need no escapes.
macro_rules! key {
    ($p:expr, $name:literal) => {
        if $p.first {
            $p.first = false;
            $p.out.extend_from_slice(concat!("\"", $name, "\":").as_bytes());
        } else {
            $p.out.extend_from_slice(concat!(",\"", $name, "\":").as_bytes());
        }
    };
}

macro_rules! member {
    ($p:expr, $name:literal, text $value:expr) => {
        if !$value.is_empty() {
            key!($p, $name);
            escape::string($p.out, $value, $p.style.escape);
        }
    };
    ($p:expr, $name:literal, flag $value:expr) => {
        if $value {
            key!($p, $name);
            $p.out.extend_from_slice(b"true");
        }
    };
    ($p:expr, $name:literal, int $value:expr) => {
        if let Some(n) = $value {
            key!($p, $name);
            number::write_int(n, $p.out);
        }
    };
    ($p:expr, $name:literal, double $value:expr) => {
        if let Some(n) = $value {
            key!($p, $name);
            number::write_json(n, $p.out);
        }
    };
    ($p:expr, $name:literal, texts $value:expr) => {
        if !$value.is_empty() {
            key!($p, $name);
            $p.texts($value);
        }
    };
    ($p:expr, $name:literal, schemas $value:expr) => {
        if !$value.is_empty() {
            key!($p, $name);
            $p.schemas($value);
        }
    };
}

impl Printer<'_> {
    fn members(&mut self, s: &Schema<'_>) {
        match s.extra {
            None => self.common_members(s),
            Some(_) => self.all_members(s),
        }
    }

    /// Prints the members of a schema except the rarer ones.
    #[inline]
    fn common_members(&mut self, s: &Schema<'_>) {
        member!(self, "description", text s.description);
        self.type_member(s);
        member!(self, "nullable", flag s.flags.any(Flags::NULLABLE));
        member!(self, "format", text s.format);
        self.default_member(s);
        member!(self, "exclusiveMaximum", flag s.flags.any(Flags::EXCLUSIVE_MAXIMUM));
        member!(self, "exclusiveMinimum", flag s.flags.any(Flags::EXCLUSIVE_MINIMUM));
        member!(self, "uniqueItems", flag s.flags.any(Flags::UNIQUE_ITEMS));
        self.enum_member(s);
        member!(self, "required", texts s.required);
        self.items_member(s);
        self.properties_member(s);
        self.additional_member(s);
        member!(self, "readOnly", flag s.flags.any(Flags::READ_ONLY));
        member!(self, "$ref", text s.reference);
        member!(self, "x-kubernetes-embedded-resource", flag s.flags.any(Flags::EMBEDDED_RESOURCE));
        member!(self, "x-kubernetes-int-or-string", flag s.flags.any(Flags::INT_OR_STRING));
        member!(self, "x-kubernetes-preserve-unknown-fields", flag s.flags.any(Flags::PRESERVE_UNKNOWN));
    }

    fn all_members(&mut self, s: &Schema<'_>) {
        let e = s.extra();
        member!(self, "id", text e.id);
        member!(self, "description", text s.description);
        self.type_member(s);
        member!(self, "nullable", flag s.flags.any(Flags::NULLABLE));
        member!(self, "format", text s.format);
        member!(self, "title", text e.title);
        self.default_member(s);
        member!(self, "maximum", double e.maximum);
        member!(self, "exclusiveMaximum", flag s.flags.any(Flags::EXCLUSIVE_MAXIMUM));
        member!(self, "minimum", double e.minimum);
        member!(self, "exclusiveMinimum", flag s.flags.any(Flags::EXCLUSIVE_MINIMUM));
        member!(self, "maxLength", int e.max_length);
        member!(self, "minLength", int e.min_length);
        member!(self, "pattern", text e.pattern);
        member!(self, "maxItems", int e.max_items);
        member!(self, "minItems", int e.min_items);
        member!(self, "uniqueItems", flag s.flags.any(Flags::UNIQUE_ITEMS));
        member!(self, "multipleOf", double e.multiple_of);
        self.enum_member(s);
        member!(self, "maxProperties", int e.max_properties);
        member!(self, "minProperties", int e.min_properties);
        member!(self, "required", texts s.required);
        self.items_member(s);
        member!(self, "allOf", schemas e.all_of);
        member!(self, "oneOf", schemas e.one_of);
        member!(self, "anyOf", schemas e.any_of);
        if let Some(not) = e.not {
            key!(self, "not");
            self.object(not);
        }
        self.properties_member(s);
        self.additional_member(s);
        if !e.pattern_properties.is_empty() {
            key!(self, "patternProperties");
            self.named(e.pattern_properties);
        }
        if !e.dependencies.is_empty() {
            key!(self, "dependencies");
            self.dependencies(e.dependencies);
        }
        if let Some(additional) = e.additional_items {
            key!(self, "additionalItems");
            self.additional(additional);
        }
        if !e.definitions.is_empty() {
            key!(self, "definitions");
            self.named(e.definitions);
        }
        member!(self, "discriminator", text e.discriminator);
        member!(self, "readOnly", flag s.flags.any(Flags::READ_ONLY));
        if let Some(ExternalDocs { description, url }) = e.external_docs {
            key!(self, "externalDocs");
            self.out.push(b'{');
            self.first = true;
            member!(self, "description", text description);
            member!(self, "url", text url);
            self.out.push(b'}');
            self.first = false;
        }
        if let Some(example) = e.example.filter(|value| !value.is_empty()) {
            key!(self, "example");
            example.print(self.out, self.style.escape);
        }
        member!(self, "$schema", text e.schema_uri);
        member!(self, "$ref", text s.reference);
        self.extensions(s);
    }

    /// Prints all extensions in order: those with a field of their own and the others.
    fn extensions(&mut self, s: &Schema<'_>) {
        let e = s.extra();
        let mut others = e.extensions.iter().peekable();
        let mut before = |p: &mut Self, name: &str| {
            while let Some((key, value)) = others.next_if(|(key, _)| name.is_empty() || order::utf16(key, name).is_lt())
            {
                p.any_key(key);
                value.print(p.out, p.style.escape);
            }
        };
        if s.flags.any(Flags::EMBEDDED_RESOURCE) {
            before(self, "x-kubernetes-embedded-resource");
            member!(self, "x-kubernetes-embedded-resource", flag true);
        }
        if s.flags.any(Flags::INT_OR_STRING) {
            before(self, "x-kubernetes-int-or-string");
            member!(self, "x-kubernetes-int-or-string", flag true);
        }
        if !e.list_map_keys.is_empty() {
            before(self, "x-kubernetes-list-map-keys");
            member!(self, "x-kubernetes-list-map-keys", texts e.list_map_keys);
        }
        if let Some(list_type) = e.list_type {
            before(self, "x-kubernetes-list-type");
            key!(self, "x-kubernetes-list-type");
            escape::string(self.out, list_type, self.style.escape);
        }
        if let Some(map_type) = e.map_type {
            before(self, "x-kubernetes-map-type");
            key!(self, "x-kubernetes-map-type");
            escape::string(self.out, map_type, self.style.escape);
        }
        if s.flags.any(Flags::PRESERVE_UNKNOWN) {
            before(self, "x-kubernetes-preserve-unknown-fields");
            member!(self, "x-kubernetes-preserve-unknown-fields", flag true);
        }
        if !e.validations.is_empty() {
            before(self, "x-kubernetes-validations");
            key!(self, "x-kubernetes-validations");
            self.rules(e.validations);
        }
        before(self, "");
    }

    fn any_key(&mut self, name: &str) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
        escape::string(self.out, name, self.style.escape);
        self.out.push(b':');
    }

    #[inline]
    fn type_member(&mut self, s: &Schema<'_>) {
        match s.ty {
            Type::Absent => {}
            Type::Other => member!(self, "type", text s.extra().other_type),
            Type::Several => {
                key!(self, "type");
                match s.extra().types {
                    [only] => escape::string(self.out, only, self.style.escape),
                    types => self.texts(types),
                }
            }
            ty => {
                key!(self, "type");
                self.out.push(b'"');
                self.out.extend_from_slice(ty.name().as_bytes());
                self.out.push(b'"');
            }
        }
    }

    #[inline]
    fn default_member(&mut self, s: &Schema<'_>) {
        if let (Some(default), false) = (s.default, self.style.without_defaults) {
            key!(self, "default");
            default.print(self.out, self.style.escape);
        }
    }

    #[inline]
    fn enum_member(&mut self, s: &Schema<'_>) {
        if !s.enumeration.is_empty() {
            key!(self, "enum");
            Json::Array(s.enumeration).print(self.out, self.style.escape);
        }
    }

    #[inline]
    fn items_member(&mut self, s: &Schema<'_>) {
        match s.items {
            None => {}
            Some(Items::One(item)) => {
                key!(self, "items");
                self.object(item);
            }
            Some(Items::Many(items)) => {
                key!(self, "items");
                self.schemas(items);
            }
        }
    }

    #[inline]
    fn properties_member(&mut self, s: &Schema<'_>) {
        if !s.properties.is_empty() {
            key!(self, "properties");
            self.named(s.properties);
        }
    }

    #[inline]
    fn additional_member(&mut self, s: &Schema<'_>) {
        if let Some(additional) = s.additional {
            key!(self, "additionalProperties");
            self.additional(additional);
        }
    }

    fn additional(&mut self, additional: Additional<'_>) {
        match additional {
            Additional::Allowed(true) => self.out.extend_from_slice(b"true"),
            Additional::Allowed(false) => self.out.extend_from_slice(b"false"),
            Additional::Schema(schema) => self.object(schema),
        }
    }

    fn object(&mut self, s: &Schema<'_>) {
        self.out.push(b'{');
        self.first = true;
        self.members(s);
        self.out.push(b'}');
        self.first = false;
        if let Some(drain) = &mut self.drain {
            drain(self.out);
        }
    }

    fn named(&mut self, properties: &[Property<'_>]) {
        self.out.push(b'{');
        for (i, property) in properties.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            escape::string(self.out, property.name, self.style.escape);
            self.out.push(b':');
            self.object(&property.schema);
        }
        self.out.push(b'}');
        self.first = false;
    }

    fn schemas(&mut self, schemas: &[Schema<'_>]) {
        self.out.push(b'[');
        for (i, schema) in schemas.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            self.object(schema);
        }
        self.out.push(b']');
        self.first = false;
    }

    fn texts(&mut self, texts: &[&str]) {
        self.out.push(b'[');
        for (i, text) in texts.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            escape::string(self.out, text, self.style.escape);
        }
        self.out.push(b']');
    }

    fn dependencies(&mut self, dependencies: &[(&str, Dependency<'_>)]) {
        self.out.push(b'{');
        self.first = true;
        for (name, dependency) in dependencies {
            self.any_key(name);
            match dependency {
                Dependency::Schema(schema) => self.object(schema),
                Dependency::Names([]) => self.out.extend_from_slice(b"null"),
                Dependency::Names(names) => self.texts(names),
            }
        }
        self.out.push(b'}');
        self.first = false;
    }

    fn rules(&mut self, rules: &[Rule<'_>]) {
        self.out.push(b'[');
        for (i, rule) in rules.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            self.out.push(b'{');
            self.first = true;
            if self.style.sorted_rules {
                self.sorted_rule(rule);
            } else {
                self.rule(rule);
            }
            self.out.push(b'}');
        }
        self.out.push(b']');
        self.first = false;
    }

    fn rule(&mut self, rule: &Rule<'_>) {
        key!(self, "rule");
        escape::string(self.out, rule.rule, self.style.escape);
        member!(self, "message", text rule.message);
        member!(self, "messageExpression", text rule.message_expression);
        self.reason(rule);
        member!(self, "fieldPath", text rule.field_path);
        self.optional_old_self(rule);
    }

    fn sorted_rule(&mut self, rule: &Rule<'_>) {
        member!(self, "fieldPath", text rule.field_path);
        member!(self, "message", text rule.message);
        member!(self, "messageExpression", text rule.message_expression);
        self.optional_old_self(rule);
        self.reason(rule);
        key!(self, "rule");
        escape::string(self.out, rule.rule, self.style.escape);
    }

    fn reason(&mut self, rule: &Rule<'_>) {
        if let Some(reason) = rule.reason {
            key!(self, "reason");
            escape::string(self.out, reason, self.style.escape);
        }
    }

    fn optional_old_self(&mut self, rule: &Rule<'_>) {
        if let Some(on) = rule.optional_old_self {
            key!(self, "optionalOldSelf");
            self.out.extend_from_slice(if on { b"true" } else { b"false" });
        }
    }
}

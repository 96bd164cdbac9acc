//! Rules for every node of the spine.

use super::{BadValue, Checker, ErrorType, is_int_or_string, says_nothing};
use kubeshape_schema::field::Path;
use kubeshape_schema::{Additional, Flags, Schema, Type};

/// How a node of the spine is related to its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Root,
    Item,
    Field,
}

/// A node without any of these flags can only break the rule that it needs a type.
const RARE: Flags = Flags::JUNCTOR
    .with(Flags::PATTERN)
    .with(Flags::EMBEDDED_RESOURCE)
    .with(Flags::INT_OR_STRING)
    .with(Flags::ARRAY_WITHOUT_ITEMS);

/// Flags that the metadata of the root must not have.
const SPECIAL: Flags =
    Flags::NULLABLE.with(Flags::PRESERVE_UNKNOWN).with(Flags::EMBEDDED_RESOURCE).with(Flags::INT_OR_STRING);

impl<'a> Checker<'a> {
    /// Checks a node of the spine and everything below it.
    pub(super) fn invariants(&mut self, schema: &Schema<'a>, level: Level, path: &Path<'_>) {
        if let Some(item) = schema.item() {
            self.invariants(item, Level::Item, &path.child("items"));
        }
        if !schema.properties.is_empty() {
            let path = path.child("properties");
            for property in schema.properties {
                self.invariants(&property.schema, Level::Field, &path.key(property.name));
            }
        }
        if let Some(Additional::Schema(inner)) = schema.additional {
            self.invariants(inner, Level::Field, &path.child("additionalProperties"));
        }

        if level == Level::Root || schema.flags.any(RARE) {
            self.rare_rules(schema, level, path);
        } else if schema.ty == Type::Absent && !schema.flags.any(Flags::PRESERVE_UNKNOWN) {
            self.missing_type(schema, level, path);
        }
    }

    #[cold]
    fn missing_type(&mut self, schema: &Schema<'a>, level: Level, path: &Path<'_>) {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        self.required(path, "type", detail, schema.at);
    }

    /// Checks all rules. It is called for nodes to which a rarer rule may apply.
    #[inline(never)]
    fn rare_rules(&mut self, schema: &Schema<'a>, level: Level, path: &Path<'_>) {
        let (at, flags) = (schema.at, schema.flags);
        let root = level == Level::Root;
        let embedded = flags.any(Flags::EMBEDDED_RESOURCE);
        let int_or_string = flags.any(Flags::INT_OR_STRING);
        let preserve = flags.any(Flags::PRESERVE_UNKNOWN);
        if schema.ty == Type::Array && schema.items.is_none() {
            self.required(path, "items", "must be specified", at);
        }
        if root && schema.additional.is_some() {
            self.forbidden(path, "additionalProperties", "must not be used at the root", at);
        }
        for (on, field) in
            [(preserve, "x-kubernetes-preserve-unknown-fields"), (embedded, "x-kubernetes-embedded-resource")]
        {
            if int_or_string && on {
                self.invalid(
                    path,
                    field,
                    BadValue::Json("true".to_owned()),
                    "must be false if x-kubernetes-int-or-string is true",
                    at,
                );
            }
        }

        self.pattern(schema, path);
        if flags.any(Flags::JUNCTOR) {
            let extra = schema.extra();
            let is_either = |any_of| is_int_or_string(any_of, self.documented);
            let skip_any_of = is_either(extra.any_of);
            let skip_first = extra.all_of.first().is_some_and(|first| is_either(first.extra().any_of));
            self.junctors(extra, skip_any_of, skip_first, path);
        }

        if embedded && schema.ty != Type::Object {
            let detail = "must be object if x-kubernetes-embedded-resource is true";
            if schema.ty == Type::Absent {
                self.required(path, "type", detail, at);
            } else {
                self.invalid(path, "type", BadValue::Text(schema.type_name().to_owned()), detail, at);
            }
        } else if schema.ty == Type::Absent && !int_or_string && !preserve {
            self.missing_type(schema, level, path);
        }
        if embedded && schema.additional.is_some() {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            self.forbidden(path, "additionalProperties", detail, at);
        }
        if root && !matches!(schema.ty, Type::Absent | Type::Object) {
            let value = BadValue::Text(schema.type_name().to_owned());
            self.invalid(path, "type", value, "must be object at the root", at);
        }
        if root || embedded {
            self.type_meta(schema, path);
        }
        if root {
            self.root_metadata(schema, path);
        }
        if embedded && !preserve && schema.properties.is_empty() {
            let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                          x-kubernetes-preserve-unknown-fields";
            self.required(path, "properties", detail, at);
        }
    }

    /// Checks the types of `apiVersion`, `kind` and `metadata` of a whole object.
    fn type_meta(&mut self, schema: &Schema<'a>, path: &Path<'_>) {
        let rules = [
            ("kind", Type::String, "must be string"),
            ("apiVersion", Type::String, "must be string"),
            ("metadata", Type::Object, "must be object"),
        ];
        let path = path.child("properties");
        for (name, ty, detail) in rules {
            if let Some(property) = schema.property(name).filter(|property| property.ty != ty) {
                let value = BadValue::Text(property.type_name().to_owned());
                self.invalid(&path.key(name), "type", value, detail, property.at);
            }
        }
    }

    /// At the root, `metadata` may only restrict `name` and `generateName`.
    fn root_metadata(&mut self, schema: &Schema<'a>, path: &Path<'_>) {
        let Some(metadata) = schema.property("metadata") else { return };
        let named = metadata.properties.iter().all(|p| matches!(p.name, "name" | "generateName"));
        // The rules for defaults reject a default here.
        let without_default = Schema { default: None, flags: metadata.flags.without(Flags::DEFAULT), ..*metadata };
        let allowed = named
            && metadata.description.is_empty()
            && metadata.items.is_none()
            && metadata.additional.is_none()
            && !metadata.flags.any(SPECIAL)
            && says_nothing(&without_default, self.documented);
        if !allowed {
            let detail =
                "must not specify anything other than name and generateName, but metadata is implicitly specified";
            self.error(
                ErrorType::Forbidden,
                path.child("properties").key("metadata").to_string(),
                BadValue::Omitted,
                detail,
                metadata.at,
            );
        }
    }
}

//! The values of errors: internal types in the format of Go's `encoding/json`, with the names of Go's fields.

use super::coerced::{are_coerced, coerced};
use crate::release::{AskedRelease, Change, Release};
use kubeshape_schema::{Additional, Bump, Dependency, Flags, Items, Json, Property, Rule, Schema, field::BadValue};
use kubeshape_structural::Column;
use kubeshape_structural::written::{Spec, Subresources, Validation, Version};
use kubeshape_yaml::go::escape::{self, Escape};
use kubeshape_yaml::go::number;
use kubeshape_yaml::{Document, Kind, Node};

/// `*string`: since `field.Error` prints values in JSON, strings behind pointers are JSON, too.
pub(super) fn pointed(text: &str, release: &AskedRelease) -> BadValue {
    if !release.has(Change::ValuesInJson) {
        return BadValue::from(text);
    }
    let mut out = Vec::new();
    escape::string(&mut out, text, Escape::Html);
    BadValue::Json(String::from_utf8_lossy(&out).into_owned())
}

/// `[]CustomResourceDefinitionVersion`
pub(super) fn versions(spec: &Spec<'_>) -> BadValue {
    let mut printer = Printer { out: Vec::new(), document: spec.node.document(), coerces: false };
    let written = spec.member("versions").is_some_and(|node| !node.is_null());
    // If a definition has no versions, Go prints null.
    let versions = (written || !spec.versions.is_empty()).then_some(spec.versions);
    printer.optional(versions, |printer, versions| printer.list(versions.iter(), Printer::version));
    printer.finish()
}

/// `JSONSchemaProps`
pub(super) fn schema(schema: &Schema<'_>, document: Document<'_>) -> BadValue {
    let mut printer = Printer { out: Vec::new(), document, coerces: false };
    printer.schema(schema);
    printer.finish()
}

/// `*JSONSchemaPropsOrArray` of a schema: `None` if Go has none there.
pub(super) fn items(schema: &Schema<'_>, document: Document<'_>) -> Option<BadValue> {
    let mut printer = Printer { out: Vec::new(), document, coerces: false };
    has_items(schema).then(|| {
        printer.items(schema);
        printer.finish()
    })
}

fn has_items(schema: &Schema<'_>) -> bool {
    schema.items.is_some() || schema.flags.any(Flags::ITEMS_WRITTEN)
}

/// `ValidationRule`
pub(super) fn rule(rule: &Rule<'_>, release: &AskedRelease) -> BadValue {
    let mut out = Vec::new();
    write_rule(&mut out, rule, release);
    BadValue::Json(String::from_utf8_lossy(&out).into_owned())
}

fn write_rule(out: &mut Vec<u8>, rule: &Rule<'_>, release: &AskedRelease) {
    let texts =
        [("{\"Rule", rule.rule), (",\"Message", rule.message), (",\"MessageExpression", rule.message_expression)];
    let text = |out: &mut Vec<u8>, text: Option<&str>| match text {
        Some(text) => escape::string(out, text, Escape::Html),
        None => out.extend_from_slice(b"null"),
    };
    for (name, value) in texts
        .into_iter()
        .map(|(name, value)| (name, Some(value)))
        .chain([(",\"Reason", rule.reason), (",\"FieldPath", Some(rule.field_path))])
    {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        text(out, value);
    }
    if release.has(Change::KnownOptionalOldSelf) {
        let value = rule.optional_old_self.filter(|_| release.has(Change::OptionalOldSelf));
        let value = match value {
            None => "null",
            Some(true) => "true",
            Some(false) => "false",
        };
        out.extend_from_slice(b",\"OptionalOldSelf\":");
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'}');
}

/// `[]string`
pub(super) fn texts(texts: &[&str]) -> BadValue {
    let mut out = vec![b'['];
    for (i, text) in texts.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        escape::string(&mut out, text, Escape::Html);
    }
    out.push(b']');
    BadValue::Json(String::from_utf8_lossy(&out).into_owned())
}

struct Printer<'d> {
    out: Vec<u8>,
    document: Document<'d>,
    /// Whether validation has decoded metadata in the defaults of the printed schema. Go then prints the decoded form.
    coerces: bool,
}

impl Printer<'_> {
    fn finish(self) -> BadValue {
        BadValue::Json(String::from_utf8_lossy(&self.out).into_owned())
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, text: &str) {
        escape::string(&mut self.out, text, Escape::Html);
    }

    fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    fn optional<T>(&mut self, value: Option<T>, print: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => print(self, value),
            None => self.raw("null"),
        }
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, mut print: impl FnMut(&mut Self, T)) {
        self.raw("[");
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.raw(",");
            }
            print(self, item);
        }
        self.raw("]");
    }

    fn member(&mut self, name: &str) {
        let first = self.out.last() == Some(&b'{');
        self.raw(if first { "\"" } else { ",\"" });
        self.raw(name);
        self.raw("\":");
    }

    fn version(&mut self, version: &Version<'_>) {
        self.raw("{");
        self.member("Name");
        self.text(version.name);
        for (name, value) in
            [("Served", version.served), ("Storage", version.storage), ("Deprecated", version.deprecated)]
        {
            self.member(name);
            self.boolean(value);
        }
        self.member("DeprecationWarning");
        self.optional(version.deprecation_warning, Self::text);
        self.member("Schema");
        self.optional(version.schema, Self::validation);
        self.member("Subresources");
        self.optional(version.subresources, Self::subresources);
        self.member("AdditionalPrinterColumns");
        self.optional(version.columns, |printer, columns| printer.list(columns.iter(), Self::column));
        self.member("SelectableFields");
        self.optional(version.selectable_fields, |printer, fields| {
            printer.list(fields.iter(), |printer, path| {
                printer.raw("{\"JSONPath\":");
                printer.text(path);
                printer.raw("}");
            });
        });
        self.raw("}");
    }

    fn validation(&mut self, validation: Validation<'_>) {
        self.coerces = validation.schema.is_some_and(are_coerced);
        self.raw("{\"OpenAPIV3Schema\":");
        self.optional(validation.schema, Self::schema);
        self.raw("}");
    }

    fn subresources(&mut self, subresources: Subresources<'_>) {
        self.raw("{\"Status\":");
        self.raw(if subresources.status { "{}" } else { "null" });
        self.member("Scale");
        self.optional(subresources.scale, |printer, scale| {
            printer.raw("{\"SpecReplicasPath\":");
            printer.text(scale.spec_replicas_path);
            printer.member("StatusReplicasPath");
            printer.text(scale.status_replicas_path);
            printer.member("LabelSelectorPath");
            printer.optional(scale.label_selector_path, Self::text);
            printer.raw("}");
        });
        self.raw("}");
    }

    fn column(&mut self, column: &Column<&str>) {
        self.raw("{");
        let texts = [
            ("Name", column.name),
            ("Type", column.column_type),
            ("Format", column.format),
            ("Description", column.description),
        ];
        for (name, text) in texts {
            self.member(name);
            self.text(text);
        }
        self.member("Priority");
        number::write_int(i64::from(column.priority), &mut self.out);
        self.member("JSONPath");
        self.text(column.json_path);
        self.raw("}");
    }

    fn schema(&mut self, schema: &Schema<'_>) {
        let node = self.document.node(schema.at);
        let extra = schema.extra();
        let written = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
        self.raw("{");
        self.member("ID");
        self.text(extra.id);
        self.member("Schema");
        self.text(extra.schema_uri);
        self.member("Ref");
        self.optional(node.get("$ref").and_then(Node::as_str), Self::text);
        self.member("Description");
        self.text(schema.description);
        self.member("Type");
        self.text(schema.type_name());
        self.member("Nullable");
        self.boolean(schema.flags.any(Flags::NULLABLE));
        self.member("Format");
        self.text(schema.format);
        self.member("Title");
        self.text(extra.title);
        self.member("Default");
        self.optional(schema.default, |printer, default| {
            let arena = Bump::new();
            match printer.coerces.then(|| coerced(schema, &arena)).flatten() {
                Some(coerced) => coerced.write_go_json(&mut printer.out),
                None => printer.json(default),
            }
        });
        self.member("Maximum");
        self.optional(extra.maximum, Self::number);
        self.member("ExclusiveMaximum");
        self.boolean(schema.flags.any(Flags::EXCLUSIVE_MAXIMUM));
        self.member("Minimum");
        self.optional(extra.minimum, Self::number);
        self.member("ExclusiveMinimum");
        self.boolean(schema.flags.any(Flags::EXCLUSIVE_MINIMUM));
        self.member("MaxLength");
        self.optional(extra.max_length, Self::integer);
        self.member("MinLength");
        self.optional(extra.min_length, Self::integer);
        self.member("Pattern");
        self.text(extra.pattern);
        self.member("MaxItems");
        self.optional(extra.max_items, Self::integer);
        self.member("MinItems");
        self.optional(extra.min_items, Self::integer);
        self.member("UniqueItems");
        self.boolean(schema.flags.any(Flags::UNIQUE_ITEMS));
        self.member("MultipleOf");
        self.optional(extra.multiple_of, Self::number);
        self.member("Enum");
        self.optional(written("enum").then_some(schema.enumeration), |printer, values| {
            printer.list(values.iter(), Self::json);
        });
        self.member("MaxProperties");
        self.optional(extra.max_properties, Self::integer);
        self.member("MinProperties");
        self.optional(extra.min_properties, Self::integer);
        self.member("Required");
        self.optional(written("required").then_some(schema.required), Self::texts);
        self.member("Items");
        self.optional(has_items(schema).then_some(schema), Self::items);
        for (name, key, list) in
            [("AllOf", "allOf", extra.all_of), ("OneOf", "oneOf", extra.one_of), ("AnyOf", "anyOf", extra.any_of)]
        {
            self.member(name);
            self.optional(written(key).then_some(list), |printer, list| printer.list(list.iter(), Self::schema));
        }
        self.member("Not");
        self.optional(extra.not, Self::schema);
        self.member("Properties");
        self.optional(written("properties").then_some(schema.properties), Self::properties);
        self.member("AdditionalProperties");
        self.optional(schema.additional, Self::additional);
        self.member("PatternProperties");
        self.optional(written("patternProperties").then_some(extra.pattern_properties), Self::properties);
        self.member("Dependencies");
        self.optional(written("dependencies").then_some(extra.dependencies), |printer, dependencies| {
            printer.map(dependencies.iter().map(|(name, value)| (*name, value)).collect(), |printer, value| {
                let (schema, names) = match value {
                    Dependency::Schema(schema) => (Some(*schema), None),
                    Dependency::Names(names) => (None, Some(*names)),
                };
                printer.raw("{\"Schema\":");
                printer.optional(schema, Self::schema);
                printer.member("Property");
                printer.optional(names, Self::texts);
                printer.raw("}");
            });
        });
        self.member("AdditionalItems");
        self.optional(extra.additional_items, Self::additional);
        self.member("Definitions");
        self.optional(written("definitions").then_some(extra.definitions), Self::properties);
        self.member("ExternalDocs");
        self.optional(extra.external_docs, |printer, docs| {
            printer.raw("{\"Description\":");
            printer.text(docs.description);
            printer.member("URL");
            printer.text(docs.url);
            printer.raw("}");
        });
        self.member("Example");
        self.optional(extra.example, Self::json);
        self.member("XPreserveUnknownFields");
        let preserve = schema.flags.any(Flags::PRESERVE_UNKNOWN);
        let said = preserve || schema.flags.any(Flags::PRESERVE_UNKNOWN_FALSE);
        self.optional(said.then_some(preserve), Self::boolean);
        self.member("XEmbeddedResource");
        self.boolean(schema.flags.any(Flags::EMBEDDED_RESOURCE));
        self.member("XIntOrString");
        self.boolean(schema.flags.any(Flags::INT_OR_STRING));
        self.member("XListMapKeys");
        self.optional(extra.list_map_keys_written.then_some(extra.list_map_keys), Self::texts);
        self.member("XListType");
        self.optional(extra.list_type, Self::text);
        self.member("XMapType");
        self.optional(extra.map_type, Self::text);
        self.member("XValidations");
        self.optional(extra.validations_written.then_some(extra.validations), |printer, rules| {
            printer.list(rules.iter(), Self::rule);
        });
        self.raw("}");
    }

    fn rule(&mut self, rule: &Rule<'_>) {
        write_rule(&mut self.out, rule, &Release::DEFAULT.into());
    }

    /// Prints the items of a schema that has some. Go reads a value that is neither a schema nor a list of schemas as
    /// neither.
    fn items(&mut self, schema: &Schema<'_>) {
        let is_list = || self.document.node(schema.at).get("items").is_some_and(|value| value.kind() == Kind::Seq);
        let (one, many) = match schema.items {
            Some(Items::One(schema)) => (Some(schema), None),
            Some(Items::Many(schemas)) => (None, Some(schemas)),
            None => (None, is_list().then_some(&[][..])),
        };
        self.raw("{\"Schema\":");
        self.optional(one, Self::schema);
        self.member("JSONSchemas");
        self.optional(many, |printer, schemas| printer.list(schemas.iter(), Self::schema));
        self.raw("}");
    }

    fn additional(&mut self, additional: Additional<'_>) {
        let (allows, schema) = match additional {
            Additional::Allowed(allows) => (allows, None),
            Additional::Schema(schema) => (true, Some(schema)),
        };
        self.raw("{\"Allows\":");
        self.boolean(allows);
        self.member("Schema");
        self.optional(schema, Self::schema);
        self.raw("}");
    }

    fn properties(&mut self, properties: &[Property<'_>]) {
        let members = properties.iter().map(|property| (property.name, &property.schema)).collect();
        self.map(members, |printer, schema| printer.schema(schema));
    }

    /// Prints a map. Go sorts the keys by their bytes.
    fn map<T>(&mut self, mut members: Vec<(&str, T)>, mut print: impl FnMut(&mut Self, T)) {
        members.sort_by(|a, b| a.0.cmp(b.0));
        self.raw("{");
        for (i, (name, value)) in members.into_iter().enumerate() {
            if i > 0 {
                self.raw(",");
            }
            self.text(name);
            self.raw(":");
            print(self, value);
        }
        self.raw("}");
    }

    fn texts(&mut self, texts: &[&str]) {
        self.list(texts.iter(), |printer, text| printer.text(text));
    }

    fn integer(&mut self, value: i64) {
        number::write_int(value, &mut self.out);
    }

    fn number(&mut self, value: f64) {
        number::write_json(value, &mut self.out);
    }

    fn json(&mut self, value: &Json<'_>) {
        value.print(&mut self.out, Escape::Html);
    }
}

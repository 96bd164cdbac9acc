//! Extensions, which stay as annotations, and keywords of OpenAPI that JSON Schema does not have.

use super::Draft;
use super::writer::{Meta, Writer, key};
use kubeshape_schema::read::{KEPT, is_extension};
use kubeshape_schema::{Code, Flags, Json, Rule, Schema};

/// Members that say where a schema is.
const IDENTIFIERS: [&str; 7] = ["$anchor", "$defs", "$dynamicAnchor", "$id", "$schema", "$vocabulary", "definitions"];
/// References to schemas that have other places in the result.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];
/// Keywords whose values are mappings of schemas.
const MAPS: [&str; 2] = ["dependentSchemas", "patternProperties"];

/// Returns the value of a keyword that only OpenAPI 3.1 has.
pub(super) fn kept<'a>(s: &Schema<'a>, name: &str) -> Option<Json<'a>> {
    let (_, kept) = s.extra().extensions.iter().find(|(own, _)| *own == KEPT)?;
    kept.get(name).copied()
}

impl<'a> Writer<'_, 'a, '_> {
    pub(super) fn extensions(&mut self, s: &Schema<'a>, meta: Meta<'_>) {
        if s.flags.any(Flags::EMBEDDED_RESOURCE) {
            key!(self, "x-kubernetes-embedded-resource");
            self.out.extend_from_slice(b"true");
        }
        if let Meta::Root(gvk) = meta {
            key!(self, "x-kubernetes-group-version-kind");
            self.out.extend_from_slice(b"[{\"group\":");
            self.text(gvk.group());
            self.out.extend_from_slice(b",\"kind\":");
            self.text(gvk.kind());
            self.out.extend_from_slice(b",\"version\":");
            self.text(gvk.version());
            self.out.extend_from_slice(b"}]");
        }
        if s.flags.any(Flags::INT_OR_STRING) {
            key!(self, "x-kubernetes-int-or-string");
            self.out.extend_from_slice(b"true");
        }
        let preserves = s.flags.any(Flags::PRESERVE_UNKNOWN);
        if s.extra.is_none() {
            return self.preserves(preserves);
        }
        let e = s.extra();
        if !e.list_map_keys.is_empty() {
            key!(self, "x-kubernetes-list-map-keys");
            self.texts(e.list_map_keys);
            self.note(Code::JsonSchemaListMap, s.at, format!("keys {}", e.list_map_keys.join(", ")));
        }
        if let Some(list_type) = e.list_type {
            key!(self, "x-kubernetes-list-type");
            self.text(list_type);
        }
        if let Some(map_type) = e.map_type {
            key!(self, "x-kubernetes-map-type");
            self.text(map_type);
        }
        self.preserves(preserves);
        if !e.validations.is_empty() {
            key!(self, "x-kubernetes-validations");
            self.out.push(b'[');
            for (i, rule) in e.validations.iter().enumerate() {
                self.out.extend_from_slice(if i > 0 { b",{" } else { b"{" });
                self.first = true;
                self.rule(rule);
                self.out.push(b'}');
                self.note(Code::JsonSchemaCel, s.at, format!("rule {:?}", rule.rule));
            }
            self.out.push(b']');
            self.first = false;
        }
        self.others(s);
        self.openapi_only(s);
    }

    fn preserves(&mut self, on: bool) {
        if on {
            key!(self, "x-kubernetes-preserve-unknown-fields");
            self.out.extend_from_slice(b"true");
        }
    }

    pub(super) fn texts(&mut self, texts: &[&str]) {
        self.out.push(b'[');
        for (i, text) in texts.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            self.text(text);
        }
        self.out.push(b']');
    }

    fn rule(&mut self, rule: &Rule<'_>) {
        key!(self, "rule");
        self.text(rule.rule);
        let texts = [
            ("message", rule.message),
            ("messageExpression", rule.message_expression),
            ("reason", rule.reason.unwrap_or_default()),
            ("fieldPath", rule.field_path),
        ];
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.any_key(name);
            self.text(text);
        }
        if let Some(optional) = rule.optional_old_self {
            key!(self, "optionalOldSelf");
            self.json(&Json::Bool(optional));
        }
    }

    /// Prints extensions without a field of their own, and members that the reader does not know.
    fn others(&mut self, s: &Schema<'a>) {
        for (name, value) in s.extra().extensions {
            match *name {
                "deprecated" | "writeOnly" | "nullable" => {}
                "x-nullable" if *value == Json::Bool(true) => {}
                KEPT => self.kept(value, s.at),
                "discriminator" | "xml" => self.note(Code::JsonSchemaOpenApi, s.at, (*name).to_owned()),
                name if is_extension(name) => {
                    self.any_key(name);
                    self.json(value);
                }
                // JSON Schema may have a meaning for it that OpenAPI does not have.
                name => self.note(Code::JsonSchemaKeyword, s.at, name.to_owned()),
            }
            if let ("x-kubernetes-validations", Json::Array(rules)) = (*name, value) {
                for rule in rules.iter().filter_map(|rule| rule.get("rule")?.as_str()) {
                    self.note(Code::JsonSchemaCel, s.at, format!("rule {rule:?}"));
                }
            }
        }
    }

    /// Prints the keywords of OpenAPI 3.1, which are those of JSON Schema 2020-12. Older drafts have other ones.
    fn kept(&mut self, kept: &Json<'a>, at: u32) {
        let Json::Object(members) = kept else { return };
        for (name, value) in *members {
            if *name == "examples" {
                // The first one is printed.
                self.note(Code::JsonSchemaOpenApi, at, (*name).to_owned());
            } else if IDENTIFIERS.contains(name) {
                self.note(Code::JsonSchemaIdentifier, at, (*name).to_owned());
            } else if self.options.draft == Draft::D2020_12 && !DYNAMIC.contains(name) {
                self.any_key(name);
                self.kept_schema(value, MAPS.contains(name), at);
            } else {
                self.note(Code::JsonSchemaKeyword, at, (*name).to_owned());
            }
        }
    }

    /// Prints a kept schema, or a mapping or a list of schemas. Its references lead to definitions of the result.
    fn kept_schema(&mut self, value: &Json<'a>, is_map: bool, at: u32) {
        match value {
            Json::Object(members) => {
                self.out.push(b'{');
                self.first = true;
                for (name, value) in *members {
                    match (*name, value) {
                        _ if is_map => {
                            self.any_key(name);
                            self.kept_schema(value, false, at);
                        }
                        ("$ref", Json::Str(reference)) => {
                            if let Some(pointer) = self.resolved_text(reference, at) {
                                self.any_key(name);
                                self.text(&pointer);
                            }
                        }
                        ("const" | "enum" | "default" | "example" | "examples", _) => {
                            self.any_key(name);
                            self.json(value);
                        }
                        (name, _) if IDENTIFIERS.contains(&name) => {
                            self.note(Code::JsonSchemaIdentifier, at, name.to_owned());
                        }
                        (name, _) if DYNAMIC.contains(&name) => {
                            self.note(Code::JsonSchemaKeyword, at, name.to_owned());
                        }
                        (name, _) => {
                            self.any_key(name);
                            self.kept_schema(value, name == "properties" || MAPS.contains(&name), at);
                        }
                    }
                }
                self.out.push(b'}');
            }
            Json::Array(items) => {
                self.out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push(b',');
                    }
                    self.kept_schema(item, false, at);
                }
                self.out.push(b']');
            }
            other => self.json(other),
        }
        self.first = false;
    }

    fn openapi_only(&mut self, s: &Schema<'a>) {
        let e = s.extra();
        if e.external_docs.is_some() {
            self.note(Code::JsonSchemaOpenApi, s.at, "externalDocs".to_owned());
        }
        if !e.discriminator.is_empty() {
            self.note(Code::JsonSchemaOpenApi, s.at, "discriminator".to_owned());
        }
        let identifiers = [("id", !e.id.is_empty()), ("$schema", !e.schema_uri.is_empty())];
        for (name, there) in identifiers.into_iter().chain([("definitions", !e.definitions.is_empty())]) {
            if there {
                self.note(Code::JsonSchemaIdentifier, s.at, name.to_owned());
            }
        }
    }
}

//! Schemas of definitions: `validateCustomResourceDefinitionValidation` and
//! `ValidateCustomResourceDefinitionOpenAPISchema`.

use super::list_items::{map_list_items, set_of_other_than_atomic};
use super::options::Options;
use super::rules::{Rules, Scope, Step};
use super::subschemas::any;
use super::{defaults, field_path, go_json};
use crate::metadata::place;
use crate::release::Change;
use kubeshape_schema::field::{BadValue, Error, Errors, Path};
use kubeshape_schema::{Additional, Dependency, Flags, Items, Rule, Schema, Type};
use kubeshape_structural::written::Validation;
use kubeshape_structural::{convert, validate, validate_undocumented};
use kubeshape_yaml::{Document, Kind};

/// The Go names of the fields that the root of a schema may have if there is a status subresource.
const ALLOWED_AT_ROOT: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum \
    MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example \
    XPreserveUnknownFields XValidations]";

/// The types, in the order of messages.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The flags of schemas that use a Kubernetes extension.
const EXTENSIONS: Flags = Flags::EMBEDDED_RESOURCE
    .with(Flags::PRESERVE_UNKNOWN)
    .with(Flags::PRESERVE_UNKNOWN_FALSE)
    .with(Flags::INT_OR_STRING)
    .with(Flags::VALIDATIONS);

/// `schemaHasKubernetesExtensions`
pub(super) fn has_extensions(schema: &Schema<'_>) -> bool {
    schema.subtree.any(EXTENSIONS)
        || any(schema, &|schema| {
            let extra = schema.extra();
            !extra.list_map_keys.is_empty() || extra.list_type.is_some()
        })
}

/// Validates the schema of a version or of all versions.
///
/// `status` says whether the status subresource is enabled; `path` is the path of the value with `openAPIV3Schema`.
pub fn validate_validation(
    validation: Option<Validation<'_>>,
    status: bool,
    options: &Options<'_>,
    path: &Path<'_>,
    document: Document<'_>,
    errors: &mut Errors,
) {
    let Some(schema) = validation.and_then(|validation| validation.schema) else { return };
    let mut found = Errors::default();
    let schema_path = path.child("openAPIV3Schema");
    if status {
        root_beside_status(schema, path, document, &mut found);
    }
    if schema.flags.any(Flags::NULLABLE) {
        let at = place(document.node(schema.at), "nullable");
        found.push(Error::forbidden(&schema_path.child("nullable"), "nullable cannot be true at the root", at));
    }
    let mut unconvertible = None;
    let mut scope = None;
    if options.require_structural {
        if let Err(error) = convert(schema) {
            unconvertible = Some(Error::invalid(&schema_path, "", error.to_string(), error.at));
        } else {
            let base = schema_path.to_string();
            let mut structural = validate(schema, &base);
            if !structural.is_empty() {
                let older = validate_undocumented(schema, &base);
                if older.len() < structural.len() && !options.release.has(Change::KeptDocumentation) {
                    structural = older;
                }
            }
            let mut structural = Errors::from(structural);
            let before = structural.len();
            nested_additional_false(schema, &schema_path, false, document, &mut structural);
            if structural.len() > before && options.release.has(Change::NestedAdditionalPropertiesFalse) {
                structural.truncate(before);
            }
            if structural.is_empty() {
                let before = found.len();
                defaults::validate(schema, &schema_path, options, document, &mut found);
                let ruled = schema.subtree.any(Flags::VALIDATIONS) && found.len() == before;
                scope = ruled.then(|| Scope::root(schema));
            } else {
                found.append(&mut structural);
            }
        }
    }
    let mut walk = Walk { options, document, errors: &mut found, rules: Rules::default() };
    let mode = Mode {
        forbidden_defaults: (!options.allow_defaults).then_some(""),
        inside_metadata: false,
        root: true,
        scope: scope.as_ref(),
        uncorrelatable: None,
    };
    walk.schema(schema, &schema_path, mode);
    let mut rules = walk.rules;
    found.append(&mut rules.errors);
    if found.is_empty() {
        found.extend(unconvertible);
    }
    rules.total(&schema_path, schema.at, &mut found);
    errors.append(&mut found);
}

/// Checks older releases' restriction of `additionalProperties: false` below `allOf`, `anyOf`, `oneOf` and `not`.
/// `nested` says whether the schema is below one of them.
fn nested_additional_false(
    schema: &Schema<'_>,
    path: &Path<'_>,
    nested: bool,
    document: Document<'_>,
    errors: &mut Errors,
) {
    if !nested && !schema.subtree.any(Flags::JUNCTOR) {
        return;
    }
    if nested && schema.additional == Some(Additional::Allowed(false)) {
        let at = place(document.node(schema.at), "additionalProperties");
        let path = path.child("additionalProperties");
        errors.push(Error::forbidden(&path, "must be undefined to be structural", at));
    }
    let mut below = |schema: &Schema<'_>, path: &Path<'_>, nested: bool| {
        nested_additional_false(schema, path, nested, document, errors);
    };
    let properties = path.child("properties");
    for property in schema.properties {
        below(&property.schema, &properties.key(property.name), nested);
    }
    if let Some(item) = schema.item() {
        below(item, &path.child("items"), nested);
    }
    if let Some(schema) = schema.additional_schema() {
        below(schema, &path.child("additionalProperties"), nested);
    }
    let extra = schema.extra();
    if let Some(not) = extra.not {
        below(not, &path.child("not"), true);
    }
    for (name, branches) in [("allOf", extra.all_of), ("anyOf", extra.any_of), ("oneOf", extra.one_of)] {
        let path = path.child(name);
        for (i, branch) in branches.iter().enumerate() {
            below(branch, &path.index(i), true);
        }
    }
}

/// Checks the keywords at the root. With the status subresource only some are allowed, so that the schema of the status
/// loses nothing. Upstream reports the first invalid field, in the order of Go's struct.
fn root_beside_status(schema: &Schema<'_>, path: &Path<'_>, document: Document<'_>, errors: &mut Errors) {
    let node = document.node(schema.at);
    let extra = schema.extra();
    let written = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
    let schema_path = path.child("openAPIV3Schema");
    let not_allowed = |keyword: &str, errors: &mut Errors| {
        let detail = format!(
            "only {ALLOWED_AT_ROOT} fields are allowed at the root of the schema if the status subresource is enabled"
        );
        let at = place(node, keyword);
        errors.push(Error::invalid(&schema_path, go_json::schema(schema, document), detail, at));
    };
    let before_type =
        [("id", !extra.id.is_empty()), ("$schema", !extra.schema_uri.is_empty()), ("$ref", written("$ref"))];
    if let Some((keyword, _)) = before_type.into_iter().find(|(_, set)| *set) {
        return not_allowed(keyword, errors);
    }
    if schema.ty != Type::Absent && schema.ty != Type::Object {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        let path = path.child("openAPIV3Schema.type");
        errors.push(Error::invalid(&path, schema.type_name(), detail, place(node, "type")));
        return;
    }
    let after_type = [
        ("nullable", schema.flags.any(Flags::NULLABLE)),
        ("default", schema.default.is_some()),
        ("enum", written("enum")),
        ("maxProperties", extra.max_properties.is_some()),
        ("minProperties", extra.min_properties.is_some()),
        ("allOf", written("allOf")),
        ("oneOf", written("oneOf")),
        ("anyOf", written("anyOf")),
        ("not", extra.not.is_some()),
        ("additionalProperties", schema.additional.is_some()),
        ("patternProperties", written("patternProperties")),
        ("dependencies", written("dependencies")),
        ("additionalItems", extra.additional_items.is_some()),
        ("definitions", written("definitions")),
        ("x-kubernetes-embedded-resource", schema.flags.any(Flags::EMBEDDED_RESOURCE)),
        ("x-kubernetes-int-or-string", schema.flags.any(Flags::INT_OR_STRING)),
        ("x-kubernetes-list-map-keys", extra.list_map_keys_written),
        ("x-kubernetes-list-type", extra.list_type.is_some()),
        ("x-kubernetes-map-type", extra.map_type.is_some()),
    ];
    if let Some((keyword, _)) = after_type.into_iter().find(|(_, set)| *set) {
        not_allowed(keyword, errors);
    }
}

/// The restrictions that follow from the location of a schema: `specStandardValidatorV3`.
#[derive(Clone, Copy)]
struct Mode<'p> {
    /// Why defaults are forbidden; empty if there is no reason.
    forbidden_defaults: Option<&'p str>,
    /// Whether this is a schema of type or object metadata.
    inside_metadata: bool,
    /// Whether this is the root.
    root: bool,
    /// The context for rules; `None` if rules are not compiled here.
    scope: Option<&'p Scope<'p>>,
    /// The path of the first schema above whose values cannot be found again in the old object.
    uncorrelatable: Option<&'p Path<'p>>,
}

struct Walk<'w, 'd> {
    options: &'w Options<'w>,
    document: Document<'d>,
    errors: &'w mut Errors,
    rules: Rules,
}

impl Walk<'_, '_> {
    fn schema(&mut self, schema: &Schema<'_>, path: &Path<'_>, mode: Mode<'_>) {
        let before = self.errors.len();
        self.standard(schema, path, mode);
        if schema.flags.any(Flags::UNIQUE_ITEMS) {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbidden(schema, path, "uniqueItems", detail);
        }
        self.below(schema, path, mode);
        if schema.flags.any(Flags::PRESERVE_UNKNOWN_FALSE) {
            self.invalid(schema, path, "x-kubernetes-preserve-unknown-fields", false, "must be true or undefined");
        }
        let Some(extra) = schema.extra else { return };
        self.map_type(schema, path);
        self.list_type(schema, path);
        if self.options.require_map_list_keys {
            let at = self.at(schema, "x-kubernetes-list-type");
            map_list_items(schema, path, at, self.errors);
        }
        let rules = path.child("x-kubernetes-validations");
        for (i, rule) in extra.validations.iter().enumerate() {
            self.rule(schema, rule, &rules.index(i));
        }
        if let Some(scope) = mode.scope
            && !extra.validations.is_empty()
            && self.errors.len() == before
        {
            self.rules.compile(scope, mode.uncorrelatable, path, self.options, self.document);
        }
    }

    /// Checks a subschema that rules can see.
    fn visible(&mut self, schema: &Schema<'_>, step: Step<'_>, path: &Path<'_>, mode: Mode<'_>) {
        let above = mode.scope.filter(|_| schema.subtree.any(Flags::VALIDATIONS));
        let scope = above.map(|above| above.child(step, schema));
        self.schema(schema, path, Mode { scope: scope.as_ref(), ..mode });
    }

    /// Checks the subschemas, with their restrictions.
    fn below(&mut self, schema: &Schema<'_>, path: &Path<'_>, mode: Mode<'_>) {
        let extra = schema.extra();
        let inner = Mode { root: false, ..mode };
        if let Some(additional) = schema.additional {
            if !schema.properties.is_empty() && additional != Additional::Allowed(true) {
                let detail = "additionalProperties and properties are mutual exclusive";
                self.forbidden(schema, path, "additionalProperties", detail);
            }
            if let Additional::Schema(below) = additional {
                let mut mode = inner;
                if mode.inside_metadata {
                    // Pruning without the actual value would be ambiguous.
                    mode.forbidden_defaults = Some("inside additionalProperties applying to object metadata");
                }
                self.visible(below, Step::Element, &path.child("additionalProperties"), mode);
            }
        }
        // Lists other than maps are correlated only as a whole, and so are maps of an unknown type.
        let apart = Mode { uncorrelatable: mode.uncorrelatable.or(Some(path)), ..inner };
        let correlated = matches!(extra.map_type, None | Some("granular" | "atomic"));
        let properties = path.child("properties");
        for property in schema.properties {
            let inner = if correlated { inner } else { apart };
            let step = Step::Property(property.name);
            let path = properties.key(property.name);
            let metadata = (mode.root || schema.flags.any(Flags::EMBEDDED_RESOURCE))
                && matches!(property.name, "metadata" | "kind" | "apiVersion");
            if metadata {
                let reason = format!("in top-level {}", property.name);
                let forbidden_defaults = if mode.root { Some(&*reason) } else { mode.forbidden_defaults };
                let mode = Mode { forbidden_defaults, inside_metadata: true, ..inner };
                self.visible(&property.schema, step, &path, mode);
            } else {
                self.visible(&property.schema, step, &path, inner);
            }
        }
        let items = if extra.list_type == Some("map") { inner } else { apart };
        match schema.items {
            Some(Items::One(item)) => self.visible(item, Step::Element, &path.child("items"), items),
            Some(Items::Many(list)) => self.list(list, path, "items", Mode { scope: None, ..items }),
            None => {}
        }
        let inner = Mode { scope: None, ..inner };
        if schema.extra.is_none() {
            return;
        }
        if let Some(not) = extra.not {
            self.schema(not, &path.child("not"), inner);
        }
        self.list(extra.all_of, path, "allOf", inner);
        self.list(extra.one_of, path, "oneOf", inner);
        self.list(extra.any_of, path, "anyOf", inner);
        let definitions = path.child("definitions");
        for definition in extra.definitions {
            self.schema(&definition.schema, &definitions.key(definition.name), inner);
        }
        let dependencies = path.child("dependencies");
        for (name, dependency) in extra.dependencies {
            if let Dependency::Schema(schema) = dependency {
                self.schema(schema, &dependencies.key(name), inner);
            }
        }
    }

    fn list(&mut self, schemas: &[Schema<'_>], path: &Path<'_>, name: &'static str, mode: Mode<'_>) {
        let path = path.child(name);
        for (i, schema) in schemas.iter().enumerate() {
            self.schema(schema, &path.index(i), mode);
        }
    }

    /// `specStandardValidatorV3.validate`
    fn standard(&mut self, schema: &Schema<'_>, path: &Path<'_>, mode: Mode<'_>) {
        if schema.ty == Type::Other {
            if self.options.require_valid_type {
                let at = self.at(schema, "type");
                let path = path.child("type");
                self.errors.push(Error::not_supported(&path, schema.type_name(), &TYPES, at));
            }
            if schema.type_name() == "null" {
                let detail = "type cannot be set to null, use nullable as an alternative";
                self.forbidden(schema, path, "type", detail);
            }
        }
        if let (Some(_), Some(reason)) = (schema.default, mode.forbidden_defaults) {
            let space = if reason.is_empty() { "" } else { " " };
            self.forbidden(schema, path, "default", &format!("must not be set{space}{reason}"));
        }
        if let Some(Items::Many([_, ..])) = schema.items {
            self.forbidden(schema, path, "items", "items must be a schema object and not an array");
        }
        if mode.inside_metadata && schema.flags.any(Flags::EMBEDDED_RESOURCE) {
            let detail = "must not be used inside of resource meta";
            self.forbidden(schema, path, "x-kubernetes-embedded-resource", detail);
        }
        self.written(schema, path);
        let Some(extra) = schema.extra else { return };
        let unsupported = [
            ("id", !extra.id.is_empty()),
            ("additionalItems", extra.additional_items.is_some()),
            ("patternProperties", !extra.pattern_properties.is_empty()),
            ("definitions", !extra.definitions.is_empty()),
        ];
        for (keyword, _) in unsupported.into_iter().filter(|(_, set)| *set) {
            self.forbidden(schema, path, keyword, &format!("{keyword} is not supported"));
        }
    }

    /// Reports keywords that must not be written even with an empty value. The schema does not keep such values.
    fn written(&mut self, schema: &Schema<'_>, path: &Path<'_>) {
        let node = self.document.node(schema.at);
        if node.kind() != Kind::Map {
            return;
        }
        for (key, value) in node.pairs() {
            let keyword = match key.text() {
                "$ref" => "$ref",
                "dependencies" => "dependencies",
                _ => continue,
            };
            if !value.is_null() {
                self.forbidden(schema, path, keyword, &format!("{keyword} is not supported"));
            }
        }
    }

    fn map_type(&mut self, schema: &Schema<'_>, path: &Path<'_>) {
        let Some(map_type) = schema.extra().map_type else { return };
        if schema.ty != Type::Object {
            self.wrong_type(schema, path, "must be object if x-kubernetes-map-type is specified");
        }
        if !matches!(map_type, "atomic" | "granular") {
            let at = self.at(schema, "x-kubernetes-map-type");
            let path = path.child("x-kubernetes-map-type");
            self.errors.push(Error::not_supported(&path, map_type, &["atomic", "granular"], at));
        }
    }

    fn list_type(&mut self, schema: &Schema<'_>, path: &Path<'_>) {
        const LIST_TYPE: &str = "x-kubernetes-list-type";
        const KEYS: &str = "x-kubernetes-list-map-keys";
        let extra = schema.extra();
        if extra.list_type.is_some() && schema.ty != Type::Array {
            self.wrong_type(schema, path, "must be array if x-kubernetes-list-type is specified");
        } else if self.options.require_atomic_set_type
            && let (Some((keyword, value)), Some(item)) = (set_of_other_than_atomic(schema), schema.item())
        {
            let value = value.map_or_else(|| BadValue::Json("null".to_owned()), BadValue::from);
            let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
            self.invalid(item, &path.child("items"), keyword, value, detail);
        }
        if let Some(list_type) = extra.list_type
            && !matches!(list_type, "atomic" | "set" | "map")
        {
            let at = self.at(schema, LIST_TYPE);
            self.errors.push(Error::not_supported(&path.child(LIST_TYPE), list_type, &["atomic", "set", "map"], at));
        }
        if !extra.list_map_keys.is_empty() {
            let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
            match extra.list_type {
                None => self.required(schema, path, LIST_TYPE, detail),
                Some("map") => {}
                Some(other) => self.invalid(schema, path, LIST_TYPE, other, detail),
            }
        }
        if extra.list_type != Some("map") {
            return;
        }
        if extra.list_map_keys.is_empty() {
            self.required(schema, path, KEYS, "must not be empty if x-kubernetes-list-type is map");
        }
        match schema.items {
            None | Some(Items::Many(_)) => match go_json::items(schema, self.document) {
                None => self.required(schema, path, "items", "must have a schema if x-kubernetes-list-type is map"),
                Some(value) => {
                    let detail = "must only have a single schema if x-kubernetes-list-type is map";
                    self.invalid(schema, path, "items", value, detail);
                }
            },
            Some(Items::One(item)) if item.ty != Type::Object => {
                let detail = "must be object if parent array's x-kubernetes-list-type is map";
                self.invalid(item, &path.child("items"), "type", item.type_name(), detail);
            }
            Some(Items::One(item)) => self.map_keys(schema, item, path),
        }
    }

    /// Checks that keys of a map list are scalar properties of its items.
    fn map_keys(&mut self, schema: &Schema<'_>, item: &Schema<'_>, path: &Path<'_>) {
        const KEYS: &str = "x-kubernetes-list-map-keys";
        let keys = schema.extra().list_map_keys;
        let items = path.child("items");
        let properties = items.child("properties");
        for (i, key) in keys.iter().enumerate() {
            match item.property(key) {
                Some(property) if matches!(property.ty, Type::Array | Type::Object) => {
                    let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    // Upstream shows the type of the item.
                    self.invalid(property, &properties.key(key), "type", item.type_name(), detail);
                }
                Some(_) => {}
                None => {
                    let detail = "entries must all be names of item properties";
                    self.invalid(schema, path, KEYS, go_json::texts(keys), detail);
                }
            }
            if keys[..i].contains(key) {
                self.invalid(schema, path, KEYS, go_json::texts(keys), "must not contain duplicate entries");
            }
        }
    }

    /// Checks a rule without compiling it.
    fn rule(&mut self, schema: &Schema<'_>, rule: &Rule<'_>, path: &Path<'_>) {
        let at = self.at(schema, "x-kubernetes-validations");
        let text = rule.rule.trim();
        let message = rule.message.trim();
        let lines = |text: &str| text.contains(['\n', '\r']);
        let is_short = || self.options.release.has(Change::ShortMessages);
        let mut invalid = |field: &'static str, value: &str, detail: &str| {
            let detail = if is_short() { detail.to_owned() } else { format!("{field} {detail}") };
            self.errors.push(Error::invalid(&path.child(field), value, detail, at));
        };
        if text.is_empty() {
            self.errors.push(Error::required(&path.child("rule"), "rule is not specified", at));
        } else if !rule.message.is_empty() && message.is_empty() {
            invalid("message", rule.message, "must be non-empty if specified");
        } else if lines(message) {
            invalid("message", rule.message, "must not contain line breaks");
        } else if lines(text) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            self.errors.push(Error::required(&path.child("message"), detail, at));
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            self.errors.push(Error::required(&path.child("messageExpression"), detail, at));
        }
        if let Some(reason) = rule.reason.filter(|reason| !REASONS.contains(reason)) {
            self.errors.push(Error::not_supported(&path.child("reason"), reason, &REASONS, at));
        }
        if rule.field_path.is_empty() {
            return;
        }
        let mut invalid = |detail: &str| {
            let detail = if is_short() { detail.to_owned() } else { format!("fieldPath {detail}") };
            self.errors.push(Error::invalid(&path.child("fieldPath"), rule.field_path, detail, at));
        };
        if rule.field_path.trim().is_empty() {
            invalid("must be non-empty if specified");
        }
        if lines(rule.field_path) {
            invalid("must not contain line breaks");
        }
        if convert(schema).is_ok() && field_path::find(rule.field_path, schema, true).is_err() {
            invalid("must be a valid path");
        }
    }

    fn wrong_type(&mut self, schema: &Schema<'_>, path: &Path<'_>, detail: &str) {
        if schema.ty == Type::Absent {
            self.required(schema, path, "type", detail);
        } else {
            self.invalid(schema, path, "type", schema.type_name(), detail);
        }
    }

    #[cold]
    fn required(&mut self, schema: &Schema<'_>, path: &Path<'_>, keyword: &'static str, detail: &str) {
        let at = self.at(schema, keyword);
        self.errors.push(Error::required(&path.child(keyword), detail, at));
    }

    #[cold]
    fn forbidden(&mut self, schema: &Schema<'_>, path: &Path<'_>, keyword: &'static str, detail: &str) {
        let at = self.at(schema, keyword);
        self.errors.push(Error::forbidden(&path.child(keyword), detail, at));
    }

    #[cold]
    fn invalid(
        &mut self,
        schema: &Schema<'_>,
        path: &Path<'_>,
        keyword: &'static str,
        value: impl Into<BadValue>,
        detail: &str,
    ) {
        let at = self.at(schema, keyword);
        self.errors.push(Error::invalid(&path.child(keyword), value, detail, at));
    }

    /// Returns the location of a keyword, or that of its schema if the keyword is missing.
    fn at(&self, schema: &Schema<'_>, keyword: &str) -> u32 {
        place(self.document.node(schema.at), keyword)
    }
}

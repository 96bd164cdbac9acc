//! Validation of whole definitions: `ValidateCustomResourceDefinition`, `ValidateCustomResourceDefinitionUpdate` and
//! the functions that they call.

use super::model::{ByVersion, Definition, same_validation, schemas};
use super::options::{MAX_SELECTABLE_FIELDS, Options};
use super::schema::{has_extensions, validate_validation};
use super::{field_path, go_json};
use crate::metadata::{self, place};
use crate::names;
use crate::release::{AskedRelease, Change};
use kubeshape_schema::field::{BadValue, Error, Errors, Path};
use kubeshape_schema::{Flags, Schema, Type};
use kubeshape_structural::written::{Spec, Subresources, Version};
use kubeshape_structural::{Column, Names, convert};
use kubeshape_yaml::Node;
use kubeshape_yaml::go::escape::is_printable;
use std::collections::{HashMap, HashSet};

const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
/// The longest warning of a deprecated version, in bytes.
const DEPRECATION_WARNING_LENGTH: usize = 256;

/// Validates a new definition: `ValidateCustomResourceDefinition`.
pub fn validate(definition: &Definition<'_>, release: impl Into<AskedRelease>) -> Vec<Error> {
    validate_with(definition, &Options::create(release))
}

/// Like [`validate`], with options.
pub fn validate_with(definition: &Definition<'_>, options: &Options<'_>) -> Vec<Error> {
    let mut errors = Errors::default();
    let metadata = &definition.metadata;
    let required = format!("{}.{}", definition.spec.names.plural, definition.spec.group);
    let name = |name: &str, prefix: bool| {
        let masked = if prefix { names::mask_trailing_dash(name) } else { name.into() };
        let mut messages = names::dns1123_subdomain(&masked);
        if name != required {
            messages.push("must be spec.names.plural+\".\"+spec.group".to_owned());
        }
        messages
    };
    metadata::validate(metadata, false, &name, &Path::Root.child("metadata"), &options.release, &mut errors);
    Checker { options, errors: &mut errors }.definition(definition, None);
    errors.into_vec()
}

/// Validates a definition that replaces another one: `ValidateCustomResourceDefinitionUpdate`. Existing errors of the
/// old one may remain, as far as upstream permits it.
pub fn validate_update<'a>(new: &Definition<'a>, old: &Definition<'a>, release: impl Into<AskedRelease>) -> Vec<Error> {
    validate_update_with(new, old, &Options::update(new, old, release))
}

/// Like [`validate_update`], with options: `validateCustomResourceDefinitionUpdate`.
pub fn validate_update_with(new: &Definition<'_>, old: &Definition<'_>, options: &Options<'_>) -> Vec<Error> {
    let mut errors = Errors::default();
    let path = &Path::Root.child("metadata");
    metadata::validate_update(&new.metadata, &old.metadata, path, &options.release, &mut errors);
    let mut checker = Checker { options, errors: &mut errors };
    checker.definition(new, Some(old));
    checker.immutable(&new.spec, &old.spec);
    errors.into_vec()
}

/// Collects the errors of a definition.
pub(super) struct Checker<'c> {
    pub(super) options: &'c Options<'c>,
    pub(super) errors: &'c mut Errors,
}

impl Checker<'_> {
    fn definition(&mut self, definition: &Definition<'_>, old: Option<&Definition<'_>>) {
        self.spec(&definition.spec);
        self.status(definition);
        self.approval(definition, old);
        let preserved = old.is_some_and(|old| old.spec.preserve_unknown_fields == Some(true));
        if !preserved && definition.spec.preserve_unknown_fields == Some(true) {
            let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                          spec.versions[*].schema instead";
            let at = definition.spec.at("preserveUnknownFields");
            let spec = Path::Root.child("spec");
            self.errors.push(Error::invalid(&spec.child("preserveUnknownFields"), true, detail, at));
        }
    }

    /// Checks fields that never change, or that do not change once the definition is established.
    fn immutable(&mut self, new: &Spec<'_>, old: &Spec<'_>) {
        let path = Path::Root.child("spec");
        let names_path = path.child("names");
        let names_at = |name: &str| new.member("names").map_or(new.node.index(), |names| place(names, name));
        let detail = "field is immutable";
        let mut same = |path: &Path<'_>, new: &str, old: &str, at: u32| {
            if new != old {
                self.errors.push(Error::invalid(path, new, detail, at));
            }
        };
        if self.options.require_immutable_names {
            same(&path.child("scope"), new.scope, old.scope, new.at("scope"));
            same(&names_path.child("kind"), new.names.kind, old.names.kind, names_at("kind"));
        }
        same(&path.child("group"), new.group, old.group, new.at("group"));
        same(&names_path.child("plural"), new.names.plural, old.names.plural, names_at("plural"));
    }

    fn spec(&mut self, spec: &Spec<'_>) {
        let path = Path::Root.child("spec");
        let mut options = self.options.clone();
        self.group(spec, &path.child("group"));
        self.one_of(&path.child("scope"), spec.scope, &["Cluster", "Namespaced"], spec.at("scope"));
        let pruning = spec.preserve_unknown_fields != Some(true);
        options.require_structural |= pruning;
        self.presence_of_schemas(spec, pruning, &path);
        if options.allow_defaults && schemas(spec).any(|schema| schema.subtree.any(Flags::DEFAULT)) {
            options.require_structural = true;
            if spec.preserve_unknown_fields != Some(false) {
                let detail = "must be false in order to use defaults in the schema";
                let at = spec.at("preserveUnknownFields");
                self.errors.push(Error::invalid(&path.child("preserveUnknownFields"), true, detail, at));
            }
        }
        options.require_structural |= schemas(spec).any(has_extensions);
        let mut inner = Checker { options: &options, errors: self.errors };
        inner.versions(spec, &path);
        inner.at_the_top(spec, &path);
    }

    fn group(&mut self, spec: &Spec<'_>, path: &Path<'_>) {
        let at = spec.at("group");
        let messages = names::dns1123_subdomain(spec.group);
        if spec.group.is_empty() {
            self.errors.push(Error::required(path, "", at));
        } else if !messages.is_empty() {
            self.errors.push(Error::invalid(path, spec.group, messages.join(","), at));
        } else if !spec.group.contains('.') {
            self.errors.push(Error::invalid(path, spec.group, "should be a domain with at least one dot", at));
        }
    }

    /// `validateEnumStrings` with a required value.
    pub(super) fn one_of(&mut self, path: &Path<'_>, value: &str, accepted: &[&str], at: u32) {
        if value.is_empty() {
            self.errors.push(Error::required(path, "", at));
        } else if !accepted.contains(&value) {
            self.errors.push(Error::not_supported(path, value, accepted, at));
        }
    }

    fn presence_of_schemas(&mut self, spec: &Spec<'_>, pruning: bool, path: &Path<'_>) {
        if spec.validation.is_some_and(|validation| validation.schema.is_some()) {
            return;
        }
        let versions = path.child("versions");
        for (i, version) in spec.versions.iter().enumerate() {
            if version.schema.is_some_and(|validation| validation.schema.is_some()) {
                continue;
            }
            let detail = match (self.options.require_schema, pruning && version.served) {
                (true, _) if self.options.release.has(Change::ShortMessages) => "",
                (true, _) => "schemas are required",
                (false, true) => "because otherwise all fields are pruned",
                (false, false) => continue,
            };
            let version_path = versions.index(i);
            let schema = version_path.child("schema");
            self.errors.push(Error::required(&schema.child("openAPIV3Schema"), detail, version.at("schema")));
        }
    }

    /// Checks `spec.versions`, each version and all together.
    fn versions(&mut self, spec: &Spec<'_>, path: &Path<'_>) {
        let versions = path.child("versions");
        let by_version = ByVersion::new(spec);
        for (i, version) in spec.versions.iter().enumerate() {
            let path = versions.index(i);
            let messages = names::dns1035_label(version.name);
            if !messages.is_empty() {
                let error = Error::invalid(&path.child("name"), version.name, messages.join(","), version.at("name"));
                self.errors.push(error);
            }
            let status = by_version.subresources_of(version.name).is_some_and(|subresources| subresources.status);
            self.version(version, status, &path);
        }
        let all = spec.versions;
        let at = spec.at("versions");
        let exclusive = [
            ("validation", "schemas", spec.validation.is_some(), all.iter().any(|version| version.schema.is_some())),
            (
                "subresources",
                "subresources",
                spec.subresources.is_some(),
                all.iter().any(|version| version.subresources.is_some()),
            ),
            (
                "additionalPrinterColumns",
                "additionalPrinterColumns",
                has_items(spec.columns),
                all.iter().any(|version| has_items(version.columns)),
            ),
        ];
        for (field, what, top, per_version) in exclusive {
            if top && per_version {
                let detail = format!("top-level and per-version {what} are mutually exclusive");
                self.errors.push(Error::forbidden(&path.child(field), detail, spec.at(field)));
            }
        }
        let mut wrong = |detail: &str| self.errors.push(Error::invalid(&versions, go_json::versions(spec), detail, at));
        if let Some(first) = all.first() {
            let identical = [
                (
                    "schemas",
                    "validation",
                    all.iter().all(|v| v.schema.is_some() && same_validation(v.schema, first.schema)),
                ),
                (
                    "subresources",
                    "subresources",
                    all.iter().all(|v| v.subresources.is_some() && v.subresources == first.subresources),
                ),
                (
                    "additionalPrinterColumns",
                    "additionalPrinterColumns",
                    all.iter().all(|v| has_items(v.columns) && v.columns == first.columns),
                ),
            ];
            for (what, instead, same) in identical {
                if same {
                    wrong(&format!(
                        "per-version {what} may not all be set to identical values (top-level {instead} should be used instead)"
                    ));
                }
            }
        }
        let mut names = HashSet::with_capacity(all.len());
        if !all.iter().all(|version| names.insert(version.name)) {
            wrong("must contain unique version names");
        }
        if all.iter().filter(|version| version.storage).count() != 1 {
            wrong("must have exactly one version marked as storage version");
        }
        if !spec.version.is_empty() {
            let path = path.child("version");
            let at = spec.at("version");
            let messages = names::dns1035_label(spec.version);
            if !messages.is_empty() {
                self.errors.push(Error::invalid(&path, spec.version, messages.join(","), at));
            }
            if all.first().is_some_and(|first| first.name != spec.version) {
                let detail = "must match the first version in spec.versions";
                self.errors.push(Error::invalid(&path, spec.version, detail, at));
            }
        }
    }

    fn version(&mut self, version: &Version<'_>, status: bool, path: &Path<'_>) {
        for message in deprecation_warning(version.deprecated, version.deprecation_warning) {
            let warning = version.deprecation_warning.unwrap_or_default();
            let at = version.at("deprecationWarning");
            let value = go_json::pointed(warning, &self.options.release);
            self.errors.push(Error::invalid(&path.child("deprecationWarning"), value, message, at));
        }
        let document = version.node.document();
        let options = self.options.of_version(version.name);
        validate_validation(version.schema, status, &options, &path.child("schema"), document, self.errors);
        self.subresources(version.subresources, version.node, &path.child("subresources"));
        self.columns(version.columns, version.node, path);
        if let Some(fields) = version.selectable_fields.filter(|fields| !fields.is_empty()) {
            let schema = version.schema.and_then(|validation| validation.schema);
            if schema.is_none() {
                let detail = if self.options.release.has(Change::ShortMessages) {
                    "may only be set when `version.schema.openAPIV3Schema` is not included"
                } else {
                    "selectableFields may only be set when version.schema.openAPIV3Schema is not included"
                };
                let at = version.at("selectableFields");
                self.errors.push(Error::invalid(&path.child("selectableFields"), "", detail, at));
            } else {
                self.selectable_fields(fields, schema, version.name, version.node, path);
            }
        }
    }

    /// Checks the settings of v1beta1 for all versions, names and conversion.
    fn at_the_top(&mut self, spec: &Spec<'_>, path: &Path<'_>) {
        let names_path = path.child("names");
        let names_node = spec.member("names").unwrap_or(spec.node);
        let names = &spec.names;
        for (field, value) in [
            ("plural", names.plural),
            ("singular", names.singular),
            ("kind", names.kind),
            ("listKind", names.list_kind),
        ] {
            if value.is_empty() {
                let at = spec.member("names").map_or(spec.node.index(), |names| place(names, field));
                self.errors.push(Error::required(&names_path.child(field), "", at));
            }
        }
        self.names(names, names_node, &names_path);
        let status = spec.subresources.is_some_and(|subresources| subresources.status)
            || spec.versions.iter().any(|version| version.subresources.is_some_and(|subresources| subresources.status));
        let document = spec.node.document();
        let options = self.options.of_version(spec.version);
        validate_validation(spec.validation, status, &options, &path.child("validation"), document, self.errors);
        // In a manifest of v1, these are in its versions.
        let node = |field: &str| match spec.versions.first() {
            Some(first) if spec.member(field).is_none() => first.node,
            _ => spec.node,
        };
        self.subresources(spec.subresources, node("subresources"), &path.child("subresources"));
        self.columns(spec.columns, node("additionalPrinterColumns"), path);
        if let Some(fields) = spec.selectable_fields.filter(|fields| !fields.is_empty()) {
            let node = node("selectableFields");
            match spec.validation {
                None => {
                    let detail = if self.options.release.has(Change::ShortMessages) {
                        "may only be set when validations.schema is included"
                    } else {
                        "selectableFields may only be set when validations.schema is included"
                    };
                    let at = place(node, "selectableFields");
                    self.errors.push(Error::invalid(&path.child("selectableFields"), "", detail, at));
                }
                Some(validation) => self.selectable_fields(fields, validation.schema, "", node, path),
            }
        }
        let Some(conversion) = spec.conversion else { return };
        let conversion_path = path.child("conversion");
        if conversion.strategy != "None" && spec.preserve_unknown_fields != Some(false) {
            let detail = "must be None if spec.preserveUnknownFields is true";
            let at = spec.at("conversion");
            self.errors.push(Error::invalid(&conversion_path.child("strategy"), conversion.strategy, detail, at));
        }
        self.conversion(&conversion, spec, &conversion_path);
    }

    /// `ValidateCustomResourceDefinitionNames`
    fn names(&mut self, names: &Names<'_>, node: Node<'_>, path: &Path<'_>) {
        for (field, value) in [("plural", names.plural), ("singular", names.singular)] {
            self.label(&path.child(field), value, place(node, field));
        }
        for (field, value) in [("kind", names.kind), ("listKind", names.list_kind)] {
            let messages = names::dns1035_label(&value.to_lowercase());
            if !value.is_empty() && !messages.is_empty() {
                let detail = format!("may have mixed case, but should otherwise match: {}", messages.join(","));
                self.errors.push(Error::invalid(&path.child(field), value, detail, place(node, field)));
            }
        }
        self.labels(&path.child("shortNames"), names.short_names, place(node, "shortNames"));
        if !names.kind.is_empty() && names.kind == names.list_kind {
            let detail = "kind and listKind may not be the same";
            let at = place(node, "listKind");
            self.errors.push(Error::invalid(&path.child("listKind"), names.list_kind, detail, at));
        }
        self.labels(&path.child("categories"), names.categories, place(node, "categories"));
    }

    fn label(&mut self, path: &Path<'_>, value: &str, at: u32) {
        let messages = names::dns1035_label(value);
        if !value.is_empty() && !messages.is_empty() {
            self.errors.push(Error::invalid(path, value, messages.join(","), at));
        }
    }

    fn labels(&mut self, path: &Path<'_>, values: &[&str], at: u32) {
        for (i, value) in values.iter().enumerate() {
            let messages = names::dns1035_label(value);
            if !messages.is_empty() {
                self.errors.push(Error::invalid(&path.index(i), *value, messages.join(","), at));
            }
        }
    }

    /// `ValidateCustomResourceDefinitionSubresources`
    fn subresources(&mut self, subresources: Option<Subresources<'_>>, node: Node<'_>, path: &Path<'_>) {
        let Some(scale) = subresources.and_then(|subresources| subresources.scale) else { return };
        let node = node.get("subresources").unwrap_or(node);
        let node = node.get("scale").unwrap_or(node);
        for (field, value, prefix) in [
            ("specReplicasPath", scale.spec_replicas_path, ".spec"),
            ("statusReplicasPath", scale.status_replicas_path, ".status"),
        ] {
            let scale = path.child("scale");
            let path = scale.child(field);
            let at = place(node, field);
            if value.is_empty() {
                self.errors.push(Error::required(&path, "", at));
            } else if self.json_path(value, &path, at)
                && !value.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'))
            {
                let detail = format!("should be a json path under {prefix}");
                self.errors.push(Error::invalid(&path, value, detail, at));
            }
        }
        if let Some(value) = scale.label_selector_path.filter(|value| !value.is_empty()) {
            let scale = path.child("scale");
            let path = scale.child("labelSelectorPath");
            let at = place(node, "labelSelectorPath");
            if self.json_path(value, &path, at) && !value.starts_with(".spec.") && !value.starts_with(".status.") {
                let detail = "should be a json path under either .spec or .status";
                let value = go_json::pointed(value, &self.options.release);
                self.errors.push(Error::invalid(&path, value, detail, at));
            }
        }
    }

    /// Runs `validateSimpleJSONPath` on a path that is not empty. Returns whether it is valid.
    fn json_path(&mut self, value: &str, path: &Path<'_>, at: u32) -> bool {
        let right = value.starts_with('.');
        if !right {
            self.errors.push(Error::invalid(path, value, "must be a simple json path starting with .", at));
        }
        right
    }

    /// `ValidateCustomResourceColumnDefinition`
    fn columns(&mut self, columns: Option<&[Column<&str>]>, node: Node<'_>, path: &Path<'_>) {
        const FIELD: &str = "additionalPrinterColumns";
        let columns_path = path.child(FIELD);
        let node = node.get(FIELD).unwrap_or(node);
        let mut nodes = node.items();
        for (i, column) in columns.unwrap_or_default().iter().enumerate() {
            let path = columns_path.index(i);
            let node = nodes.next().unwrap_or(node);
            if column.name.is_empty() {
                self.errors.push(Error::required(&path.child("name"), "", place(node, "name")));
            }
            let at = place(node, "type");
            let types = || format!("must be one of {}", COLUMN_TYPES.join(","));
            if column.column_type.is_empty() {
                self.errors.push(Error::required(&path.child("type"), types(), at));
            } else if !COLUMN_TYPES.contains(&column.column_type) {
                self.errors.push(Error::invalid(&path.child("type"), column.column_type, types(), at));
            }
            if !column.format.is_empty() && !COLUMN_FORMATS.contains(&column.format) {
                let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
                self.errors.push(Error::invalid(&path.child("format"), column.format, detail, place(node, "format")));
            }
            let at = place(node, "jsonPath");
            let path = path.child("JSONPath");
            if column.json_path.is_empty() {
                self.errors.push(Error::required(&path, "", at));
            } else {
                self.json_path(column.json_path, &path, at);
            }
        }
    }

    /// Checks selectable fields against their schema: `ValidateCustomResourceSelectableFields`. If there is no schema,
    /// or it does not convert, only the form of the paths is checked; upstream crashes in this case.
    fn selectable_fields(
        &mut self,
        fields: &[&str],
        schema: Option<&Schema<'_>>,
        version: &str,
        node: Node<'_>,
        path: &Path<'_>,
    ) {
        const FIELD: &str = "selectableFields";
        let none = Schema::default();
        let converted = schema.map(convert);
        if let Some(Err(error)) = &converted {
            let path = path.child("schema.openAPIV3Schema");
            self.errors.push(Error::invalid(&path, "", error.to_string(), error.at));
        }
        let converts = matches!(converted, Some(Ok(())));
        let schema = schema.unwrap_or(&none);
        let fields_path = path.child(FIELD);
        let node = node.get(FIELD).unwrap_or(node);
        let mut nodes = node.items();
        let mut unique: HashSet<String> = HashSet::new();
        for (i, field) in fields.iter().enumerate() {
            let at = nodes.next().unwrap_or(node).index();
            let item = fields_path.index(i);
            let path = item.child("jsonPath");
            if field.is_empty() {
                self.errors.push(Error::required(&path, "", at));
                continue;
            }
            let found = match field_path::find(field, schema, false) {
                Ok(found) => found,
                Err(error) if !converts && error == field_path::NO_FIELD => continue,
                Err(error) => {
                    self.errors.push(Error::invalid(&path, *field, format!("is an invalid path: {error}"), at));
                    continue;
                }
            };
            if !converts {
                continue;
            }
            if found.root == "metadata" {
                self.errors.push(Error::invalid(&path, *field, "must not point to fields in metadata", at));
            }
            if !found.schema.is_some_and(|schema| matches!(schema.ty, Type::String | Type::Boolean | Type::Integer)) {
                let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                              with formats are allowed.";
                self.errors.push(Error::invalid(&path, *field, detail, at));
            }
            if !unique.insert(found.path) {
                self.errors.push(Error::duplicate(&path, *field, at));
            }
        }
        if unique.len() > MAX_SELECTABLE_FIELDS && !self.options.allow_too_many_selectable_fields.contains(&version) {
            self.errors.push(Error::too_many(&fields_path, unique.len(), MAX_SELECTABLE_FIELDS, node.index()));
        }
    }

    fn status(&mut self, Definition { status, status_node, spec, node, .. }: &Definition<'_>) {
        let path = Path::Root.child("status");
        let names_node = status_node.and_then(|node| node.get("acceptedNames")).or(*status_node).unwrap_or(*node);
        self.names(&status.accepted.unwrap_or_default(), names_node, &path.child("acceptedNames"));
        let versions: Vec<(&str, bool)> = spec.versions.iter().map(|version| (version.name, version.storage)).collect();
        let at = status_node.map_or(node.index(), |node| place(node, "storedVersions"));
        let path = path.child("storedVersions");
        stored_versions(status.stored_versions, &versions, &path, &self.options.release, at, self.errors);
    }
}

fn has_items<T>(list: Option<&[T]>) -> bool {
    list.is_some_and(|list| !list.is_empty())
}

/// Checks `status.storedVersions`: `ValidateCustomResourceDefinitionStoredVersions`. `versions` are the versions of the
/// definition, each with whether it is the storage version. `None` is null.
pub fn stored_versions(
    stored: Option<&[&str]>,
    versions: &[(&str, bool)],
    path: &Path<'_>,
    release: &AskedRelease,
    at: u32,
    errors: &mut Errors,
) {
    let Some(stored @ [_, ..]) = stored else {
        let value = stored.map_or_else(|| BadValue::Json("null".to_owned()), go_json::texts);
        errors.push(Error::invalid(path, value, "must have at least one stored version", at));
        return;
    };
    let is_stored: HashSet<&str> = stored.iter().copied().collect();
    let mut defined = HashSet::with_capacity(versions.len());
    for (name, storage) in versions {
        // If two versions have the same name, the second one is not found.
        let seen = !defined.insert(*name);
        if *storage && (seen || !is_stored.contains(name)) {
            let detail = format!("must have the storage version {name}");
            errors.push(Error::invalid(path, go_json::texts(stored), detail, at));
        }
    }
    // If a name is duplicate, only the last one is reported.
    let last: HashMap<&str, usize> = stored.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    for (i, name) in stored.iter().enumerate() {
        if !defined.contains(name) && last.get(name) == Some(&i) {
            let detail = if release.has(Change::ReasonsOfStoredVersions) {
                format!(
                    "missing from spec.versions; {name} was previously a storage version, and must remain in \
                     spec.versions until a storage migration ensures no data remains persisted in {name} and removes \
                     {name} from status.storedVersions"
                )
            } else {
                "must appear in spec.versions".to_owned()
            };
            errors.push(Error::invalid(&path.index(i), *name, detail, at));
        }
    }
}

/// Returns the errors of the deprecation warning of a version: `validateDeprecationWarning`.
pub fn deprecation_warning(deprecated: bool, warning: Option<&str>) -> Vec<String> {
    let Some(warning) = warning else { return Vec::new() };
    if !deprecated {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    let mut messages = Vec::new();
    if warning.len() > DEPRECATION_WARNING_LENGTH {
        messages.push(format!("must be <= {DEPRECATION_WARNING_LENGTH} characters long"));
    }
    if warning.is_empty() {
        messages.push("must not be an empty string".to_owned());
    }
    if let Some((i, _)) = warning.char_indices().find(|(_, c)| *c != ' ' && !is_printable(*c)) {
        messages
            .push(format!("must only contain printable UTF-8 characters; non-printable character found at index {i}"));
    }
    messages
}

//! Requests with custom resources: decoding, and the checks of the registry's strategy.

use super::edit::{metadata_of, set, with_metadata};
use super::equal::Printing;
use super::fit::{Steps, TooManyDefaults, fit};
use super::meta::{self, Malformed};
use super::pattern::Patterns;
use super::rules::walk::Bounds;
use super::{Purpose, Root, RuleOutcome, Rules, Validator, before, creation, lists, prune_defaults, without_defaults};
use crate::release::{AskedRelease, Change, Release};
use crate::words::{self, Lengths};
use crate::{metadata, names};
use kubeshape_schema::compact::Compactor;
use kubeshape_schema::field::{BadValue, Error, ErrorType, Errors, Path};
use kubeshape_schema::{Bump, Flags, Schema};
use kubeshape_structural::{Crd, Scale, Scope, Version};
use kubeshape_value::GoText;
use kubeshape_value::{Stop, Value};
use kubeshape_yaml::go::escape::GoQuoted;
use std::collections::BTreeSet;

/// A version of a custom resource, prepared for requests.
#[derive(Clone, Debug)]
pub struct Resource<'a> {
    /// `example.com/v1`
    pub api_version: &'a str,
    /// The kind of its objects.
    pub kind: &'a str,
    /// Whether the kind is namespaced.
    pub namespaced: bool,
    /// The schema.
    pub schema: Option<&'a Schema<'a>>,
    /// `spec.preserveUnknownFields`
    pub preserve_unknown_fields: bool,
    /// The scale subresource.
    pub scale: Option<Scale<&'a str>>,
    /// Whether there is a status subresource.
    pub status: bool,
    /// The schema, prepared.
    pub validator: Option<Validator<'a>>,
    /// The CEL rules of the schema, prepared.
    pub rules: Option<Rules<'a>>,
    /// The release of the server. Releases in [`AskedRelease::same`] have the same results for all objects so far. See
    /// [`for_one`](Resource::for_one).
    pub release: AskedRelease,
}

/// The errors that prevent the evaluation of rules, because expressions rely on the schema.
/// What a server says next to other errors if it did not evaluate the rules in CEL.
pub const RULES_NOT_CHECKED: &str = "some validation rules were not checked because the object was invalid; correct the \
                                     existing errors to complete validation";
const BLOCKING: [ErrorType; 5] =
    [ErrorType::NotSupported, ErrorType::Required, ErrorType::TooLong, ErrorType::TooMany, ErrorType::TypeInvalid];

/// An object as a server sees it after decoding.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    /// Pruned, with defaults.
    pub value: Value<'a>,
    /// The paths of the dropped fields: of the metadata, of the object, and of embedded metadata.
    pub unknown: Vec<String>,
}

/// The result of a request with a decoded object.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The object as it would be stored.
    pub stored: Value<'a>,
    /// The errors of the request.
    pub errors: Vec<Error>,
    /// The `Warning` headers of a request without errors.
    pub warnings: Vec<String>,
    /// The message with which the storage refuses an object without errors.
    pub refusal: Option<&'static str>,
}

/// The result of validating an update.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Why it refuses the object.
    pub errors: Vec<Error>,
    /// Warnings: errors of rules about unchanged values.
    pub warnings: Vec<String>,
}

/// The members of metadata that an update keeps, and whether it does so even if the request has another value.
const KEPT: [(&str, bool); 5] = [
    ("resourceVersion", false),
    ("uid", false),
    ("creationTimestamp", true),
    ("deletionTimestamp", true),
    ("deletionGracePeriodSeconds", false),
];

/// The parts that the versions of a definition share.
struct Shared<'a> {
    compactor: Compactor<'a>,
    patterns: Patterns<'a>,
    release: AskedRelease,
}

impl<'a> Shared<'a> {
    fn new(release: Release, arena: &'a Bump) -> Shared<'a> {
        Shared { compactor: Compactor::new(arena), patterns: Patterns::default(), release: release.into() }
    }
}

impl<'a> Resource<'a> {
    /// Prepares a version of a definition. The result is in the arena and borrows nothing from the definition.
    pub fn new(crd: &Crd<'_>, version: &Version<'_>, release: Release, arena: &'a Bump) -> Resource<'a> {
        let mut shared = Shared::new(release, arena);
        Resource::with(&mut shared, crd, version, arena)
    }

    /// Prepares all versions of a definition, in order, like [`Resource::new`]. They share the equal parts of their
    /// schemas.
    pub fn of_versions(crd: &Crd<'_>, release: Release, arena: &'a Bump) -> Vec<Resource<'a>> {
        let mut shared = Shared::new(release, arena);
        let versions = crd.versions.iter();
        versions.map(|version| Resource::with(&mut shared, crd, version, arena)).collect()
    }

    fn with(
        Shared { compactor, patterns, release }: &mut Shared<'a>,
        crd: &Crd<'_>,
        version: &Version<'_>,
        arena: &'a Bump,
    ) -> Resource<'a> {
        let (memory, release) = (Bump::new(), release.apart());
        let schema = version.schema.map(|schema| compactor.schema(prune_defaults(schema, &memory)));
        let written = version.schema.map(|schema| compactor.schema(schema));
        Resource {
            api_version: arena.alloc_str(&format!("{}/{}", crd.group, version.name)),
            kind: compactor.text(crd.names.kind),
            namespaced: crd.scope == Scope::Namespaced,
            schema,
            preserve_unknown_fields: crd.preserve_unknown_fields,
            scale: version.scale.map(|scale| scale.map(|path| compactor.text(path))),
            status: version.status,
            validator: schema
                .map(|schema| Validator::with_patterns(schema, Purpose::Objects(release.clone()), patterns, arena)),
            rules: written.and_then(|schema| Rules::new(schema, &release)),
            release,
        }
    }

    /// Returns the same resource with its own record of questions about the release: releases in [`AskedRelease::same`]
    /// of its [`release`](Self::release) have the same results for the objects that it sees. It shares what is prepared.
    ///
    /// # Example
    /// ```
    /// use kubeshape_schema::{Bump, Release};
    /// use kubeshape_validate::object::Resource;
    /// use kubeshape_value::ToValue;
    /// use kubeshape_yaml::{Limits, Stream, Tape};
    ///
    /// let source = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    ///     "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Tab", "plural": "tabs"},
    ///     "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
    ///         "properties": {"size": {"type": "integer", "format": "int32"}}}}}]}}"#;
    /// let mut tape = Tape::new();
    /// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
    /// let arena = Bump::new();
    /// let crd = kubeshape_structural::read::read(tape.document(source).root().unwrap(), &arena).value.unwrap();
    /// let resource = Resource::new(&crd, &crd.versions[0], Release::NEWEST, &arena);
    ///
    /// // Before 1.36, an integer was not checked against the range of its format.
    /// let same = |size: i64| {
    ///     let object = serde_json::json!({"apiVersion": "example.com/v1", "kind": "Tab",
    ///         "metadata": {"name": "a"}, "size": size});
    ///     let resource = resource.for_one();
    ///     resource.create(object.to_value(&arena), &arena);
    ///     resource.release.same(Release::OLDEST)
    /// };
    /// assert!(!same(3_000_000_000));
    /// assert!(same(3));
    /// # Ok::<(), kubeshape_yaml::Error>(())
    /// ```
    #[must_use]
    pub fn for_one(&self) -> Resource<'a> {
        let release = self.release.for_one();
        Resource {
            validator: self.validator.as_ref().map(|validator| validator.asking(&release)),
            rules: self.rules.as_ref().map(|rules| rules.asking(&release)),
            release,
            ..self.clone()
        }
    }

    /// Decodes the object of a request: metadata gets its canonical form, unknown fields and nulls are removed,
    /// defaults are added.
    ///
    /// # Errors
    /// Metadata, or the type of an embedded resource, does not decode: returns the server's message. Or the defaults
    /// exceed 8 MiB.
    pub fn decode(&self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        self.decode_with(object, !self.preserve_unknown_fields, arena)
    }

    /// Decodes the result of server-side apply, like [`decode`](Self::decode): nulls are kept, as far as no default
    /// replaces them.
    ///
    /// # Errors
    /// See [`decode`](Self::decode).
    pub fn decode_applied(&self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        self.decode_with(object, false, arena)
    }

    fn decode_with(&self, object: Value<'a>, nulls: bool, arena: &'a Bump) -> Result<Object<'a>, String> {
        let Value::Map(map) = object else { return Ok(Object { value: object, unknown: Vec::new() }) };
        let mut unknown = Vec::new();
        let metadata = match map.get("metadata") {
            None => None,
            Some(metadata) => {
                let decoded = meta::decode_metadata(metadata, arena)?;
                unknown.extend(decoded.unknown.iter().map(|field| format!("metadata.{field}")));
                Some(decoded.value)
            }
        };
        let schema = self.validator.as_ref().map(Validator::part);
        let steps = Steps { prune: !self.preserve_unknown_fields, nulls, defaults: true };
        if !self.schema.is_some_and(|schema| schema.subtree.any(Flags::EMBEDDED_RESOURCE)) {
            let fitted = fit(set(object, "metadata", metadata, arena), schema, Root::Decoded, steps, arena);
            let fitted = fitted.complete().map_err(|error| error.to_string())?;
            unknown.extend(fitted.unknown);
            return Ok(Object { value: fitted.value, unknown });
        }
        // Metadata of embedded resources is decoded before defaults are added.
        let pruned = fit(object, schema, Root::Resource, Steps { defaults: false, ..steps }, arena);
        unknown.extend(pruned.unknown);
        let (printing, value) = (Printing::Of(&self.release), pruned.value);
        let coerced =
            meta::coerce_with(printing, value, self.schema, Root::Value, Malformed::Refuse, &Path::Root, arena)
                .map_err(|error| error.to_string())?;
        unknown.extend(coerced.unknown);
        let mut value = coerced.value;
        for key in ["apiVersion", "kind"] {
            value = set(value, key, map.get(key), arena);
        }
        value = set(value, "metadata", metadata, arena);
        let steps = Steps { defaults: true, ..Steps::default() };
        let fitted = fit(value, schema, Root::Decoded, steps, arena).complete().map_err(|error| error.to_string())?;
        Ok(Object { value: fitted.value, unknown })
    }

    /// Adds the defaults of the schema, like [`default`](super::default).
    ///
    /// # Errors
    /// The defaults exceed 8 MiB.
    pub fn with_defaults(&self, object: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, TooManyDefaults> {
        let part = self.validator.as_ref().map(Validator::part);
        let steps = Steps { defaults: true, ..Steps::default() };
        Ok(fit(object, part, Root::Value, steps, arena).complete()?.value)
    }

    /// Returns a decoded object without the defaults of the schema that [`decode`](Self::decode) adds.
    pub fn without_defaults<'v>(&self, object: Value<'v>, arena: &'v Bump) -> Value<'v> {
        without_defaults(object, self.schema, arena)
    }

    /// Validates the creation of a decoded object. If it needs a namespace and has none, it is sent to `default`, like
    /// clients do. A name that the server would generate has a fixed suffix in errors, and is not stored.
    pub fn create(&self, object: Value<'a>, arena: &'a Bump) -> Judged<'a> {
        let refusal = creation::version_on_creation(object);
        let object = creation::without_version(creation::without_system_metadata(object, arena), arena);
        let stored = self.prepare_create(before::in_namespace(object, self.namespaced, arena), arena);
        Judged { stored, errors: self.validate(creation::as_validated(stored, arena)), warnings: Vec::new(), refusal }
    }

    /// Validates a decoded object that replaces another one. If neither has a resource version, because they come from
    /// manifests, the update is unconditional.
    pub fn update(&self, object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Judged<'a> {
        self.replace(object, old, arena, Resource::prepare_update, Resource::validate_update)
    }

    /// Validates a decoded object that is sent to the status subresource, like [`Resource::update`] for the main
    /// resource.
    pub fn update_status(&self, object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Judged<'a> {
        self.replace(object, old, arena, Resource::prepare_status_update, Resource::validate_status_update)
    }

    fn replace(
        &self,
        object: Value<'a>,
        old: Value<'a>,
        arena: &'a Bump,
        prepare: impl FnOnce(&Self, Value<'a>, Value<'a>, &'a Bump) -> Value<'a>,
        validate: impl FnOnce(&Self, Value<'a>, Value<'a>) -> Vec<Error>,
    ) -> Judged<'a> {
        let [object, old] = [object, old].map(|object| before::in_namespace(object, self.namespaced, arena));
        let lent = before::with_version(old, arena);
        let stored = prepare(self, object, lent, arena);
        let errors = validate(self, stored, lent);
        Judged {
            stored: before::without_lent_version(stored, object, old, arena),
            errors,
            warnings: Vec::new(),
            refusal: None,
        }
    }

    /// Prepares a decoded object for creation: `PrepareForCreate`. The status is left to its subresource.
    #[must_use]
    pub fn prepare_create(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let object = if self.status { set(object, "status", None, arena) } else { object };
        with_metadata(object, "generation", Some(Value::Int(1)), arena)
    }

    /// Prepares a decoded object that replaces another one: `BeforeUpdate` and `PrepareForUpdate`. Metadata that the
    /// server keeps comes from the old object; so does the resource version, if the new object has none. The status is
    /// kept if it has a subresource. Changes outside of the metadata increase the generation.
    #[must_use]
    pub fn prepare_update(&self, object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let object = keep_metadata(object, old, arena);
        let object = if self.status { set(object, "status", old.get("status"), arena) } else { object };
        let without_metadata = |object: Value<'a>| set(object, "metadata", None, arena);
        let is_changed = !super::equal::equal(without_metadata(object), without_metadata(old));
        count_generation(object, old, is_changed, arena)
    }

    /// Prepares a decoded object for the status subresource: returns the old object with the new status and the new
    /// managed fields.
    #[must_use]
    pub fn prepare_status_update(&self, object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Value<'a> {
        with_status(object, old, arena)
    }

    /// Returns the errors of a new object: `customResourceStrategy.Validate`.
    pub fn validate(&self, object: Value<'a>) -> Vec<Error> {
        self.validate_until(object, Stop::NEVER)
    }

    /// Returns the warnings about an object that is new or replaces another one: `generateWarningsFromObj`.
    pub fn warnings(&self, object: Value<'_>, old: Option<Value<'_>>) -> Vec<String> {
        if metadata_of(object).get("finalizers").is_none() || !self.release.has(Change::WarningsOfFinalizers) {
            return Vec::new();
        }
        let arena = Bump::new();
        let finalizers = |object| meta::object_meta(metadata_of(object), &arena).finalizers;
        metadata::warnings_of_finalizers(finalizers(object), old.map_or(&[], finalizers), &self.release)
    }

    /// Like [`validate`](Self::validate), until the flag is set. The errors are then incomplete.
    pub fn validate_until(&self, object: Value<'a>, stop: Stop<'_>) -> Vec<Error> {
        let mut errors = self.type_errors(object);
        if errors.is_empty() {
            errors.extend(metadata_errors_with(object, self.namespaced, &subdomain, &self.release));
            if let Some(validator) = &self.validator {
                self.of_schema(validator.check_until(object, &Path::Root, stop), &mut errors);
            }
            self.scale_spec(object, &mut errors);
            self.scale_status(object, &mut errors);
        }
        errors.extend(meta::embedded(object, self.schema, Root::Value, &Path::Root, &self.release));
        errors.extend(self.list_types(object));
        self.rules(&mut errors, |rules| rules.check_until(object, &Path::Root, Rules::BUDGET, stop));
        errors.into_vec()
    }

    fn list_types(&self, object: Value<'_>) -> Vec<Error> {
        lists::list_types_with(object, self.schema, &Path::Root, Printing::Of(&self.release))
    }

    /// Adds the errors of the schema, in the wording of the release.
    fn of_schema(&self, found: Vec<Error>, errors: &mut Errors) {
        let before = errors.len();
        errors.extend(found);
        words::lengths(errors, before, Lengths::Values, &self.release);
    }

    /// Returns the errors of an object that replaces another one: `customResourceStrategy.ValidateUpdate`. From
    /// [`Change::Ratcheting`] on, errors of unchanged values are left out.
    pub fn validate_update(&self, object: Value<'a>, old: Value<'a>) -> Vec<Error> {
        self.validate_update_until(object, old, Stop::NEVER).errors
    }

    /// Like [`validate_update`](Self::validate_update), until the flag is set, with the warnings about unchanged
    /// values. The errors of a stopped check are incomplete.
    pub fn validate_update_until(&self, object: Value<'a>, old: Value<'a>, stop: Stop<'_>) -> Checked {
        let mut errors = self.type_errors(object);
        if errors.is_empty() {
            metadata_update(object, old, &self.release, &mut errors);
            if let Some(validator) = &self.validator {
                let found = if self.release.has(Change::Ratcheting) {
                    validator.check_update_until(object, old, &Path::Root, stop)
                } else {
                    validator.check_until(object, &Path::Root, stop)
                };
                self.of_schema(found, &mut errors);
            }
            self.scale_spec(object, &mut errors);
            self.scale_status(object, &mut errors);
        }
        errors.extend(meta::embedded(object, self.schema, Root::Value, &Path::Root, &self.release));
        self.changed(object, old, Change::Ratcheting, stop, errors)
    }

    /// Returns the errors of an object sent to the status subresource: `statusStrategy.ValidateUpdate`. Of the schema,
    /// only the part about the status is checked; the rules are those of the whole object.
    pub fn validate_status_update(&self, object: Value<'a>, old: Value<'a>) -> Vec<Error> {
        self.validate_status_update_until(object, old, Stop::NEVER).errors
    }

    /// Like [`validate_status_update`](Self::validate_status_update), until the flag is set, with the warnings about
    /// unchanged values. The errors of a stopped check are incomplete.
    pub fn validate_status_update_until(&self, object: Value<'a>, old: Value<'a>, stop: Stop<'_>) -> Checked {
        let mut errors = self.type_errors(object);
        if errors.is_empty() {
            metadata_update(object, old, &self.release, &mut errors);
            if let (Some(validator), Some(status)) = (&self.validator, object.get("status")) {
                let old = old.get("status").filter(|_| self.release.has(Change::RatchetingOfStatus));
                let path = if self.release.has(Change::PathsOfStatus) { Path::Base("status") } else { Path::Root };
                self.of_schema(validator.check_field_update("status", status, old, &path, stop), &mut errors);
            }
            self.scale_status(object, &mut errors);
        }
        self.changed(object, old, Change::RatchetingOfStatus, stop, errors)
    }

    /// Adds the errors of list types and of rules, unless the old object had them.
    fn changed(
        &self,
        object: Value<'a>,
        old: Value<'a>,
        ratcheting: Change,
        stop: Stop<'_>,
        mut errors: Errors,
    ) -> Checked {
        let lists = self.list_types(object);
        if !lists.is_empty() && self.list_types(old).is_empty() {
            errors.extend(lists);
        }
        let bounds = Bounds { budget: Rules::BUDGET, stop };
        let ratchets = self.release.has(ratcheting);
        let ratcheted = self
            .rules(&mut errors, |rules| rules.check_update_until(object, old, ratchets, &Path::Root, bounds))
            .iter()
            .map(Error::to_string)
            .collect();
        Checked { errors: errors.into_vec(), warnings: ratcheted }
    }

    /// Adds the errors of rules, unless previous errors prevent their evaluation. Returns those about unchanged values,
    /// which are warnings.
    fn rules(&self, errors: &mut Errors, check: impl FnOnce(&Rules<'_>) -> RuleOutcome) -> Vec<Error> {
        let Some(rules) = &self.rules else { return Vec::new() };
        if errors.iter().any(|error| self.blocks(error)) {
            let value = Printing::Of(&self.release).bad_value(Value::Null);
            errors.push(Error::invalid(&Path::Root, value, RULES_NOT_CHECKED, 0));
            return Vec::new();
        }
        let outcome = check(rules);
        errors.extend(outcome.errors);
        outcome.ratcheted
    }

    /// Returns whether an error prevents the evaluation of rules: `hasBlockingErr`.
    fn blocks(&self, error: &Error) -> bool {
        BLOCKING.contains(&error.error_type)
            && (error.error_type != ErrorType::NotSupported || self.release.has(Change::EnumsBlockRules))
    }

    /// Returns the message with which a server refuses an object: `errors.NewInvalid`. Errors with the same text are
    /// listed once.
    pub fn refusal(&self, name: &str, errors: &[Error]) -> String {
        let group = self.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        refusal(group, self.kind, name, errors)
    }

    fn type_errors(&self, object: Value<'_>) -> Errors {
        let mut errors = Errors::default();
        for (key, expected) in [("kind", self.kind), ("apiVersion", self.api_version)] {
            // Go reads an API version without group and version as an empty one.
            let found = object.get(key).and_then(Value::as_str).filter(|found| *found != "/").unwrap_or_default();
            if found != expected {
                errors.push(Error::invalid(&Path::Base(key), found, format!("must be {expected}"), 0));
            }
        }
        errors
    }

    fn scale_spec(&self, object: Value<'_>, errors: &mut Errors) {
        if let Some(scale) = &self.scale {
            replicas(object, scale.spec_replicas_path, errors);
        }
    }

    fn scale_status(&self, object: Value<'_>, errors: &mut Errors) {
        let Some(scale) = &self.scale else { return };
        replicas(object, scale.status_replicas_path, errors);
        if let Some(path) = scale.label_selector_path {
            let detail = match nested(object, path) {
                Ok(None | Some(Value::String(_))) => return,
                Ok(Some(other)) => accessor_error(path, other, "string"),
                Err(text) => text,
            };
            errors.push(Error::invalid(&Path::Base(path), BadValue::Text(String::new()), detail, 0));
        }
    }
}

/// Keeps metadata of the old object that a server does not let an update change; also the resource version and the uid,
/// if the new object has none: `BeforeUpdate` of `k8s.io/apiserver`.
#[must_use]
pub fn keep_metadata<'a>(object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let mut object = object;
    for (key, always) in KEPT {
        let stored = metadata_of(old).get(key);
        if stored.is_some() && (always || metadata_of(object).get(key).is_none()) {
            object = with_metadata(object, key, stored, arena);
        }
    }
    object
}

/// Sets the generation of the replaced object, or the next one.
#[must_use]
pub fn count_generation<'a>(object: Value<'a>, old: Value<'a>, is_changed: bool, arena: &'a Bump) -> Value<'a> {
    let mut generation = metadata_of(old).get("generation");
    if is_changed {
        let count = generation.map_or(0, |generation| if let Value::Int(n) = generation { n } else { 0 });
        generation = Some(Value::Int(count.saturating_add(1)));
    }
    with_metadata(object, "generation", generation, arena)
}

/// Returns the old object with the status and the managed fields of a new one, as the status subresource does.
#[must_use]
pub fn with_status<'a>(object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let updated = set(old, "status", object.get("status"), arena);
    with_metadata(updated, "managedFields", metadata_of(object).get("managedFields"), arena)
}

/// Returns the errors of the metadata of a new object of any kind: `ValidateObjectMeta` of `k8s.io/apimachinery`.
/// `name` returns the errors of a name, or of the prefix of one.
pub(crate) fn metadata_errors_with(
    object: Value<'_>,
    namespaced: bool,
    name: &dyn Fn(&str, bool) -> names::Messages,
    release: &AskedRelease,
) -> Vec<Error> {
    let (arena, mut errors) = (Bump::new(), Errors::default());
    let meta = meta::object_meta(metadata_of(object), &arena);
    metadata::validate(&meta, namespaced, name, &Path::Base("metadata"), release, &mut errors);
    errors.into_vec()
}

/// Returns the errors of the metadata of an object of any kind that replaces another one: `ValidateObjectMetaUpdate`.
pub fn metadata_update_errors(object: Value<'_>, old: Value<'_>, release: impl Into<AskedRelease>) -> Vec<Error> {
    let mut errors = Errors::default();
    metadata_update(object, old, &release.into(), &mut errors);
    errors.into_vec()
}

/// Returns the errors of every update that precede those of the resource: `validateCommonFields` of `k8s.io/apiserver`.
pub fn common_update_errors(
    object: Value<'_>,
    old: Value<'_>,
    namespaced: bool,
    release: impl Into<AskedRelease>,
) -> Vec<Error> {
    let release = release.into();
    let mut errors = Errors::default();
    errors.extend(metadata_errors_with(object, namespaced, &names::path_segment, &release));
    metadata_update(object, old, &release, &mut errors);
    errors.into_vec()
}

/// Returns whether two values are equal for Go's `reflect.DeepEqual`: an integer never equals a float.
pub fn deep_equal(a: Value<'_>, b: Value<'_>) -> bool {
    super::equal::equal(a, b)
}

fn metadata_update(object: Value<'_>, old: Value<'_>, release: &AskedRelease, errors: &mut Errors) {
    let arena = Bump::new();
    let meta = |object| meta::object_meta(metadata_of(object), &arena);
    metadata::validate_update(&meta(object), &meta(old), &Path::Base("metadata"), release, errors);
}

/// Checks a number of replicas.
fn replicas(object: Value<'_>, path: &str, errors: &mut Errors) {
    let detail = match nested(object, path) {
        Ok(Some(Value::Int(n))) if n < 0 => (n, "should be a non-negative integer".to_owned()),
        Ok(Some(Value::Int(n))) if n > i64::from(i32::MAX) => {
            (n, format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(None | Some(Value::Int(_))) => return,
        Ok(Some(other)) => (0, accessor_error(path, other, "int64")),
        Err(text) => (0, text),
    };
    errors.push(Error::invalid(&Path::Base(path), detail.0, detail.1, 0));
}

fn subdomain(name: &str, prefix: bool) -> names::Messages {
    if prefix { names::dns1123_subdomain(&names::mask_trailing_dash(name)) } else { names::dns1123_subdomain(name) }
}

/// Returns the value at a path, which is split at its dots.
fn nested<'a>(object: Value<'a>, path: &str) -> Result<Option<Value<'a>>, String> {
    let fields: Vec<&str> = path.strip_prefix('.').unwrap_or(path).split('.').collect();
    let mut value = object;
    for (at, field) in fields.iter().enumerate() {
        match value {
            Value::Map(map) => match map.get(field) {
                Some(below) => value = below,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => {
                let path = format!(".{}", fields[..=at].join("."));
                return Err(accessor_error(&path, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(value))
}

/// Returns the message of `unstructured.NestedFieldNoCopy` and its relatives.
fn accessor_error(path: &str, found: Value<'_>, expected: &str) -> String {
    let ty = found.go_type();
    let path = if path.starts_with('.') { path.to_owned() } else { format!(".{path}") };
    format!("{path} accessor error: {} is of the type {ty}, expected {expected}", GoText(found))
}

/// Returns the message with which a server refuses an object of a kind: `errors.NewInvalid`. Errors with the same text
/// are listed once.
pub fn refusal(group: &str, kind: &str, name: &str, errors: &[Error]) -> String {
    let mut texts: Vec<String> = Vec::with_capacity(errors.len());
    let mut seen = BTreeSet::new();
    for text in errors.iter().map(Error::to_string) {
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    let dot = if group.is_empty() { "" } else { "." };
    let errors = if let [text] = &texts[..] { text.clone() } else { format!("[{}]", texts.join(", ")) };
    format!("{kind}{dot}{group} {} is invalid: {errors}", GoQuoted(name))
}

//! Requests with objects of built-in kinds, as the registry of a server handles them.

use super::assigned::Assigned;
use super::declared;
use super::internal;
use super::overlay::{Found, Overlay, Phase, Request, Scope};
use super::reset::with_kept_metadata;
use super::{BuiltInKind, Release};
use crate::object::{
    Checked, Judged, Object, common_update_errors, count_generation, created_as, decode_metadata, in_namespace,
    keep_metadata, version_on_creation,
};
use crate::release::{AskedRelease, Change};
use crate::typed::{Decoded, Differences, Typed, Which};
use kubeshape_schema::field::Error;
use kubeshape_value::{Bump, Map, Value};
use kubeshape_yaml::Node;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A built-in kind in one version: its types, its defaults, and the preparation of its objects for storage.
///
/// # Example
/// ```
/// use kubeshape_schema::Bump;
/// use kubeshape_validate::{Release, builtin::{Assigned, Strategy}, typed::Typed};
/// use kubeshape_value::ToValue;
/// use kubeshape_yaml::{Limits, Stream, Tape};
///
/// let source = r##"{"definitions": {
///     "io.k8s.api.core.v1.ConfigMap": {"type": "object", "properties": {
///         "metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
///         "data": {"type": "object", "additionalProperties": {"type": "string"}}}},
///     "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}}}}"##;
/// let mut tape = Tape::new();
/// Stream::new(source.as_bytes(), Limits::default())?.next(&mut tape).transpose()?;
/// let types = Typed::of_document(tape.document(source).root().unwrap(), "io.k8s.api.core.v1.ConfigMap").unwrap();
/// let kind = Strategy::new(types, "", "v1", "ConfigMap", true, Release::DEFAULT);
///
/// let arena = Bump::new();
/// let object = serde_json::json!({"metadata": {"name": "a"}, "data": {"key": null}, "colour": "red"});
/// let decoded = kind.decode(object.to_value(&arena), &arena).unwrap();
/// assert_eq!(decoded.unknown, ["colour"]);
/// let stored = kind.create(decoded.value, Assigned::default(), &arena).stored;
/// assert_eq!(stored.to_serde(), serde_json::json!({
///     "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"key": ""}}));
/// # Ok::<(), kubeshape_yaml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Strategy {
    types: Arc<Typed>,
    metadata: BuiltInKind,
    overlay: Arc<Overlay>,
    api_version: Arc<str>,
    kind: Arc<str>,
    namespaced: bool,
    release: AskedRelease,
    /// The release without a record of questions.
    plain: Release,
    expressions: Option<Expressions>,
}

/// Returns the errors of expressions in an object, which may replace another one, in a release.
pub type Expressions = fn(Value<'_>, Option<Value<'_>>, Release) -> Vec<Error>;

/// The beginning of the API versions whose objects have expressions.
const ADMISSION: &str = "admissionregistration.k8s.io/";

/// How a decoded object is printed.
type Print<'a> = fn(&Typed, Value<'a>, &'a Bump) -> Value<'a>;

impl Strategy {
    /// Creates the kind from the types in a document.
    pub fn new(types: Typed, group: &str, version: &str, kind: &str, namespaced: bool, release: Release) -> Strategy {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let metadata = BuiltInKind::new(group, kind, release).unwrap_or_else(|| BuiltInKind::other(release));
        let overlay = Arc::new(Overlay::new(&types, release));
        let asked = AskedRelease::from(release);
        Strategy {
            types: Arc::new(types),
            metadata: metadata.asking(&asked),
            overlay,
            api_version: api_version.into(),
            kind: kind.into(),
            namespaced,
            release: asked,
            plain: release,
            expressions: None,
        }
    }

    /// Returns the same kind with its own record of questions about the [release](Self::release). It shares what is
    /// prepared.
    #[must_use]
    pub fn for_one(&self) -> Strategy {
        let release = self.release.for_one();
        Strategy { metadata: self.metadata.asking(&release), release, ..self.clone() }
    }

    /// Returns the release, which records the questions about it. For releases in [`AskedRelease::same`], the objects
    /// so far have the same results if [`differing`](Self::differing) does not name the release.
    pub fn release(&self) -> &AskedRelease {
        &self.release
    }

    /// Returns where the types and defaults of the kind differ in other releases, of which there are at most 64. `None`
    /// is a release that does not have the kind.
    pub fn differences<'s>(&self, others: impl IntoIterator<Item = Option<&'s Strategy>>) -> Differences {
        let mut out = Differences::of(&self.types);
        for (number, other) in others.into_iter().enumerate() {
            let bit = 1u64.checked_shl(u32::try_from(number).unwrap_or(u32::MAX)).unwrap_or(0);
            let head = |of: &Strategy| (of.namespaced, Arc::clone(&of.api_version), Arc::clone(&of.kind));
            let Some(other) = other.filter(|other| head(other) == head(self)) else {
                out.add_always(bit);
                continue;
            };
            self.types.compare(&other.types, &mut |at, which| out.add(at, which, bit));
            let (a, b) = (self.plain.minor().min(other.plain.minor()), self.plain.minor().max(other.plain.minor()));
            for (at, field, since) in self.overlay.changes() {
                if (a + 1..=b).contains(&since) {
                    out.add(at, field.map_or(Which::All, Which::With), bit);
                }
            }
        }
        out.complete(&self.types)
    }

    /// Returns the releases whose types or defaults differ where an object has values, as bits in the order of
    /// [`differences`](Self::differences).
    pub fn differing(&self, differences: &Differences, object: Value<'_>) -> u64 {
        differences.releases(&self.types, object)
    }

    /// Adds a check of expressions in policies and webhooks. It is passed in because its crate depends on this one.
    #[must_use]
    pub fn with_expressions(self, expressions: Expressions) -> Strategy {
        Strategy { expressions: Some(expressions), ..self }
    }

    /// Returns the Go types.
    pub fn types(&self) -> &Typed {
        &self.types
    }

    /// Returns whether the kind is namespaced.
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Returns the rules about metadata.
    pub fn metadata(&self) -> &BuiltInKind {
        &self.metadata
    }

    /// Decodes an object and adds defaults: unknown fields are dropped, values get their canonical form.
    ///
    /// # Errors
    /// Returns the message about the first value that does not fit its type. Or the defaults exceed 8 MiB.
    pub fn decode<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        self.decoded(object, self.types.decode(object), Typed::in_memory, arena)
    }

    /// Like [`decode`](Strategy::decode), for the object of a request in JSON. The source has the spelling of its
    /// numbers.
    ///
    /// # Errors
    /// See [`decode`](Self::decode).
    pub fn decode_json<'a>(&self, object: Value<'a>, source: Node<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        let decoded = self.types.decode_json(object, source);
        self.decoded(self.types.with_written_quantities(object, source, arena), decoded, Typed::in_memory, arena)
    }

    /// Like [`decode`](Self::decode), for an object that was not stored: empty lists that Go prints are not null.
    /// Admission plugins see this form.
    ///
    /// # Errors
    /// See [`decode`](Self::decode).
    pub fn decode_request<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        self.decoded(object, self.types.decode(object), Typed::decoded, arena)
    }

    /// Decodes an object into Go types and encodes it again, without defaults: unknown fields, nulls and omitted zero
    /// values are gone, and quantities are canonical.
    ///
    /// # Errors
    /// Returns the message about the first value that does not fit its type.
    pub fn round_trip<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Result<Object<'a>, String> {
        self.decoded_types(object, self.types.decode(object), Typed::stored, arena)
    }

    fn decoded<'a>(
        &self,
        object: Value<'a>,
        decoded: Decoded,
        print: Print<'a>,
        arena: &'a Bump,
    ) -> Result<Object<'a>, String> {
        let Object { value, unknown } = self.decoded_types(object, decoded, print, arena)?;
        let defaulted = self.overlay.with_defaults(&self.types, value, arena);
        Ok(Object { value: defaulted.map_err(|error| error.to_string())?, unknown })
    }

    fn decoded_types<'a>(
        &self,
        object: Value<'a>,
        decoded: Decoded,
        print: Print<'a>,
        arena: &'a Bump,
    ) -> Result<Object<'a>, String> {
        if let Some(error) = decoded.errors.into_iter().next() {
            return Err(error.message);
        }
        let value = print(&self.types, object, arena);
        let Value::Map(map) = value else { return Ok(Object { value, unknown: decoded.unknown }) };
        let metadata = decode_metadata(object.get("metadata").unwrap_or(Value::Null), arena)?;
        let mut map = map.with("metadata", Some(metadata.value), arena);
        for (key, text) in [("apiVersion", &*self.api_version), ("kind", &*self.kind)] {
            if map.get(key).is_none() {
                map = map.with(key, Some(Value::String(arena.alloc_str(text))), arena);
            }
        }
        Ok(Object { value: Value::Map(map), unknown: decoded.unknown })
    }

    /// Prepares a decoded object for creation, and validates it.
    pub fn create<'a>(&self, object: Value<'a>, assigned: Assigned<'a>, arena: &'a Bump) -> Judged<'a> {
        let early = self.early_warnings(object);
        let refusal = version_on_creation(object);
        let (_, named) = created_as(object, self.namespaced, self.metadata.counts_generations(), arena);
        let prepared = self.prepare_create(named, assigned, arena);
        let Checked { errors, warnings } = self.validate(prepared);
        let warnings = [early, warnings].concat();
        Judged { stored: self.stored(prepared, None, assigned, arena), errors, warnings, refusal }
    }

    /// Prepares a decoded object that replaces another one, and validates it. The old object must be decoded, too.
    pub fn update<'a>(&self, object: Value<'a>, old: Value<'a>, assigned: Assigned<'a>, arena: &'a Bump) -> Judged<'a> {
        let old = in_namespace(old, self.namespaced, arena);
        let kept = self.kept(object, old, arena);
        let prepared = self.prepare_update(kept, old, assigned, arena);
        let common = common_update_errors(prepared, old, self.namespaced, &self.release);
        let Checked { errors, warnings } = self.checked(Phase::Update, prepared, Some(old), common);
        let warnings = [self.early_warnings(object), warnings].concat();
        Judged { stored: self.stored(prepared, Some(old), assigned, arena), errors, warnings, refusal: None }
    }

    /// Prepares a decoded object sent to the status subresource, and validates it.
    pub fn update_status<'a>(
        &self,
        object: Value<'a>,
        old: Value<'a>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Judged<'a> {
        let old = in_namespace(old, self.namespaced, arena);
        let kept = self.kept(object, old, arena);
        let stored = self.prepare_status_update(kept, old, assigned, arena);
        let common = common_update_errors(stored, old, self.namespaced, &self.release);
        let Checked { errors, warnings } = self.checked(Phase::Status, stored, Some(old), common);
        let warnings = [self.early_warnings(object), warnings].concat();
        Judged { stored, errors, warnings, refusal: None }
    }

    /// Returns warnings about a request that do not depend on validation.
    fn early_warnings(&self, object: Value<'_>) -> Vec<String> {
        // `endpoints.DeprecatedWarning` of `k8s.io/apiserver`, for the only stable version that is deprecated.
        let is_endpoints = &*self.api_version == "v1" && &*self.kind == "Endpoints";
        let deprecated = (is_endpoints && self.release.has(Change::DeprecatedEndpoints))
            .then(|| "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned());
        deprecated.into_iter().chain(repeated_owners(object, "")).collect()
    }

    /// Prepares a decoded object for creation, without the steps that all kinds share: `PrepareForCreate` of the
    /// strategy.
    pub fn prepare_create<'a>(&self, object: Value<'a>, assigned: Assigned<'a>, arena: &'a Bump) -> Value<'a> {
        let counted = self.metadata.counts_generations();
        let object = if counted { with_metadata(object, "generation", Some(Value::Int(1)), arena) } else { object };
        let object = with_metadata(object, "selfLink", None, arena);
        let object = self.overlay.without_disabled(&self.types, object, None, arena);
        let request = Request { assigned, old: None, arena };
        let prepared = match self.overlay.run(&self.types, Phase::Create, object, request) {
            Some(object) => object,
            None => with_member(object, "status", None, arena),
        };
        self.printed(prepared, Typed::in_memory, arena)
    }

    /// Validates an object that was prepared for creation: `Validate`.
    pub fn validate(&self, object: Value<'_>) -> Checked {
        let metadata = self.metadata.errors(object, self.namespaced);
        if !self.metadata.is_checked_last() {
            return self.checked(Phase::Create, object, None, metadata);
        }
        let own = self.checked(Phase::Create, object, None, Vec::new());
        if own.errors.is_empty() && !metadata.is_empty() {
            return Checked { errors: metadata, warnings: Vec::new() };
        }
        own
    }

    /// Prepares a decoded object that replaces another one. Its metadata must already be set: `PrepareForUpdate`.
    pub fn prepare_update<'a>(
        &self,
        object: Value<'a>,
        old: Value<'a>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        let object = self.overlay.without_disabled(&self.types, object, Some(old), arena);
        let request = Request { assigned, old: Some(old), arena };
        let object = match self.overlay.run(&self.types, Phase::Update, object, request) {
            Some(object) => object,
            None => with_member(object, "status", old.get("status"), arena),
        };
        let object = self.printed(object, Typed::in_memory, arena);
        count_generation(object, old, self.is_changed(object, old), arena)
    }

    /// Validates an object that was prepared to replace another one: `ValidateUpdate`. The preceding checks of all
    /// updates are [`common_update_errors`](crate::object::common_update_errors).
    pub fn validate_update(&self, object: Value<'_>, old: Value<'_>) -> Checked {
        self.checked(Phase::Update, object, Some(old), Vec::new())
    }

    /// Prepares a decoded object sent to the status subresource. Its metadata must already be set.
    pub fn prepare_status_update<'a>(
        &self,
        object: Value<'a>,
        old: Value<'a>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        let object = with_member(object, "spec", old.get("spec"), arena);
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        let object = with_kept_metadata(object, old, (group, &self.kind), arena);
        let request = Request { assigned, old: Some(old), arena };
        let object = self.overlay.run(&self.types, Phase::Status, object, request).unwrap_or(object);
        count_generation(self.printed(object, Typed::stored, arena), old, false, arena)
    }

    /// Validates an object that was prepared to replace the status of another one. The preceding checks of all updates
    /// are [`common_update_errors`](crate::object::common_update_errors).
    pub fn validate_status_update(&self, object: Value<'_>, old: Value<'_>) -> Checked {
        self.checked(Phase::Status, object, Some(old), Vec::new())
    }

    /// Adds the errors of the kind's rules, and the warnings of an object without errors.
    fn checked(&self, phase: Phase, object: Value<'_>, old: Option<Value<'_>>, errors: Vec<Error>) -> Checked {
        let mut found = Found::default();
        found.errors.extend(errors);
        let scope =
            Scope { root: object, old, kind: &self.kind, metadata: &self.metadata, namespaced: self.namespaced };
        self.overlay.check(&self.types, phase, &scope, &mut found);
        if let Some(expressions) = self.expressions.filter(|_| phase != Phase::Status) {
            let of_expressions = expressions(object, old, self.plain);
            if self.api_version.starts_with(ADMISSION) {
                // The check does not say on which changes its result depends.
                self.release.narrow_to_this();
            }
            found.errors.extend(of_expressions);
        }
        let warnings = if found.errors.is_empty() { found.warnings.into_vec() } else { Vec::new() };
        let mut errors = found.errors.into_vec();
        internal::show(&self.api_version, &self.kind, &mut errors);
        declared::reword(&self.api_version, &self.kind, &self.release, &mut errors);
        Checked { errors, warnings }
    }

    /// Returns a prepared object as it is read after storage: allocated values are set, and defaults are added again.
    /// `old` is the replaced object.
    pub fn stored<'a>(
        &self,
        object: Value<'a>,
        old: Option<Value<'a>>,
        assigned: Assigned<'a>,
        arena: &'a Bump,
    ) -> Value<'a> {
        self.read_again(object, Request { assigned, old, arena })
    }

    /// Returns an object without the values that defaulting adds again. Defaults of its OpenAPI document are kept.
    pub fn without_defaults<'a>(&self, object: Value<'a>, arena: &'a Bump) -> Value<'a> {
        self.overlay.without_defaults(&self.types, object, arena)
    }

    /// Returns an object as it is read after storage: a server adds defaults again.
    fn read_again<'a>(&self, object: Value<'a>, request: Request<'a>) -> Value<'a> {
        let object = self.overlay.run(&self.types, Phase::Allocate, object, request).unwrap_or(object);
        let object = without_repeated_owners(object, request.arena);
        let object = self.printed(object, Typed::stored, request.arena);
        // A decoded object has its defaults, so that few are missing.
        let defaulted = self.overlay.with_defaults(&self.types, object, request.arena).unwrap_or(object);
        self.printed(defaulted, Typed::stored, request.arena)
    }

    /// Returns an object with the metadata of the old one that requests do not change.
    fn kept<'a>(&self, object: Value<'a>, old: Value<'a>, arena: &'a Bump) -> Value<'a> {
        let of_old = |key: &str| old.get("metadata").and_then(|metadata| metadata.get(key));
        let own = object.get("metadata").and_then(|metadata| metadata.get("namespace"));
        let namespace = if self.namespaced { own.or_else(|| of_old("namespace")) } else { None };
        let object = with_metadata(object, "namespace", namespace, arena);
        // The field manager replaces invalid ones.
        let object = with_metadata(object, "managedFields", of_old("managedFields"), arena);
        keep_metadata(with_metadata(object, "selfLink", of_old("selfLink"), arena), old, arena)
    }

    /// Returns whether an update increases the generation.
    fn is_changed(&self, new: Value<'_>, old: Value<'_>) -> bool {
        let row = &self.metadata.row;
        if !self.metadata.counts_changes() {
            return false;
        }
        let member = |object: Value<'_>, key: &str| match object.get("metadata").and_then(|value| value.get(key)) {
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let is_noted = row.counts_also.is_some_and(|key| member(new, key) != member(old, key));
        is_noted || !self.types.is_same(new, old, &["metadata", "status"])
    }

    /// Returns an object with the zero values that Go prints, after some of its fields changed.
    fn printed<'a>(&self, object: Value<'a>, print: Print<'a>, arena: &'a Bump) -> Value<'a> {
        match print(&self.types, object, arena) {
            Value::Map(map) => {
                let keep = |map: Map<'a>, key: &'static str| map.with(key, object.get(key), arena);
                Value::Map(["apiVersion", "kind", "metadata"].into_iter().fold(map, keep))
            }
            other => other,
        }
    }
}

pub(super) fn with_member<'a>(
    object: Value<'a>,
    key: &'static str,
    member: Option<Value<'a>>,
    arena: &'a Bump,
) -> Value<'a> {
    let map = object.as_map().unwrap_or(Map::EMPTY);
    Value::Map(map.with(key, member, arena))
}

pub(super) fn with_metadata<'a>(
    object: Value<'a>,
    key: &'static str,
    member: Option<Value<'a>>,
    arena: &'a Bump,
) -> Value<'a> {
    let metadata = object.get("metadata").and_then(Value::as_map).unwrap_or(Map::EMPTY);
    with_member(object, "metadata", Some(Value::Map(metadata.with(key, member, arena))), arena)
}

/// Returns the warning about duplicate owner references (`dedupOwnerReferencesAndAddWarning`). `when` is empty, or
/// ` after mutating admission happens`.
pub fn repeated_owners(object: Value<'_>, when: &str) -> Option<String> {
    let (_, repeated) = owners(object);
    let uids: Vec<&str> =
        repeated.iter().map(|one| one.get("uid").and_then(Value::as_str).unwrap_or_default()).collect();
    (!uids.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            uids.join(", ")
        )
    })
}

/// Returns an object without duplicate owner references (`dedupOwnerReferencesTransformer` of `k8s.io/apiserver`).
pub fn without_repeated_owners<'a>(object: Value<'a>, arena: &'a Bump) -> Value<'a> {
    let (kept, repeated) = owners(object);
    if repeated.is_empty() {
        return object;
    }
    with_metadata(object, "ownerReferences", Some(Value::List(arena.alloc_slice_copy(&kept))), arena)
}

/// Returns the distinct owner references, and the duplicates.
fn owners(object: Value<'_>) -> (Vec<Value<'_>>, Vec<Value<'_>>) {
    let references = object.get("metadata").and_then(|metadata| metadata.get("ownerReferences")?.as_list());
    let mut seen = BTreeSet::new();
    references.unwrap_or_default().iter().partition(|reference| {
        let mut text = Vec::new();
        reference.write_go_json(&mut text);
        seen.insert(text)
    })
}
